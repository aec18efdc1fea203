// AdmissionReview in and out: the one place where the envelope is read and written. Never denies a pod.
//
// | what arrives                                   | what leaves                                   |
// |------------------------------------------------|-----------------------------------------------|
// | a review of a pod                              | 200, allowed, patch where there is one         |
// | a review of anything else, or a hostile object | 200, allowed, no patch                         |
// | JSON without a uid, broken JSON                | 400: the API server applies failurePolicy      |
// | more than MAX_BODY_BYTES                       | 413: likewise                                  |
import type { Context } from "hono";
import { renderJsonBody } from "../lib/k8s/json_body.ts";
import type { JsonPatch } from "../lib/k8s/patch.ts";

/** Largest review read (bytes): the API server's own objects end at 3 MiB; old and new object fit. */
export const MAX_BODY_BYTES = 7 * 1024 * 1024;

/** The members of an AdmissionReview's request that Archway reads. `object` stays unparsed. */
export interface AdmissionRequest {
  readonly uid: string;
  readonly operation: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly dryRun: boolean;
  readonly object: unknown;
}

/** What reading a body gave. */
export type ReviewRead =
  | { readonly kind: "review"; readonly request: AdmissionRequest }
  | { readonly kind: "unreadable"; readonly status: 400 | 413; readonly reason: string };

/** What reading a JSON body gave. */
export type BodyRead =
  | { readonly kind: "json"; readonly body: unknown }
  | Unreadable;

type Unreadable = Extract<ReviewRead, { kind: "unreadable" }>;

const TOO_LARGE: Unreadable = { kind: "unreadable", status: 413, reason: "body too large" };
const CUT_OFF: Unreadable = { kind: "unreadable", status: 400, reason: "the client went away" };

/** Reads a review. */
export async function readReview(context: Context): Promise<ReviewRead> {
  const read = await readJson(context);
  return read.kind === "json" ? parseReview(read.body) : read;
}

/** Reads a JSON body. It is always consumed or cancelled, else the connection would be lost. */
export async function readJson(context: Context): Promise<BodyRead> {
  const text = await readText(context).catch(() => CUT_OFF);
  if (typeof text !== "string") return text;
  try {
    return { kind: "json", body: JSON.parse(text) };
  } catch {
    return { kind: "unreadable", status: 400, reason: "not JSON" };
  }
}

/** Takes a body off the connection without keeping it, so that the connection can go on. Never fails. */
export async function discardBody(context: Context): Promise<void> {
  try {
    for await (const _chunk of context.req.raw.body ?? []);
  } catch {
    // The client went away: there is nobody to answer.
  }
}

/** The size of the body as its head declares it, else the largest there may be. */
export function bodyBytes(context: Context): number {
  const declared = context.req.header("content-length");
  return declared === undefined ? MAX_BODY_BYTES : Number(declared);
}

/** The envelope from parsed JSON; without a uid there is nobody to answer. */
export function parseReview(review: unknown): ReviewRead {
  const request = memberOf(review, "request");
  const uid = memberOf(request, "uid");
  if (typeof uid !== "string" || uid === "") return { kind: "unreadable", status: 400, reason: "no request uid" };
  const resource = memberOf(request, "resource");
  return {
    kind: "review",
    request: {
      uid,
      operation: textOf(memberOf(request, "operation")),
      resource: [textOf(memberOf(resource, "group")), textOf(memberOf(resource, "resource"))].filter(Boolean).join("/"),
      subresource: textOf(memberOf(request, "subResource")),
      namespace: textOf(memberOf(request, "namespace")),
      dryRun: memberOf(request, "dryRun") === true,
      object: memberOf(request, "object"),
    },
  };
}

/** The answer: allowed, always; with the patch base64-encoded where there is one. */
export function allowedReview(uid: string, patch: JsonPatch): Readonly<Record<string, unknown>> {
  const change = patch.length === 0 ? {} : { patchType: "JSONPatch", patch: toBase64(renderJsonBody(patch)) };
  return {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    response: { uid, allowed: true, ...change },
  };
}

async function readText(context: Context): Promise<string | Unreadable> {
  const { raw } = context.req;
  // Reading a stream costs more than the rest of the answer: only where the head says nothing of the size.
  if (context.req.header("content-length") === undefined) return await readCapped(raw);
  if (bodyBytes(context) <= MAX_BODY_BYTES) return await context.req.text();
  await discardBody(context);
  return TOO_LARGE;
}

async function readCapped(request: Request): Promise<string | Unreadable> {
  const reader = request.body?.getReader();
  if (reader === undefined) return "";
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > MAX_BODY_BYTES) {
      await reader.cancel();
      return TOO_LARGE;
    }
    text += decoder.decode(value, { stream: true });
  }
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function toBase64(text: string): string {
  return new TextEncoder().encode(text).toBase64();
}
