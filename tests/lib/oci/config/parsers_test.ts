import assert from "node:assert/strict";
import fc from "fast-check";
import { parseJson } from "../../../../lib/oci/files/formats.ts";
import { parseHosts } from "./settings_support.ts";
import { parsePolicy } from "../../../../lib/oci/config/policy.ts";
import { parseRancherRegistries } from "../../../../lib/oci/config/rancher_registries.ts";
import { parseRegistriesConf } from "../../../../lib/oci/config/registries_conf.ts";
import type { Parsed } from "../../../../lib/parsed.ts";

const CANARY = "c4narySecret";

const PARSERS: Readonly<Record<string, (text: string) => Parsed<unknown>>> = {
  "registries.conf": parseRegistriesConf,
  "hosts.toml": parseHosts,
  "registries.yaml": parseRancherRegistries,
  "policy.json": parsePolicy,
};

function faultOf(parsed: Parsed<unknown>): readonly [number | undefined, string] {
  if (parsed.kind === "unparsable") return [parsed.fault.line, parsed.fault.message];
  throw new Error("not broken");
}

const REGISTRIES_CONF_FAULTS: readonly (readonly [string, number | undefined, RegExp])[] = [
  ['a = 1\n[[registry]]\nlocation = "x"\nlocation = "y"', 4, /not TOML/],
  ['[[registry]]\nlocation = "x"\n[[registry]]\nblocked = true', 3, /without prefix and location/],
  ['\n[[registry]]\nprefix = "quay.io"', 2, /has no location/],
  ['[[registry]]\nprefix = "*.x.io/path"', 1, /wildcard prefix/],
  ['[[registry]]\nlocation = "https://x"', 2, /scheme/],
  ['[[registry]]\nlocation = "x"\npull-from-mirror = "all"', 1, /outside of a mirror/],
  ['[[registry]]\nlocation = "x"\n[[registry.mirror]]\nlocation = ""', 1, /mirror without location/],
  ['[[registry]]\nlocation = "x"\nblocked = "yes"', 3, /wrong kind/],
  ['unqualified-search-registries = "docker.io"', 1, /wrong kind/],
  ['[[registry]]\nlocation = "x"\n[registries.search]\nregistries = ["x"]', 3, /tables of version 1/],
  [
    '[[registry]]\nlocation = "x"\nmirror-by-digest-only = true\n[[registry.mirror]]\nlocation = "y"\npull-from-mirror = "all"',
    1,
    /together with mirror-by-digest-only/,
  ],
  ['[[registry]]\nlocation = "x"\n[[registry]]\nprefix = "x"\nlocation = "y"\ninsecure = true', 2, /contradict/],
];

for (const [text, line, words] of REGISTRIES_CONF_FAULTS) {
  Deno.test(`parseRegistriesConf() refuses, with line and reason: ${words.source}`, () => {
    const [at, message] = faultOf(parseRegistriesConf(text));
    assert.match(message, words);
    assert.equal(at, line);
  });
}

Deno.test("parsePolicy() refuses unknown fields, because they may forbid something", () => {
  const rows: readonly (readonly [string, number | undefined])[] = [
    ["{}", undefined],
    ['{"default": [{"type": "newKind"}]}', 1],
    ['{"default": [{"type": "reject"}],\n"transports": {"docker": {"quay.io": {"type": "reject"}}}}', 2],
    ['{"default": [{"type": "reject"}]\n"transports": {}}', 2],
  ];
  for (const [text, line] of rows) assert.equal(faultOf(parsePolicy(text))[0], line, text);
});

Deno.test("parseJson() reports what is wrong and where the engine gives the line, without quoting the text", () => {
  const rows: readonly (readonly [string, number | undefined, string])[] = [
    [`{\n"a": ${CANARY}}`, undefined, "unexpected token"],
    [`${CANARY} in JSON at position 1 (line 7 column 2)`, undefined, "unexpected token"],
    [`{\n"a": 1\n"${CANARY}": 2}`, 3, "expected ',' or '}' after property value"],
    [`{\n${CANARY}: 2}`, 2, "expected property name or '}'"],
    [`{"a":\n"${CANARY}`, 2, "unterminated string"],
    [`{"a": {"b": [1, 2}}`, 1, "expected ',' or ']' after array element"],
    [`{"a": 1}\n{`, 2, "unexpected non-whitespace character after json"],
    [`{"a": [`, undefined, "it ends too early"],
    ["", undefined, "it ends too early"],
  ];
  for (const [text, line, words] of rows) {
    assert.deepEqual(faultOf(parseJson(text)), [line, `not JSON: ${words}`], text);
  }
});

const HOSTILE: readonly string[] = [
  `a: &a [x,x,x,x,x,x,x,x,x]\n${
    "bcdefghij".split("").map((key, at) => `${key}: &${key} [${`*${"abcdefghi"[at]},`.repeat(9)}]`).join("\n")
  }`,
  "[".repeat(60_000),
  `${"{a: ".repeat(15_000)}`,
  `${'{"a":'.repeat(10_000)}`,
  `a = ${"[".repeat(50_000)}`,
  `${"a.".repeat(50_000)}b = 1`,
  `__proto__ = {x = 1}\n[constructor]\nprototype = 1`,
  '{"__proto__": {"x": 1}, "default": [], "constructor": {}}',
  "x".repeat((1 << 20) + 1),
  '"'.repeat(1 << 13),
  Array.from({ length: 2_000 }, (_, at) => `k${at}: 1`).join("\n"),
  "\0\uFFFD\u{1F600}".repeat(1_000),
  '[[registry]]\nprefix = "__proto__"\nlocation = "constructor"\n[aliases]\n"__proto__" = "x.io/y"',
  'mirrors:\n  __proto__:\n    endpoint: ["https://x"]\nconfigs:\n  constructor: {auth: {username: a}}',
];

for (const [name, parse] of Object.entries(PARSERS)) {
  Deno.test(`${name}: hostile texts neither crash nor hang nor reach the prototype of objects`, () => {
    for (const text of HOSTILE) parse(text);
    assert.equal(Reflect.get({}, "x"), undefined);
    assert.equal(Reflect.get({}, "endpoint"), undefined);
  });

  Deno.test(`${name}: any text is answered, and a fault never quotes it`, () => {
    const pieces = [...'{}"\n[]=*', "[[registry]]", "location = ", "auths:", "  ", ": ", CANARY];
    const text = fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string())).map((parts) => parts.join(""));
    fc.assert(fc.property(text, (content) => {
      const parsed = parse(content);
      if (parsed.kind === "unparsable") assert.ok(!parsed.fault.message.includes(CANARY), parsed.fault.message);
    }));
  });
}
