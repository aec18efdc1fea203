// Registries and configurations made to hurt, by chance: whatever they answer or hold, an inspection ends with a report of
// bounded size after a bounded number of requests, and what it says fits on a line.
import assert from "node:assert/strict";
import fc from "fast-check";
import { parseConfigFile } from "../../../../lib/oci/credentials/config_file.ts";
import { parseDockerConfigSecret } from "../../../../lib/oci/credentials/docker_config.ts";
import { parsePluginAnswer, parseProviderConfig } from "../../../../lib/oci/credentials/plugin_protocol.ts";
import { planPull } from "../../../../lib/oci/config/plan_pull.ts";
import { parseRancherRegistries } from "../../../../lib/oci/config/rancher_registries.ts";
import { parseAliasCache, parseRegistriesConf } from "../../../../lib/oci/config/registries_conf.ts";
import type { InspectionReport } from "../../../../lib/oci/inspection_request.ts";
import { makeMultiArch, MediaType } from "../../../support/documents.ts";
import { LOOK_UP_AGAIN, makeCredential, openTestInspector } from "../../../support/inspectors.ts";
import { openFakeRegistry } from "../../../support/registry.ts";
import { parseHosts, settingsFrom } from "../config/settings_support.ts";

const REAL = makeMultiArch(["amd64", "arm64"]);
const DIGEST = `sha256:${"a".repeat(64)}`;
/** What a header can hold at all. */
const headerText = fc.string({ unit: fc.constantFrom(..."aB1 \t\"'\\,;=:/@.{}[]<>%~é") });

const HEADERS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  "www-authenticate": fc.oneof(
    headerText,
    fc.constantFrom(
      "Basic",
      'Bearer realm="/token"',
      'Bearer realm="http://[::"',
      'Bearer realm="file:///etc/passwd"',
      'Bearer realm="http://169.254.169.254/latest"',
      `Bearer realm="https://x/${"a".repeat(5_000)}"`,
      'Bearer realm="HERE/token",service="s",scope="repository:org/app:pull"',
      'Bearer realm="HERE/token?a=b#c",scope="*", Basic realm="x"',
    ),
  ),
  location: fc.oneof(
    headerText,
    fc.constantFrom("HERE/other", "/v2/", "//", "http://[", "ftp://x", "http://127.1/", "?"),
  ),
  "content-type": fc.oneof(headerText, fc.constantFrom(...Object.values(MediaType))),
  "docker-content-digest": fc.oneof(headerText, fc.constantFrom(DIGEST, "sha256:", "md5:x", "__proto__:x")),
  "retry-after": fc.oneof(headerText, fc.constantFrom("1", "-1", "9e99", "Sat, 21 Nov 2026 12:00:30 GMT")),
  "ratelimit-remaining": fc.oneof(headerText, fc.constantFrom("0;w=1", "NaN", "9".repeat(400))),
};

const damagedIndex = fc.tuple(fc.nat(), fc.nat(20), fc.string()).map(([at, length, put]) => {
  const { text } = REAL.index;
  return text.slice(0, at % text.length) + put + text.slice((at % text.length) + length);
});
const nested = fc.nat(50).map((count) =>
  JSON.stringify({
    schemaVersion: 2,
    mediaType: MediaType.ociIndex,
    manifests: Array.from({ length: count }, () => ({ mediaType: MediaType.ociIndex, digest: DIGEST, size: 1 })),
  })
);
const answers = fc.array(
  fc.record({
    status: fc.constantFrom(200, 200, 200, 201, 204, 206, 301, 304, 307, 400, 401, 401, 403, 404, 418, 451),
    headers: fc.record(HEADERS, { requiredKeys: [] }),
    body: fc.oneof(fc.string(), fc.json(), damagedIndex, nested, fc.constant(REAL.index.text)),
  }),
  { minLength: 1, maxLength: 6 },
);

/** A person reads it on one line of a terminal or an event. */
function assertReadable({ inspection, requests, trace }: InspectionReport): void {
  const asked = Object.values(requests).reduce((sum, count) => sum + count, 0);
  assert.ok(asked <= 60, `${asked} requests`);
  assert.ok(JSON.stringify({ inspection, trace }).length < 100_000);
  if (inspection.kind !== "failed") return;
  const { message } = inspection.failure;
  assert.ok(message.length < 2_000, `${message.length} characters`);
  assert.doesNotMatch(message, /\p{Cc}/u);
}

Deno.test("inspect() reports on whatever a registry answers, within bounds", async () => {
  await using registry = await openFakeRegistry();
  await fc.assert(
    fc.asyncProperty(answers, async (script) => {
      let turn = 0;
      registry.intercept = ({ method }) => {
        const { status, headers, body } = script[turn++ % script.length] ?? assert.fail();
        const isEmpty = method === "HEAD" || [204, 304].includes(status);
        const entries = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
          value === undefined ? [] : [[name, value.replace("HERE", registry.origin)]]
        );
        return new Response(isEmpty ? null : body, { status, headers: entries });
      };
      using inspector = openTestInspector();
      const credentials = [makeCredential(registry.host), makeCredential(registry.host, { username: "second" })];
      for (const freshness of ["cached", LOOK_UP_AGAIN] as const) {
        assertReadable(await inspector.inspect(`${registry.host}/org/app:v1`, { credentials, freshness }));
      }
    }),
    { numRuns: 150 },
  );
});

Deno.test("inspect() reports on whatever bytes come instead of HTTP", async () => {
  const pieces = fc.constantFrom(
    "HTTP/1.1 200 OK\r\n",
    "HTTP/1.1 999 X\r\n",
    "HTTP/9.9 200\r\n",
    "content-length: 5\r\n",
    "content-length: -1\r\n",
    "content-length: 99999999999999999999\r\n",
    "transfer-encoding: chunked\r\n",
    "content-encoding: gzip\r\n",
    "location: \0\r\n",
    `x: ${"y".repeat(70_000)}\r\n`,
    "\r\n",
    "5\r\nhello\r\n",
    "ffffffffffffffff\r\n",
    "0\r\n\r\n",
    "\0\x16\x03\x01",
    "{}",
  );
  const texts = fc.array(pieces, { maxLength: 8 }).map((parts) => parts.join(""));
  let text = "";
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    for await (const connection of listener) {
      await connection.read(new Uint8Array(8_192)).catch(() => {});
      await connection.write(new TextEncoder().encode(text)).catch(() => {});
      connection.close();
    }
  })();
  const image = `127.0.0.1:${listener.addr.port}/org/app:v1`;
  await fc.assert(
    fc.asyncProperty(texts, fc.boolean(), async (sent, isInsecure) => {
      text = sent;
      const connection = isInsecure ? { scheme: "https-then-http", verifiesTls: false } as const : {};
      using inspector = openTestInspector({ connection });
      assertReadable(await inspector.inspect(image));
    }),
    { numRuns: 60 },
  );
  listener.close();
  await serving;
});

const TOML = [
  "[[registry]]\n",
  'prefix = "*.corp.io"\n',
  'location = "m.io/a"\n',
  'prefix = "quay.io"\n',
  "[[registry.mirror]]\n",
  'location = "n.io:5000"\n',
  'pull-from-mirror = "tag-only"\n',
  "blocked = true\n",
  'unqualified-search-registries = ["a.io", "b.io"]\n',
  'short-name-mode = "enforcing"\n',
  'credential-helpers = ["x"]\n',
  "[aliases]\n",
  '"nginx" = "quay.io/x/nginx"\n',
  'server = "https://up.io"\n',
  '[host."https://m.io/v2/p"]\n',
  "override_path = true\n",
  'header = {a = "b"}\n',
  "= [ {\n",
  '"""\n',
  "1979-05-27T07:32:00Z\n",
];
const toml = fc.array(fc.oneof(fc.constantFrom(...TOML), fc.string())).map((parts) => parts.join(""));

Deno.test("parseRegistriesConf() makes of any text a fault, or rules that plan any image", () => {
  const images = fc.oneof(fc.string(), fc.constantFrom("nginx", "quay.io/a/b:1", `x.corp.io/a@${DIGEST}`, "m.io/a/b"));
  fc.assert(
    fc.property(toml, images, (text, image) => {
      parseAliasCache(text);
      if (parseRegistriesConf(text).kind === "parsed") planPull(image, settingsFrom({ conf: text }));
    }),
    { numRuns: 1_000 },
  );
});

Deno.test("parseHostsToml() sends nothing that a header or an address cannot hold, whatever the text", () => {
  fc.assert(
    fc.property(toml, (text) => {
      const parsed = parseHosts(text);
      if (parsed.kind === "unparsable") return;
      for (const { headers, url } of parsed.value.mirrors) {
        new Headers({ ...headers });
        new URL(`${url.scheme}://${url.host}${url.pathPrefix}/v2/${url.repositoryPrefix}a/manifests/b`);
      }
    }),
    { numRuns: 1_000 },
  );
});

const JSON_PARSERS: Readonly<Record<string, (text: string) => unknown>> = {
  "config.json": parseConfigFile,
  "a pull Secret": (text) => {
    const encoded = new TextEncoder().encode(text).toBase64();
    for (const name of ["dockerconfigjson", "dockercfg"]) {
      parseDockerConfigSecret({ type: `kubernetes.io/${name}`, data: { [`.${name}`]: encoded } }, "secret a/b");
    }
  },
  "a plugin's configuration": parseProviderConfig,
  "a plugin's answer": (text) => {
    const apiVersion = "credentialprovider.kubelet.k8s.io/v1";
    return parsePluginAnswer({ name: "x", matchImages: [], defaultCacheMs: 1, apiVersion, args: [], env: {} }, text);
  },
  "registries.yaml": parseRancherRegistries,
};

Deno.test("the parsers of JSON and YAML survive anything", () => {
  const names = ["auths", "auth", "username", "identitytoken", "credHelpers", "__proto__", "providers", "a"];
  const keys = fc.constantFrom(...names);
  const leaf = fc.oneof(fc.string(), fc.integer(), fc.constant(null));
  const { tree } = fc.letrec<{ readonly tree: unknown }>((tie) => ({
    tree: fc.oneof({ maxDepth: 5 }, leaf, fc.array(tie("tree")), fc.dictionary(keys, tie("tree"))),
  }));
  // Every parser has the same texts: making them takes longer than parsing.
  fc.assert(fc.property(tree, fc.string(), (value, text) => {
    const document = JSON.stringify(value);
    for (const parse of Object.values(JSON_PARSERS)) {
      parse(document);
      parse(text);
    }
  }));
});

for (const [name, parse] of Object.entries(JSON_PARSERS)) {
  Deno.test(`the parser of ${name} does not hang over a megabyte of anything`, () => {
    const startedMs = performance.now();
    for (const part of ["[", '{"a":', '"', "\\", "{}", " ", "a: ", "- ", "\n", "&a ", '"a":1,', "!!x "]) {
      parse(part.repeat(Math.floor(1_000_000 / part.length)));
    }
    assert.ok(performance.now() - startedMs < 20_000, `${performance.now() - startedMs} ms`);
  });
}
