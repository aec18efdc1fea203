// What went wrong on the wire, named by what the runtime says of it, with the words for people. Pure. Used by exchange.ts.
import type { FailureReason } from "../types.ts";

/** A fault of the connection. `what` continues "the registry …" and may end with what to do next, without the last stop. */
export interface WireFault {
  /** Whether the certificates are to blame, the way there, or the time it took. */
  readonly reason: Extract<FailureReason, "TlsFailed" | "Unreachable" | "Timeout">;
  /** For people. */
  readonly what: string;
}

interface Row {
  readonly sign: RegExp;
  readonly reason: WireFault["reason"];
  readonly says: string;
  readonly next?: string;
}

/** The first whose sign is found counts; the later ones are more general. */
const ROWS: readonly Row[] = [
  {
    sign: /UnknownIssuer|self.signed/i,
    reason: "TlsFailed",
    says: "shows a certificate of an authority that is not trusted",
    next: "If it is the right registry, trust its authority with --registry-ca or in certs.d",
  },
  {
    sign: /certificate (is )?(expired|not valid yet)/i,
    reason: "TlsFailed",
    says: "shows a certificate out of its time",
  },
  { sign: /not valid for/i, reason: "TlsFailed", says: "shows a certificate for another name" },
  {
    sign: /alert.*(certificate|UnknownCA|AccessDenied)/i,
    reason: "TlsFailed",
    says: "refuses our client certificate, or wants one",
    next: "Put the right one into certs.d or name it in hosts.toml",
  },
  {
    sign: /InvalidContentType|wrong version number/i,
    reason: "TlsFailed",
    says: "does not speak TLS",
    next: "If that is meant so, declare it with --insecure-registry",
  },
  // Before the general sign of TLS: a cut connection is told as a missing close_notify.
  { sign: /close_notify|handshake eof|reset/i, reason: "Unreachable", says: "cut the connection" },
  { sign: /reading a body/i, reason: "Unreachable", says: "broke off its answer" },
  { sign: /signal has been aborted/i, reason: "Timeout", says: "did not answer in time" },
  { sign: /refused/i, reason: "Unreachable", says: "takes no connections" },
  { sign: /dns error|lookup|ENOTFOUND|no address/i, reason: "Unreachable", says: "could not be found by its name" },
  { sign: /certificate|tls|ssl|handshake/i, reason: "TlsFailed", says: "did not pass the TLS hand-shake" },
];
const OTHERWISE: Omit<Row, "sign"> = { reason: "Unreachable", says: "could not be reached" };

const MAX_DETAIL = 200;

/** Names a fault. `text` is the runtime's, without addresses: a host may be called `tls`. */
export function describeWireFault(text: string): WireFault {
  const { reason, says, next } = ROWS.find(({ sign }) => sign.test(text)) ?? OTHERWISE;
  const detail = text.replace(/^(.*client error \(\w+\)|fetch failed): /, "").replace(/: …$/, "").slice(0, MAX_DETAIL);
  return { reason, what: `${says} (${detail})${next === undefined ? "" : `. ${next}`}` };
}
