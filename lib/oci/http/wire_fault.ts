// Classifies connection faults by the runtime's message, with a message for users. Pure.
import type { FailureReason } from "../types.ts";

/** A fault of the connection. `what` continues "the registry …" and may end with what to do next, without the last stop. */
interface WireFault {
  /** Whether the cause is in the certificates, in the connection, or in the time it took. */
  readonly reason: Extract<FailureReason, "TlsFailed" | "Unreachable" | "Timeout">;
  readonly what: string;
}

interface Row {
  readonly sign: RegExp;
  readonly reason: WireFault["reason"];
  readonly says: string;
  readonly next?: string;
}

/** The TLS versions a registry must support, for every handshake fault that names no certificate. */
const NEEDED = "TLS 1.3, or TLS 1.2 with ECDHE and GCM or ChaCha20, over X25519, P-256 or P-384";

/** The first match counts; the later ones are more general. */
const ROWS: readonly Row[] = [
  {
    sign: /UnknownIssuer|self.signed/i,
    reason: "TlsFailed",
    says: "shows a certificate of an authority that is not trusted",
    next: "If it is the right registry, trust its authority with --registry-ca or in certs.d",
  },
  {
    sign: /CaUsedAsEndEntity/,
    reason: "TlsFailed",
    says: "shows a certificate that is marked as a CA",
    next: "Reissue it with CA:FALSE, or add it itself to --registry-ca or certs.d",
  },
  {
    sign: /certificate (is )?(expired|not valid yet)/i,
    reason: "TlsFailed",
    says: "shows a certificate out of its time",
  },
  {
    sign: /not valid for name .*DnsName\("\*\.[^."]+"\)/,
    reason: "TlsFailed",
    says: "shows a certificate for another name",
    next: "A wildcard needs two labels after its star",
  },
  { sign: /not valid for/i, reason: "TlsFailed", says: "shows a certificate for another name" },
  {
    sign: /extended key usage/,
    reason: "TlsFailed",
    says: "shows a certificate that is not for servers",
    next: "Reissue it, and the authorities between, with the extended key usage serverAuth",
  },
  {
    sign: /UnsupportedCriticalExtension/,
    reason: "TlsFailed",
    says: "shows a certificate with a critical extension that Archway does not know",
  },
  {
    sign: /UnsupportedCertVersion|X\.509 v[12]/,
    reason: "TlsFailed",
    says: "shows an X.509 v1 certificate",
    next: "Reissue it as version 3, with a subjectAltName",
  },
  {
    sign: /UnsupportedSignatureAlgorithm/,
    reason: "TlsFailed",
    says: "shows a certificate that is signed in a way that is not accepted, such as SHA-1",
  },
  {
    sign: /BadSignature/,
    reason: "TlsFailed",
    says: "shows a certificate whose signature does not verify",
    next: "Its key or that of its authority may be too short (RSA under 2048 bits)",
  },
  {
    sign: /MaximumPathDepthExceeded/,
    reason: "TlsFailed",
    says: "sends more than 6 authorities between its certificate and the trusted one",
  },
  { sign: /HandshakePayloadTooLarge/, reason: "TlsFailed", says: "sends more than 64 KB of certificates" },
  {
    sign: /alert: ProtocolVersion/,
    reason: "TlsFailed",
    says: "speaks no TLS version of ours",
    next: `It needs ${NEEDED}; --insecure-registry does not help`,
  },
  {
    sign: /alert: HandshakeFailure/,
    reason: "TlsFailed",
    says: "speaks no cipher suite of ours, or wants a client certificate",
    next: `It needs ${NEEDED}; --insecure-registry does not help`,
  },
  {
    sign: /alert.*(certificate|UnknownCA|AccessDenied)/i,
    reason: "TlsFailed",
    says: "refuses our client certificate, or wants one",
    next: "Put the right one into certs.d or name it in hosts.toml",
  },
  { sign: /fatal alert/, reason: "TlsFailed", says: "refused the TLS hand-shake" },
  {
    sign: /InvalidContentType|wrong version number/i,
    reason: "TlsFailed",
    says: "does not speak TLS",
    next: "If that is meant so, declare it with --insecure-registry",
  },
  // Before the general sign of TLS: the runtime reports a cut connection as a missing close_notify.
  { sign: /close_notify|handshake eof|reset/i, reason: "Unreachable", says: "cut the connection" },
  {
    sign: /closed before message completed/,
    reason: "Unreachable",
    says: "closed the connection without an answer",
    next: "It must speak HTTP/1.1",
  },
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
