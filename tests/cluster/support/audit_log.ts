// Reads the audit log of a control plane: who asked the API server for what. Used to count and to forbid requests.
import { read } from "./cluster_access.ts";

export interface AuditedRequest {
  /** `get`, `list`, `watch`, `create`, `patch`, … */
  readonly verb: string;
  readonly uri: string;
  /** For example `system:serviceaccount:archway-system:archway`. */
  readonly user: string;
  /** Which token of that user: `JTI=…`; empty where tokens have no id. */
  readonly credential: string;
  /** API group of the resource; empty for the core group. */
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly status: number;
  /** When it came, and when its answer was complete, or a watch had begun (ms since the epoch). */
  readonly receivedMs: number;
  readonly answeredMs: number;
}

/** All requests so far, or those after so many bytes of the log. A watch counts once, when it begins (`ResponseStarted`). */
export async function readAuditLog(file: string, { fromByte = 0 } = {}): Promise<readonly AuditedRequest[]> {
  return parseAuditLog(await readFrom(file, fromByte));
}

/** Those of a text. Most lines are of others than the user: only those that may be the user's are parsed. */
export function parseAuditLog(text: string, user = ""): readonly AuditedRequest[] {
  return text.split("\n").filter((line) => line.includes(user)).flatMap((line) => {
    const event = parseLine(line);
    if (event === undefined) return [];
    const request = parseEvent(event);
    // A watch that is refused never begins.
    const counts = request.verb === "watch" && request.status < 400 ? "ResponseStarted" : "ResponseComplete";
    return read(event, "stage") === counts ? [request] : [];
  });
}

async function readFrom(file: string, fromByte: number): Promise<string> {
  using opened = await Deno.open(file);
  await opened.seek(fromByte, Deno.SeekMode.Start);
  return await new Response(opened.readable).text();
}

/** The first and the last line may be half of one. */
function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function parseEvent(event: unknown): AuditedRequest {
  const text = (...path: readonly string[]): string => String(read(event, ...path) ?? "");
  return {
    verb: text("verb"),
    uri: text("requestURI"),
    user: text("user", "username"),
    credential: text("user", "extra", "authentication.kubernetes.io/credential-id", "0"),
    group: text("objectRef", "apiGroup"),
    resource: text("objectRef", "resource"),
    subresource: text("objectRef", "subresource"),
    namespace: text("objectRef", "namespace"),
    name: text("objectRef", "name"),
    status: Number(read(event, "responseStatus", "code") ?? 0),
    receivedMs: Date.parse(text("requestReceivedTimestamp")),
    answeredMs: Date.parse(text("stageTimestamp")),
  };
}
