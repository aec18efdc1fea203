import assert from "node:assert/strict";
import {
  decodeUserPassword,
  parseDockerAuths,
  parseDockerConfigSecret,
} from "../../../../lib/oci/credentials/docker_config.ts";
import { matchCredentials, matchPullSecrets } from "../../../../lib/oci/credentials/match.ts";
import type { Credential } from "../../../../lib/oci/credential.ts";
import { asParsed, type Parsed, unparsable } from "../../../../lib/parsed.ts";
import { makeCredential } from "../../../support/inspectors.ts";

const CANARY = "c4nary-pa55word";
const SOURCE = "secret team-a/pull";

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

function secret(type: string, data: Readonly<Record<string, string>>): unknown {
  return { apiVersion: "v1", kind: "Secret", type, data };
}

function configJson(content: unknown): unknown {
  return secret("kubernetes.io/dockerconfigjson", { ".dockerconfigjson": base64(JSON.stringify(content)) });
}

function credentialsIn(parsed: Parsed<readonly Credential[]>): readonly Credential[] {
  return parsed.kind === "parsed" ? parsed.value : assert.fail(parsed.fault.message);
}

function secretsOf(parsed: Parsed<readonly Credential[]>): readonly Credential["secret"][] {
  return credentialsIn(parsed).map((credential) => credential.secret);
}

/** All that it says of what it could not use. */
function saidOf(parsed: Parsed<readonly Credential[]>): readonly string[] {
  return (parsed.kind === "parsed" ? parsed.warnings : [parsed.fault]).map(({ message }) => message);
}

Deno.test("DV-54 parseDockerConfigSecret() skips what is not a secret, such as a missing one", () => {
  for (const nothing of [undefined, null, "", 4, [], {}]) {
    assert.equal(parseDockerConfigSecret(nothing, SOURCE).kind, "unparsable");
  }
});

Deno.test("DV-55 parseDockerConfigSecret() skips a secret of type Opaque", () => {
  const opaque = secret("Opaque", { ".dockerconfigjson": base64(JSON.stringify({ auths: {} })) });
  assert.deepEqual(parseDockerConfigSecret(opaque, SOURCE), unparsable("its type is not a docker config"));
});

Deno.test("DV-56 parseDockerConfigSecret() uses a dockercfg secret", () => {
  const content = JSON.stringify({ "quay.io": { auth: base64("robot:word"), email: "a@b.c" } });
  const parsed = parseDockerConfigSecret(secret("kubernetes.io/dockercfg", { ".dockercfg": base64(content) }), SOURCE);
  const credentials = [makeCredential("quay.io", { source: SOURCE, username: "robot", password: "word" })];
  assert.deepEqual(parsed, asParsed(credentials));
});

Deno.test("DV-57 parseDockerConfigSecret() skips a dockerconfigjson without auths and says so", () => {
  const parsed = parseDockerConfigSecret(configJson({ "quay.io": {} }), SOURCE);
  assert.deepEqual(parsed, unparsable("its .dockerconfigjson has no auths"));
});

Deno.test("parseDockerConfigSecret() parses a thousand entries, and nothing with tens of thousands of members", () => {
  const entry = { username: "user", password: CANARY, auth: "", email: "a@example.com" };
  const entries = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`${at}.example`, entry]));
  assert.equal(secretsOf(parseDockerConfigSecret(configJson({ auths: entries }), SOURCE)).length, 1_000);
  const dense = configJson({ auths: {}, more: Array.from({ length: 6_000 }, () => ({})) });
  assert.match(
    saidOf(parseDockerConfigSecret(dense, SOURCE)).join(),
    /^its \.dockerconfigjson has more than \d+ members$/,
  );
});

Deno.test("DV-58 parseDockerConfigSecret() uses an entry that has only username and password", () => {
  const auths = { "quay.io": { username: "u", password: "p:q" } };
  const parsed = parseDockerConfigSecret(configJson({ auths }), SOURCE);
  assert.deepEqual(secretsOf(parsed), [{ kind: "basic", username: "u", password: "p:q" }]);
});

Deno.test("DV-59 pod secrets come before the global one for the same key, the one listed last first", () => {
  const quay = configJson({ auths: { "quay.io": { auth: base64("u:p") } } });
  const read = (source: string): readonly Credential[] => credentialsIn(parseDockerConfigSecret(quay, source));
  const target = { host: "quay.io", repository: "org/x" };
  const order = [
    ...matchPullSecrets([...read("secret a/first"), ...read("secret a/last")], target),
    ...matchCredentials(read("global pull secret"), target),
  ];
  assert.deepEqual(order.map(({ source }) => source), ["secret a/last", "secret a/first", "global pull secret"]);
});

Deno.test("parseDockerAuths() offers every way of an entry, tokens first", () => {
  const auths = { "x.io": { auth: base64("u:p"), identitytoken: "idt", registrytoken: "rgt" } };
  assert.deepEqual(secretsOf(parseDockerAuths(auths, SOURCE)), [
    { kind: "registry", token: "rgt" },
    { kind: "identity", token: "idt" },
    { kind: "basic", username: "u", password: "p" },
  ]);
});

Deno.test("parseDockerAuths() drops the placeholder user beside an identity token", () => {
  const auths = { "x.azurecr.io": { auth: base64("00000000-0000-0000-0000-000000000000:"), identitytoken: "idt" } };
  assert.deepEqual(secretsOf(parseDockerAuths(auths, SOURCE)), [{ kind: "identity", token: "idt" }]);
});

Deno.test("parseDockerAuths() loses a broken entry alone and names its key", () => {
  const auths = {
    "a.io": { auth: "%%%" },
    "b.io": { auth: base64("u:p") },
    "c.io": {},
    "u:pw@d.io:5000/x": 7,
    "u:1pw": 7,
    "https://e.io/v1/": 7,
  };
  const parsed = parseDockerAuths(auths, SOURCE);
  assert.deepEqual(secretsOf(parsed).length, 1);
  assert.deepEqual(saidOf(parsed), [
    'the entry of "a.io" is not readable',
    'the entry of "d.io:5000/x" is not readable',
    'the entry of "u:***" is not readable',
    'the entry of "https://e.io/v1/" is not readable',
  ]);
});

Deno.test("parseDockerAuths() takes keys named like parts of an object for what they are", () => {
  const auths: unknown = JSON.parse(`{"__proto__": {"auth": "${base64("u:p")}"}, "constructor": {"auth": "eDp5"}}`);
  assert.equal(parseDockerAuths(auths, SOURCE).kind, "parsed");
  assert.equal(Object.getPrototypeOf({}), Object.prototype);
});

Deno.test("decodeUserPassword() splits at the first colon and wants a user", () => {
  assert.deepEqual(decodeUserPassword(base64("u:p:q\0\0")), { username: "u", password: "p:q" });
  assert.deepEqual(decodeUserPassword(base64("ü:ß").replace(/=+$/, "")), { username: "ü", password: "ß" });
  assert.equal(decodeUserPassword(base64("nocolon")), undefined);
  assert.equal(decodeUserPassword(base64(":p")), undefined);
});

Deno.test("parseDockerConfigSecret() never quotes a secret", () => {
  const contents = [
    `{"auths": {"quay.io": ${CANARY}}}`,
    `{"auths": "${CANARY}"}`,
    `{"auths": {"quay.io": {"auth": "${CANARY}%"}}}`,
    `{"auths": {"quay.io": {"registrytoken": "${CANARY}\\n"}}, "x": "${CANARY}`,
    `{"auths": {"user:${CANARY}@quay.io": {"auth": "%"}}}`,
    CANARY,
  ];
  for (const content of contents) {
    for (const type of ["dockerconfigjson", "dockercfg"]) {
      const given = secret(`kubernetes.io/${type}`, { [`.${type}`]: base64(content) });
      const said = saidOf(parseDockerConfigSecret(given, SOURCE)).join();
      assert.ok(!said.includes(CANARY), said);
    }
  }
});

Deno.test("decodeUserPassword() takes as long for padding without end as for any other text of its length", () => {
  assert.equal(decodeUserPassword(`${"=".repeat(1_000_000)}x`), undefined);
  const zeros = "\0".repeat(500_000);
  assert.equal(decodeUserPassword(btoa(`a:b${zeros}c`))?.password, `b${zeros}c`);
  assert.deepEqual(decodeUserPassword(btoa(`a:b${zeros}`)), { username: "a", password: "b" });
});
