import assert from "node:assert/strict";
import { parse } from "yaml";
import { describeWireFault } from "../../../../lib/oci/http/wire_fault.ts";
import ROWS from "../../../../lib/oci/http/wire_faults.yaml" with { type: "text" };
import { slowness } from "../../../run/slow_patterns.ts";

/** What Deno 2.9.6 says, as the transport reports it. */
const FETCH = "fetch failed: error sending request for url (…): client error (Connect):";
const SAYINGS: readonly (readonly [text: string, reason: string, what: RegExp])[] = [
  [`${FETCH} invalid peer certificate: UnknownIssuer`, "TlsFailed", /not trusted \(invalid .*--registry-ca/],
  [`${FETCH} invalid peer certificate: certificate expired: …`, "TlsFailed", /out of its time \(invalid/],
  [`${FETCH} invalid peer certificate: certificate not valid for name "a"`, "TlsFailed", /another name \(invalid/],
  ["fetch failed: received fatal alert: BadCertificate", "TlsFailed", /wants one .*certs\.d/],
  ["fetch failed: received fatal alert: CertificateRequired", "TlsFailed", /wants one .*certs\.d/],
  ["fetch failed: received fatal alert: HandshakeFailure", "TlsFailed", /^speaks no cipher suite .*GCM or ChaCha20/],
  ["fetch failed: received fatal alert: ProtocolVersion", "TlsFailed", /^speaks no TLS version .*needs TLS 1\.3/],
  ["fetch failed: received fatal alert: InternalError", "TlsFailed", /^refused the TLS hand-shake/],
  [
    `${FETCH} invalid peer certificate: Other(OtherError(CaUsedAsEndEntity))`,
    "TlsFailed",
    /as a CA .*CA:FALSE, or add/,
  ],
  [`${FETCH} invalid peer certificate: BadSignature`, "TlsFailed", /too short \(RSA under 2048 bits\)$/],
  [`${FETCH} invalid peer certificate: Other(OtherError(UnsupportedCriticalExtension))`, "TlsFailed", /does not know/],
  [`${FETCH} invalid peer certificate: Other(OtherError(EndEntityUsedAsCa))`, "TlsFailed", /^did not pass the TLS/],
  [
    `${FETCH} invalid peer certificate: certificate not valid for name "r.corp"; certificate is only valid for DnsName("*.corp")`,
    "TlsFailed",
    /another name .*two labels after its star$/,
  ],
  [`${FETCH} connection closed before message completed`, "Unreachable", /must speak HTTP\/1\.1$/],
  [`${FETCH} received corrupt message of type InvalidContentType`, "TlsFailed", /speak TLS .*--insecure-registry/],
  ["peer closed connection without sending TLS close_notify: …", "Unreachable", /^cut the .*close_notify\)$/],
  ["error reading a body from connection", "Unreachable", /^broke off its answer/],
  ["The signal has been aborted", "Timeout", /^did not answer in time/],
  [`${FETCH} tls handshake eof`, "Unreachable", /^cut the connection \(tls handshake eof\)$/],
  ["Connection reset by peer (os error 104)", "Unreachable", /^cut the connection/],
  [`${FETCH} tcp connect error: Connection refused (os error 111)`, "Unreachable", /^takes no connections \(tcp/],
  [`${FETCH} dns error: failed to lookup address information`, "Unreachable", /^could not be found by its name/],
  ["something new", "Unreachable", /^could not be reached \(something new\)$/],
];

for (const [text, reason, what] of SAYINGS) {
  Deno.test(`describeWireFault() takes "${text}" as ${reason}`, () => {
    const fault = describeWireFault(text);
    assert.equal(fault.reason, reason);
    assert.match(fault.what, what);
  });
}

Deno.test("describeWireFault() repeats a bounded part of what it is given", () => {
  assert.ok(describeWireFault("x".repeat(10_000)).what.length < 300);
});

Deno.test("no sign of a fault takes a time that grows faster than the message", () => {
  const signs: readonly string[] = parse(ROWS).map(({ sign }: { readonly sign: string }) => sign);
  assert.deepEqual(signs.filter((sign) => slowness(sign, "i") !== undefined), []);
});
