import assert from "node:assert/strict";
import fc from "fast-check";
import {
  decodeDataUrl,
  parseBuildNode,
  parseBuildPool,
  parseRenderedConfig,
} from "../../../../../lib/builds/decide/parse/machine_config.ts";
import { parseBuildJob, parseDigestMap } from "../../../../../lib/builds/decide/parse/job.ts";
import { parseMachineOSBuild, parseMachineOSConfig } from "../../../../../lib/builds/decide/parse/machine_os_config.ts";
import { canonicaliseSecret, stateOfSecret } from "../../../../../lib/builds/decide/parse/secret.ts";
import type { KubeObject } from "../../../../../lib/k8s/types.ts";
import { rawRendered, renderedOf, valueOf } from "../make.ts";

Deno.test("parsers of the upstream kinds throw for nothing", () => {
  const object = fc.record({ metadata: fc.constant({ name: "x" }), spec: fc.anything(), status: fc.anything() });
  fc.assert(
    fc.property(object, (value) => {
      assert.ok(["parsed", "unparsable"].includes(parseBuildPool(value).kind));
      for (const parse of [parseMachineOSConfig, parseMachineOSBuild, parseRenderedConfig]) {
        assert.equal(parse(value).meta.name, "x");
      }
      assert.equal(parseBuildNode(value).name, "x");
      assert.equal(parseBuildJob(value).meta.name, "x");
      assert.equal(parseDigestMap(value).digest.length % 71, 0);
    }),
    { numRuns: 300 },
  );
});

Deno.test("parseRenderedConfig() decodes the two files of containers", () => {
  const object = rawRendered();
  const file = (path: string, source: string): unknown => ({ path, contents: { source } });
  const files = [
    file("/etc/containers/policy.json", "data:,%7B%22default%22%3A%5B%5D%7D"),
    file("/etc/containers/registries.conf", `data:text/plain;charset=utf-8;base64,${btoa("unqualified = []")}`),
    file("/etc/motd", "data:,hi"),
  ];
  const spec = { ...Object(object.spec), config: { storage: { files } } };
  assert.deepEqual(parseRenderedConfig({ ...object, spec }).files, {
    policy: '{"default":[]}',
    registries: "unqualified = []",
  });
  assert.deepEqual(renderedOf().files, { policy: undefined, registries: undefined });
});

Deno.test("decodeDataUrl() gives nothing for other addresses and broken ones", () => {
  assert.equal(decodeDataUrl("data:,a%20b"), "a b");
  for (const url of ["https://x/", "data:;base64,***", "data:,%", ""]) assert.equal(decodeDataUrl(url), undefined);
});

const DIGEST = `sha256:${"a".repeat(64)}`;

Deno.test("O-060 parseDigestMap() takes white space off, and nothing that is no digest", () => {
  const read = (digest: unknown): string => parseDigestMap({ metadata: { name: "d" }, data: { digest } }).digest;
  assert.deepEqual([read(` ${DIGEST}\n`), read(""), read("sha256:abc"), read(7)], [DIGEST, "", "", ""]);
});

function secret(type: string, key: string, content: string): KubeObject {
  return { metadata: { name: "s" }, type, data: { [key]: btoa(content) } };
}

const AUTHS = '{"auths":{"r.test":{"auth":"eDp5"}}}';

Deno.test("O-032 O-100 canonicaliseSecret() leaves the newer form as it is, and wraps the older one", () => {
  const newer = valueOf(canonicaliseSecret(secret("kubernetes.io/dockerconfigjson", ".dockerconfigjson", AUTHS)));
  assert.equal(newer, btoa(AUTHS));
  const older = valueOf(
    canonicaliseSecret(secret("kubernetes.io/dockercfg", ".dockercfg", '{"r.test":{"auth":"eDp5"}}')),
  );
  assert.deepEqual(JSON.parse(atob(older)), JSON.parse(AUTHS));
});

Deno.test("canonicaliseSecret() reports which secret cannot be used, and nothing of what is in it", () => {
  for (const broken of [secret("Opaque", "x", "HIDDEN"), secret("kubernetes.io/dockercfg", ".dockercfg", "HIDDEN")]) {
    const parsed = canonicaliseSecret(broken);
    assert.ok(parsed.kind === "unparsable");
    assert.match(parsed.fault.message, /^Cannot use secret "s": /);
    assert.ok(!parsed.fault.message.includes("HIDDEN"));
  }
});

Deno.test("O-084 stateOfSecret() distinguishes what is absent from what is no registry secret", () => {
  assert.equal(stateOfSecret(undefined), "absent");
  assert.equal(stateOfSecret(secret("Opaque", ".dockerconfigjson", "{}")), "not for a registry");
  assert.equal(stateOfSecret(secret("kubernetes.io/dockerconfigjson", "other", "{}")), "not for a registry");
  assert.equal(stateOfSecret(secret("kubernetes.io/dockercfg", ".dockercfg", "{}")), "usable");
});
