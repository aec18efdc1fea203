import assert from "node:assert/strict";
import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { parseCertificates, parseClientPair } from "../../../../lib/oci/config/pem.ts";
import type { Parsed } from "../../../../lib/parsed.ts";
import { issueSelfSigned } from "../../tls/self_signed.ts";

const good = await issueSelfSigned({ isCa: false });

function block(content: string): string {
  return `-----BEGIN CERTIFICATE-----\n${content}-----END CERTIFICATE-----\n`;
}

function messagesOf(parsed: Parsed<unknown>): readonly string[] {
  return parsed.kind === "unparsable" ? [parsed.fault.message] : parsed.warnings.map(({ message }) => message);
}

for (
  const [what, text] of [
    ["no base64", block("!!!! not base64 !!!!\n")],
    ["no certificate", block("AAAA\n")],
    ["empty", block("")],
  ] as const
) {
  Deno.test(`parseCertificates() keeps what can be read beside a block that is ${what}, and warns of it`, () => {
    for (const [file, place] of [[text + good.pem, 1], [good.pem + text, 2]] as const) {
      const parsed = parseCertificates(file);
      assert.equal(parsed.kind === "parsed" && parsed.value.length, 1);
      assert.deepEqual(messagesOf(parsed), [`certificate ${place} in it is not readable and is left out`]);
    }
    assert.deepEqual(messagesOf(parseCertificates(text)), ["no certificate in it is readable"]);
  });
}

Deno.test("parseClientPair() takes a key under a wrong label for what it is", () => {
  const sec1 = String(createPrivateKey(good.key).export({ type: "sec1", format: "pem" }));
  const mislabelled = [sec1.replaceAll("EC PRIVATE", "PRIVATE"), good.key.replaceAll("PRIVATE", "RSA PRIVATE")];
  for (const text of [good.key, sec1, ...mislabelled]) {
    const parsed = parseClientPair(good.pem, text);
    assert.equal(parsed.kind, "parsed", messagesOf(parsed).join());
    assert.equal(createPrivateKey(parsed.kind === "parsed" ? parsed.value.key : "").asymmetricKeyType, "ec");
  }
});

Deno.test("parseClientPair() reports why a pair cannot be shown to a server", async () => {
  const other = await issueSelfSigned();
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 1024 });
  const encrypted = privateKey.export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "p" });
  const oldForm = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END RSA PRIVATE KEY-----";
  const cases: readonly (readonly [certificate: string, key: string, says: RegExp])[] = [
    [good.pem, other.key, /^the private key does not belong to the client certificate$/],
    [good.pem, String(encrypted), /is encrypted: nodes cannot use it either/],
    [good.pem, oldForm, /encrypted/],
    [good.pem, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", /is not readable/],
    [good.pem, "", /no PEM private key/],
    ["", good.key, /no PEM certificate/],
    [block("AAAA\n"), good.key, /certificate 1 in it is not readable/],
  ];
  for (const [certificate, key, says] of cases) {
    const parsed = parseClientPair(certificate, key);
    assert.equal(parsed.kind, "unparsable");
    assert.match(messagesOf(parsed).join(), says);
  }
});
