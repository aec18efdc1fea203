// Makes ApiErrors from failed responses, failed connections and error events.
import { ApiError } from "./api_error.ts";
import { parseStatus } from "./kube_object.ts";
import { parseObject } from "../json.ts";

export const NoAnswer = {
  /** No connection: the server has not seen the request. */
  unreachable: "Unreachable",
  /** The connection broke: the server may have processed the request. */
  interrupted: "Interrupted",
  /** No answer within the call's time limit: the server may have processed the request. */
  timeout: "Timeout",
} as const;

const MAX_WORDS = 500;

/** The error for a failed answer. Reads its whole body. `action` is like `patch pods "ns/name"`. */
export async function responseError(response: Response, action: string): Promise<ApiError> {
  const text = await response.text().catch(() => "");
  const status = parseStatus(parseObject(text));
  const words = status.message !== ""
    ? status.message
    : response.headers.get("content-type")?.includes("json")
    ? ""
    : text;
  return new ApiError(`Cannot ${action}: the API server answered ${response.status}${saying(words)}`, {
    status: response.status,
    reason: status.reason,
    hasCauses: status.hasCauses,
    retryAfterMs: retryAfterMs(response.headers.get("retry-after")),
  });
}

export function watchEventError(object: unknown): ApiError {
  const status = parseStatus(object);
  return new ApiError(
    `Cannot go on watching: the API server said ${status.code ?? "nothing"}${saying(status.message)}`,
    { status: status.code ?? 500, reason: status.reason },
  );
}

/** The error for a request without a complete answer. The message omits the URL, which has a query. */
export function connectionError(
  error: unknown,
  options: { readonly action: string; readonly host: string },
): ApiError {
  const { phase, words } = connectionText(error);
  const reason = error instanceof DOMException && error.name === "TimeoutError"
    ? NoAnswer.timeout
    : phase === "Connect"
    ? NoAnswer.unreachable
    : NoAnswer.interrupted;
  return new ApiError(
    `Cannot ${options.action}: no answer from the API server at ${options.host}: ${words}. ${adviceFor(words)}`,
    { status: 0, reason },
  );
}

function adviceFor(words: string): string {
  if (/CaUsedAsEndEntity/.test(words)) {
    return "The server's certificate is marked as a CA: put its issuer and itself into certificate-authority-data.";
  }
  if (/certificate/.test(words)) {
    return "Check that certificate-authority-data holds the server's CA, and that its certificate is for this name and time.";
  }
  return "Check that it is up and that this host may reach it.";
}

/** Deno's message is `error sending request for url (…): client error (Connect): tcp connect error: …`. */
function connectionText(error: unknown): { readonly phase: string; readonly words: string } {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const text = cause instanceof Error ? cause.message : String(cause);
  const [, phase = "", words] = /client error \((\w+)\)(?:: ([\s\S]*))?$/.exec(text) ?? [];
  if (phase !== "") return { phase, words: words ?? "the connection failed" };
  return { phase, words: /https?:\/\//.test(text) ? "the connection broke" : text.slice(0, MAX_WORDS) };
}

function saying(words: string): string {
  const trimmed = words.trim().slice(0, MAX_WORDS);
  return trimmed === "" ? "." : `: ${trimmed}`;
}

/** `Retry-After` in seconds: the API server never sends dates, and its Status has the same value. */
function retryAfterMs(header: string | null): number | undefined {
  return header !== null && /^\d+$/.test(header) ? Number(header) * 1_000 : undefined;
}
