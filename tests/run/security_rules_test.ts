import assert from "node:assert/strict";
import { RULES, rulesBrokenBy } from "./security_rules.ts";

/** Each with a source that it finds. */
const BROKEN = [
  ["security/detect-bidi-characters", "export const name = 'user\u202e \u2066// check\u2069 \u2066';"],
  ["security/detect-child-process", `import { exec } from "node:child_process"; exec("ls " + name);`],
  ["security/detect-non-literal-fs-filename", `import { readFileSync } from "node:fs"; readFileSync(name);`],
  ["sonarjs/code-eval", "export const run = (text: string): unknown => eval(text);"],
  ["sonarjs/code-eval", "export const make = (text: string): unknown => new Function(text);"],
  [
    "sonarjs/encryption-secure-mode",
    `import * as crypto from "node:crypto"; crypto.createCipheriv("aes-128-cbc", k, i);`,
  ],
  ["sonarjs/hashing", `import { createHash } from "node:crypto"; export const hash = createHash("sha1");`],
  ["sonarjs/no-clear-text-protocols", `export const url = "http://registry.corp.io/v2/";`],
  ["sonarjs/no-hardcoded-passwords", `const password = "Zx9vQ2mT7bK4pL8wR3nY";`],
  ["sonarjs/no-hardcoded-secrets", `const secret = "Zx9vQ2mT7bK4pL8wR3nY6cJ1hF5dS0gA/w";`],
  ["sonarjs/no-weak-cipher", `import * as crypto from "node:crypto"; crypto.createCipheriv("des", k, i);`],
  ["sonarjs/no-weak-keys", `import * as c from "node:crypto"; c.generateKeyPairSync("rsa", { modulusLength: 1024 });`],
  ["sonarjs/os-command", `import { exec } from "node:child_process"; exec("ls " + name);`],
  ["sonarjs/pseudo-random", "export const secret = Math.random().toString(36);"],
  [
    "sonarjs/unverified-certificate",
    `import * as https from "node:https"; https.request({ rejectUnauthorized: false });`,
  ],
  ["sonarjs/unverified-hostname", `import * as https from "node:https"; https.request({ rejectUnauthorized: false });`],
  ["sonarjs/weak-ssl", `import { connect } from "node:tls"; connect({ host: "a", minVersion: "TLSv1" });`],
  ["no-restricted-syntax", "export const tls = { rejectUnauthorized: false };"],
  ["no-restricted-syntax", "export const tls = { 'rejectUnauthorized': isStrict };"],
  ["no-restricted-syntax", "tls.rejectUnauthorized = isStrict;"],
  ["no-restricted-syntax", "export const tls = { unsafelyDisableHostnameVerification: true };"],
  ["no-restricted-syntax", `export const run = (text: string) => new Deno.Command("/bin/sh", { args: ["-c", text] });`],
  ["no-restricted-syntax", "export const page = (name: string) => <p>{raw(name)}</p>;"],
  ["no-restricted-syntax", "export const page = (name: string) => <p dangerouslySetInnerHTML={{ __html: name }} />;"],
] as const;

Deno.test("the security rules find what they are for", async () => {
  assert.deepEqual(RULES.filter((rule) => !BROKEN.some(([broken]) => broken === rule)), []);
  for (const [rule, source] of BROKEN) assert.ok((await rulesBrokenBy(source)).includes(rule), `${rule}: ${source}`);
});

Deno.test("a comment that says why takes a security rule off its line; one that is not needed is a finding", async () => {
  const comment = "// eslint-disable-line sonarjs/pseudo-random -- no secret";
  assert.deepEqual(await rulesBrokenBy(`export const spread = Math.random(); ${comment}`), []);
  assert.deepEqual(await rulesBrokenBy(`export const spread = 4; ${comment}`), [null]);
});

Deno.test("a source that cannot be parsed is a finding", async () => {
  assert.deepEqual(await rulesBrokenBy("export const = 1;"), [null]);
});
