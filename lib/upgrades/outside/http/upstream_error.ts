// Faults of the servers that upgrades depend on. Messages hold no header, no query and no secret of a body.
import { printable } from "../../../json.ts";
import { errorText } from "../../../log.ts";
import { describeWireFault } from "../../../oci/http/wire_fault.ts";

type UpstreamFault =
  | "unreachable"
  | "timeout"
  /** The server's certificate or the handshake is at fault: waiting does not help. */
  | "tls"
  /** 429 or 5xx. */
  | "unavailable"
  /** 401 or 403. */
  | "unauthorized"
  /** Any other status that is no success. */
  | "refused"
  | "tooLarge"
  /** Success, with a body of another shape. */
  | "malformed"
  /** Nothing was sent: what is needed for it is missing or wrong. */
  | "misconfigured";

interface FaultDetails {
  readonly fault: UpstreamFault;
  readonly status?: number;
}

export class UpstreamError extends Error {
  override readonly name = "UpstreamError";
  readonly fault: UpstreamFault;
  readonly status: number;

  constructor(message: string, { fault, status = 0 }: FaultDetails) {
    super(message);
    this.fault = fault;
    this.status = status;
  }

  get isTransient(): boolean {
    return this.fault === "unreachable" || this.fault === "timeout" || this.fault === "unavailable";
  }
}

export interface RequestName {
  readonly server: string;
  readonly method: string;
  /** Its query is not shown. */
  readonly url: URL;
}

const VERB: Readonly<Record<string, string>> = { GET: "read from", DELETE: "delete at" };

export function upstreamError(
  { server, method, url }: RequestName,
  { state, ...details }: FaultDetails & { readonly state: string },
): UpstreamError {
  const message = `Cannot ${VERB[method] ?? "write to"} ${server} "${url.host}${url.pathname}": ${state}.`;
  return new UpstreamError(message, details);
}

const WIRE_FAULT = { TlsFailed: "tls", Unreachable: "unreachable", Timeout: "timeout" } as const;
const WIRE_STATE = {
  tls: "the TLS hand-shake failed",
  unreachable: "it cannot be reached",
  timeout: "it did not answer in time",
} as const;
const MAX_DETAIL = 160;

/** The error for what the runtime throws. Its own message may hold addresses, which are removed. */
export function wireError(name: RequestName, error: unknown): UpstreamError {
  if (error instanceof DOMException && error.name === "TimeoutError") {
    return upstreamError(name, { fault: "timeout", state: WIRE_STATE.timeout });
  }
  const text = errorText(error).replaceAll(/https?:\/\/\S+/g, "…").replaceAll(name.url.host, "…");
  const fault = WIRE_FAULT[describeWireFault(text).reason];
  return upstreamError(name, { fault, state: `${WIRE_STATE[fault]} (${text.slice(0, MAX_DETAIL)})` });
}

const OPERATION_ID = /^[\w-]{1,64}$/;

/** The error for a status that is no success. `reason`: what its body says, where that may be shown. */
export function statusError(
  name: RequestName,
  { status, headers }: { readonly status: number; readonly headers: Headers },
  reason: string,
): UpstreamError {
  const operation = headers.get("x-operation-id") ?? "";
  const state = `it answered with status ${status}${OPERATION_ID.test(operation) ? `, operation ${operation}` : ""}` +
    (reason === "" ? "" : `: ${printable(reason).trim().replace(/^"(.*)"$/, "$1").slice(0, MAX_DETAIL)}`);
  return upstreamError(name, { state, status, fault: faultOf(status) });
}

function faultOf(status: number): UpstreamFault {
  if (status === 429 || status >= 500) return "unavailable";
  return status === 401 || status === 403 ? "unauthorized" : "refused";
}
