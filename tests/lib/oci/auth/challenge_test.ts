import assert from "node:assert/strict";
import fc from "fast-check";
import { parseChallenges } from "../../../../lib/oci/auth/challenge.ts";

function bearer(more: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return { kind: "bearer", realm: "https://auth.example/token", service: "", scope: "", ...more };
}

Deno.test("parseChallenges() reads what registries send", () => {
  const header = 'Bearer realm="https://auth.example/token",service="registry.example",scope="repository:a/b:pull"';
  assert.deepEqual(parseChallenges(header), [bearer({ service: "registry.example", scope: "repository:a/b:pull" })]);
});

Deno.test("parseChallenges() reads Basic with any case and parameters", () => {
  assert.deepEqual(parseChallenges('bASIC realm="Registry Realm", charset="UTF-8"'), [{ kind: "basic" }]);
  assert.deepEqual(parseChallenges("Basic"), [{ kind: "basic" }]);
});

Deno.test("P-105 parseChallenges() reads several challenges in one header", () => {
  const header = 'Negotiate, Basic realm="a", Bearer realm="https://auth.example/token", service="registry.example"';
  assert.deepEqual(parseChallenges(header), [{ kind: "basic" }, bearer({ service: "registry.example" })]);
});

Deno.test("P-105 parseChallenges() reads commas, escapes and equal signs inside quotes", () => {
  const header = String.raw`Bearer realm="https://auth.example/token",scope="repository:a:pull,push \"x\" a=b"`;
  assert.deepEqual(parseChallenges(header), [bearer({ scope: 'repository:a:pull,push "x" a=b' })]);
});

Deno.test("P-105 parseChallenges() reads spaces wherever the grammar allows them", () => {
  const header = '  Bearer   realm="https://auth.example/token" ,  service="registry.example"  ,  Basic  realm="a" ';
  assert.deepEqual(parseChallenges(header), [bearer({ service: "registry.example" }), { kind: "basic" }]);
});

Deno.test("parseChallenges() leaves out Bearer without realm and schemes it does not support", () => {
  assert.deepEqual(parseChallenges('Bearer service="x", Digest realm="y"'), []);
  assert.deepEqual(parseChallenges(""), []);
});

Deno.test("parseChallenges() survives hostile headers within bounds", () => {
  const hostile = [
    'Bearer realm="'.padEnd(1_000_000, "\\"),
    `Bearer ${"a=".repeat(100_000)}`,
    `${"Basic ".repeat(100_000)}`,
    `Bearer realm="${"\\\\".repeat(50_000)}`,
    `${", ".repeat(100_000)}Basic`,
  ];
  for (const header of hostile) assert.ok(parseChallenges(header).length <= 8_192);
});

Deno.test("parseChallenges() never throws and never makes an empty realm", () => {
  const pieces = fc.constantFrom(
    ...["Bearer", "Basic", "realm", "scope", "https://a", " ", ",", "=", '"', "\\", "\t", "\u0000", "é"],
  );
  const header = fc.oneof(fc.string(), fc.array(pieces, { maxLength: 60 }).map((parts) => parts.join("")));
  fc.assert(
    fc.property(header, (text) => {
      for (const challenge of parseChallenges(text)) {
        if (challenge.kind === "bearer") assert.notEqual(challenge.realm, "");
      }
    }),
    { numRuns: 2_000 },
  );
});
