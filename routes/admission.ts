// The envelope of an AdmissionReview: the request parsed, the answer rendered. A pod is never denied.
import { Buffer } from "node:buffer";
import { memberOf, objectAt, textAt } from "../lib/json.ts";
import type { AdmissionWrite, Validation } from "../lib/vocabulary/admission.ts";
import type { ReviewBody, UnreadableBody } from "./review_body.ts";

/** The members of an AdmissionReview's request that Archway reads, and the review's size. The objects stay unparsed. */
export interface AdmissionRequest {
  readonly uid: string;
  readonly operation: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly dryRun: boolean;
  readonly object: unknown;
  readonly oldObject: unknown;
  readonly reviewBytes: number;
}

type ReviewRead =
  | { readonly kind: "review"; readonly request: AdmissionRequest }
  | UnreadableBody;

/** The envelope from parsed JSON; a review without a uid cannot be answered. */
export function parseReview({ body, bytes }: Extract<ReviewBody, { kind: "json" }>): ReviewRead {
  const request = memberOf(body, "request");
  const uid = textAt(request, "uid");
  if (uid === "") return { kind: "unreadable", status: 400, reason: "no request uid" };
  const resource = memberOf(request, "resource");
  return {
    kind: "review",
    request: {
      uid,
      operation: textAt(request, "operation"),
      resource: [textAt(resource, "group"), textAt(resource, "resource")].filter(Boolean).join("/"),
      subresource: textAt(request, "subResource"),
      namespace: textAt(request, "namespace"),
      dryRun: memberOf(request, "dryRun") === true,
      object: memberOf(request, "object"),
      oldObject: memberOf(request, "oldObject"),
      reviewBytes: bytes,
    },
  };
}

/** The parts of a review that validating webhooks read; undefined when one is missing. */
export function parseWrite(body: unknown): { readonly uid: string; readonly write: AdmissionWrite } | undefined {
  const request = objectAt(body, "request");
  const uid = textAt(request, "uid");
  const operation = (["CREATE", "UPDATE", "DELETE", "CONNECT"] as const)
    .find((known) => known === textAt(request, "operation"));
  if (uid === "" || operation === undefined) return undefined;
  const object = memberOf(request, "object");
  const needsObject = operation === "CREATE" || operation === "UPDATE";
  if (needsObject && objectAt(request, "object") === undefined) return undefined;
  const name = textAt(request, "name") || textAt(objectAt(object, "metadata"), "name");
  const namespace = textAt(request, "namespace");
  return { uid, write: { operation, name, namespace, object, oldObject: memberOf(request, "oldObject") } };
}

/** `patch`: a JSON Patch as text; empty for none. */
export function allowedReview(uid: string, patch: string): Readonly<Record<string, unknown>> {
  const change = patch === "" ? {} : { patchType: "JSONPatch", patch: Buffer.from(patch).toString("base64") };
  return renderAnswer({ uid, allowed: true, ...change });
}

export function uncheckedReview(uid: string, warning: string): Readonly<Record<string, unknown>> {
  return renderAnswer({ uid, allowed: true, warnings: [warning] });
}

export function validationReview(uid: string, validation: Validation): Readonly<Record<string, unknown>> {
  if (validation.kind === "deny") {
    const { code, reason, message } = validation;
    return renderAnswer({ uid, allowed: false, status: { code, reason, message } });
  }
  const { message, warnings } = validation;
  return renderAnswer({
    uid,
    allowed: true,
    ...message === undefined ? {} : { status: { code: 200, message } },
    ...warnings.length === 0 ? {} : { warnings },
  });
}

function renderAnswer(response: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response };
}
