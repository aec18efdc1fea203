// Takes the body of a review off the connection, counts it against the load limit once it is complete, and parses it.
// A body that is still arriving does not count: a slow client cannot keep the reviews of others out.
//
// | what arrives                          | what is handed on      |
// |---------------------------------------|------------------------|
// | JSON                                  | `json`, parsed         |
// | more than MAX_BODY_BYTES              | `unreadable`, 413      |
// | broken JSON, or a client that left    | `unreadable`, 400      |
// | more structure than MAX_STRUCTURE     | `dense`, never parsed  |
// | the same, no uid at the beginning     | `unreadable`, 400      |
// | a complete body beyond the load limit | `shed`, never parsed   |
import type { Context } from "hono";
import type { LoadLimit } from "../lib/server/load_limit.ts";
import { hasDenseStructure } from "../lib/json.ts";
import { collectBody } from "../lib/oci/http/body.ts";

/** Largest review that is read (bytes). The old and new object fit: the API server's objects have at most 3 MiB. */
export const MAX_BODY_BYTES = 7 * 1024 * 1024;

export interface UnreadableBody {
  readonly kind: "unreadable";
  readonly status: 400 | 413;
  readonly reason: string;
}

export type ReviewBody =
  /** `bytes`: the size of its text. */
  | { readonly kind: "json"; readonly body: unknown; readonly bytes: number }
  /** `uid`: the request's, read from the beginning, where the API server writes it. */
  | { readonly kind: "dense"; readonly uid: string }
  | { readonly kind: "shed" }
  | UnreadableBody;

const TOO_LARGE: UnreadableBody = { kind: "unreadable", status: 413, reason: "body too large" };
const CUT_OFF: UnreadableBody = { kind: "unreadable", status: 400, reason: "the client went away" };
const NOT_JSON: UnreadableBody = { kind: "unreadable", status: 400, reason: "not JSON" };
const NAMELESS: UnreadableBody = {
  kind: "unreadable",
  status: 400,
  reason: "too many members, and no uid where it belongs",
};

/** The API server writes the uid of the request within this many bytes: only two short members come before it. */
const UID_WITHIN_BYTES = 1_024;

/** Reads the body and hands it to `answer`. The body counts against the limit until the answer is there. */
export async function withReviewBody(
  context: Context,
  limit: LoadLimit,
  answer: (read: ReviewBody) => Promise<Response>,
): Promise<Response> {
  const bytes = await readBytes(context).catch(() => CUT_OFF);
  if (!(bytes instanceof Uint8Array)) return await answer(bytes);
  const leave = limit.enter(bytes.byteLength);
  if (leave === undefined) return await answer({ kind: "shed" });
  try {
    return await answer(parseBody(bytes));
  } finally {
    leave();
  }
}

function parseBody(bytes: Uint8Array): ReviewBody {
  if (hasDenseStructure(bytes)) return readDense(bytes);
  try {
    return { kind: "json", body: JSON.parse(new TextDecoder().decode(bytes)), bytes: bytes.byteLength };
  } catch {
    return NOT_JSON;
  }
}

function readDense(bytes: Uint8Array): ReviewBody {
  const head = new TextDecoder().decode(bytes.subarray(0, UID_WITHIN_BYTES));
  const uid = /"request":\{"uid":"([\w-]{1,64})"/.exec(head)?.[1];
  return uid === undefined ? NAMELESS : { kind: "dense", uid };
}

async function readBytes(context: Context): Promise<Uint8Array | UnreadableBody> {
  const declared = context.req.header("content-length");
  // Reading a stream costs more than the rest of the answer, so only a body of undeclared size is read as a stream.
  if (declared === undefined) return await readCapped(context.req.raw);
  if (Number(declared) <= MAX_BODY_BYTES) return new Uint8Array(await context.req.arrayBuffer());
  await discard(context.req.raw);
  return TOO_LARGE;
}

/** Takes a body off the connection without keeping it, so that the connection can go on. */
async function discard(request: Request): Promise<void> {
  for await (const _chunk of request.body ?? []);
}

async function readCapped({ body }: Request): Promise<Uint8Array | UnreadableBody> {
  return body === null ? new Uint8Array() : await collectBody(body, { maxBytes: MAX_BODY_BYTES }) ?? TOO_LARGE;
}

type Answer = (body: unknown) => Promise<Readonly<Record<string, unknown>> | undefined>;

export function answering(limit: LoadLimit, answer: Answer): (context: Context) => Promise<Response> {
  return (context) =>
    withReviewBody(context, limit, async (read) => {
      if (read.kind === "shed") return context.json({ error: "Cannot take this review: too many at a time." }, 503);
      if (read.kind === "dense") {
        return context.json({ error: "Cannot read the review: it has too many members." }, 413);
      }
      if (read.kind === "unreadable") {
        return context.json({ error: `Cannot read the review: ${read.reason}.` }, read.status);
      }
      const answered = await answer(read.body);
      return answered === undefined
        ? context.json({ error: "Cannot read the review: not a review." }, 400)
        : context.json(answered);
    });
}
