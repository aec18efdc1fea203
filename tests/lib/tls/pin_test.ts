import "reflect-metadata";
import assert from "node:assert/strict";
import { Extension } from "@peculiar/x509";
import fc from "fast-check";
import { readCertificate } from "../../../lib/tls/certificate.ts";
import { judgePin, type PinCheck } from "../../../lib/tls/pin.ts";
import { issueSelfSigned, type SelfSigned, type SelfSignedRequest } from "./self_signed.ts";

const nowMs = Date.now();
const usual = await issueSelfSigned();
const other = await issueSelfSigned();

function judge({ pem, der }: SelfSigned, host = "localhost", atMs = nowMs): PinCheck {
  return judgePin(der, { host, trusted: [other.pem, pem], nowMs: atMs });
}

Deno.test("judgePin() leaves a certificate that is not trusted itself to its chain", () => {
  assert.equal(judgePin(usual.der, { host: "localhost", trusted: [other.pem], nowMs }).kind, "unlisted");
  assert.equal(judgePin(usual.der, { host: "localhost", trusted: [], nowMs }).kind, "unlisted");
});

Deno.test("judgePin() takes one of several certificates of a text, and passes over what is none", () => {
  const trusted = [`-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n${other.pem}${usual.pem}`];
  assert.equal(judgePin(usual.der, { host: "localhost", trusted, nowMs }).kind, "accepted");
});

const dns = (value: string): SelfSignedRequest => ({ names: [{ type: "dns", value }] });
const NAMES: readonly (readonly [request: SelfSignedRequest, host: string, fits: boolean])[] = [
  [dns("LocalHost"), "localhost", true],
  [dns("*.corp.test"), "reg.corp.test", true],
  [dns("*.corp.test"), "a.reg.corp.test", false],
  [dns("*.corp"), "reg.corp", true],
  [dns("*"), "localhost", false],
  [dns("r*.corp.test"), "reg.corp.test", false],
  [dns("reg.*.test"), "reg.corp.test", false],
  [dns("reg.corp.test."), "reg.corp.test", false],
  [dns("reg.corp.test"), "reg.corp.test.", true],
  [dns("127.0.0.1"), "127.0.0.1", false],
  [{ names: [{ type: "ip", value: "127.0.0.1" }] }, "127.0.0.1", true],
  [{ names: [{ type: "ip", value: "::1" }] }, "[::1]", true],
  [{ names: [{ type: "ip", value: "::1" }] }, "[::2]", false],
  [{ names: [{ type: "ip", value: "127.0.0.1" }] }, "localhost", false],
  [{ names: [] }, "localhost", false],
];

for (const [request, host, fits] of NAMES) {
  const names = request.names?.map(({ value }) => value).join() || "no name";
  Deno.test(`judgePin() ${fits ? "accepts" : "refuses"} ${names} for ${host}, as Go does`, async () => {
    const checked = judge(await issueSelfSigned(request), host);
    assert.equal(checked.kind, fits ? "accepted" : "refused");
    if (checked.kind === "refused") assert.match(checked.why, /not valid for this name/);
  });
}

const unknown = new Extension("1.3.6.1.4.1.55555.1", true, new Uint8Array([5, 0]));
const REFUSED: readonly (readonly [what: string, request: SelfSignedRequest, why: RegExp])[] = [
  ["expired", { notAfter: new Date(nowMs - 1_000) }, /certificate expired/],
  ["not valid yet", { notBefore: new Date(nowMs + 60_000) }, /certificate not valid yet/],
  ["for clients only", { usages: ["1.3.6.1.5.5.7.3.2"] }, /extended key usage/],
  ["odd in a critical way", { more: [unknown] }, /UnsupportedCriticalExtension/],
  ["in two minds", { more: [unknown, unknown] }, /twice/],
];

for (const [what, request, why] of REFUSED) {
  Deno.test(`judgePin() refuses a trusted certificate that is ${what}`, async () => {
    const checked = judge(await issueSelfSigned(request));
    assert.equal(checked.kind, "refused");
    assert.match(checked.kind === "refused" ? checked.why : "", why);
  });
}

for (const usages of [["1.3.6.1.5.5.7.3.1"], ["2.5.29.37.0"], ["1.3.6.1.5.5.7.3.2", "1.3.6.1.5.5.7.3.1"]]) {
  Deno.test(`judgePin() accepts the extended key usages ${usages.join()}`, async () => {
    assert.equal(judge(await issueSelfSigned({ usages })).kind, "accepted");
  });
}

/** The version is `[0] { INTEGER 2 }` right at the start of what is signed. */
function asVersion(certificate: SelfSigned, version: number): SelfSigned {
  const der = certificate.der.slice();
  const at = der.findIndex((_byte, index) => der[index] === 0xa0 && der[index + 1] === 3 && der[index + 2] === 2);
  der[at + 4] = version - 1;
  return { ...certificate, der, pem: `-----BEGIN CERTIFICATE-----\n${der.toBase64()}\n-----END CERTIFICATE-----\n` };
}

for (const version of [1, 2, 4]) {
  Deno.test(`judgePin() refuses X.509 v${version}: the runtime does not prove its key`, () => {
    const checked = judge(asVersion(usual, version));
    assert.deepEqual(checked, { kind: "refused", why: `certificate is X.509 v${version}` });
  });
}

Deno.test("readCertificate() never throws, and reads nothing of what is cut off", () => {
  const { der } = usual;
  fc.assert(fc.property(fc.nat(der.length - 1), (length) => readCertificate(der.subarray(0, length)) === undefined));
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => void readCertificate(bytes)));
  fc.assert(fc.property(fc.nat(der.length - 1), fc.nat(255), (at, byte) => {
    const spoilt = der.slice();
    spoilt[at] = byte;
    readCertificate(spoilt);
  }));
});
