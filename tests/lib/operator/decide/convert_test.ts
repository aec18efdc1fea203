import assert from "node:assert/strict";
import fc from "fast-check";
import { convertObject } from "../../../../lib/operator/decide/convert.ts";
import { type JsonObject, memberOf, objectAt } from "../../../../lib/json.ts";
import { FALLBACK_ANNOTATION, STASH_ANNOTATION } from "../../../../lib/names.ts";

const ALPHA = "multiarch.openshift.io/v1alpha1";
const BETA = "multiarch.openshift.io/v1beta1";

function makeConfig(apiVersion: string, rest: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  const own = { name: "cluster", uid: "u-1", ...metadata };
  return { apiVersion, kind: "ClusterPodPlacementConfig", metadata: own, ...rest };
}

function convert(object: JsonObject, desired: string): JsonObject {
  const conversion = convertObject(object, desired);
  assert.equal(conversion.kind, "ok");
  return conversion.kind === "ok" ? conversion.object : {};
}

function annotationOf(object: JsonObject, key: string): unknown {
  return memberOf(objectAt(objectAt(object, "metadata"), "annotations"), key);
}

const SCORING = { nodeAffinityScoring: { enabled: true, platforms: [{ architecture: "arm64", weight: 50 }] } };

Deno.test("183 convertObject() shows v1alpha1 only what v1alpha1 defines when the config has plugins", () => {
  const beta = makeConfig(BETA, { spec: { logVerbosity: "Normal", fallbackArchitecture: "", plugins: SCORING } });
  assert.deepEqual(convert(beta, ALPHA).spec, { logVerbosity: "Normal" });
});

Deno.test("184 convertObject() leaves plugins away and the fallback empty when a plain v1alpha1 config comes in", () => {
  const alpha = makeConfig(ALPHA, { spec: { logVerbosity: "Normal" } });
  assert.deepEqual(convert(alpha, BETA).spec, { logVerbosity: "Normal", fallbackArchitecture: "" });
});

Deno.test("185 222 convertObject() carries the fallback in the annotation, and drops it when it was cleared", () => {
  const alpha = convert(makeConfig(BETA, { spec: { fallbackArchitecture: "amd64" } }), ALPHA);
  assert.equal(annotationOf(alpha, FALLBACK_ANNOTATION), "amd64");
  assert.equal(memberOf(convert(alpha, BETA).spec, "fallbackArchitecture"), "amd64");
  const cleared = convert(makeConfig(BETA, { spec: { fallbackArchitecture: "" } }), ALPHA);
  assert.equal(annotationOf(cleared, FALLBACK_ANNOTATION), undefined);
});

Deno.test("222 convertObject() keeps the plugins when someone writes through v1alpha1", () => {
  const alpha = convert(makeConfig(BETA, { spec: { logVerbosity: "Normal", plugins: SCORING } }), ALPHA);
  const edited = { ...alpha, spec: { ...objectAt(alpha, "spec"), logVerbosity: "Debug" } };
  assert.deepEqual(convert(edited, BETA).spec, { logVerbosity: "Debug", fallbackArchitecture: "", plugins: SCORING });
  assert.equal(annotationOf(convert(edited, BETA), STASH_ANNOTATION), undefined);
});

Deno.test("convertObject() ignores a fallback annotation that names no architecture and leaves it to be seen", () => {
  const alpha = makeConfig(ALPHA, { spec: {} }, { annotations: { [FALLBACK_ANNOTATION]: "arm32" } });
  const beta = convert(alpha, BETA);
  assert.equal(memberOf(beta.spec, "fallbackArchitecture"), "");
  assert.equal(annotationOf(beta, FALLBACK_ANNOTATION), "arm32");
});

Deno.test("convertObject() counts a stash as empty when someone made it unreadable", () => {
  for (const stash of ["{", "[]", "1", '{"spec":[]}', ""]) {
    const stashed = { annotations: { [STASH_ANNOTATION]: stash } };
    const alpha = makeConfig(ALPHA, { spec: { logVerbosity: "Trace" } }, stashed);
    const beta = convert(alpha, BETA);
    assert.deepEqual(beta.spec, { logVerbosity: "Trace", fallbackArchitecture: "" });
    assert.equal(memberOf(beta.metadata, "annotations"), undefined);
  }
});

Deno.test("convertObject() fails when version or kind is not one it converts", () => {
  const rows: readonly (readonly [unknown, string])[] = [
    [makeConfig(BETA), BETA],
    [makeConfig(ALPHA), ALPHA],
    [makeConfig("multiarch.openshift.io/v1"), BETA],
    [makeConfig(BETA), "multiarch.openshift.io/v2"],
    [{ ...makeConfig(BETA), kind: "PodPlacementConfig" }, ALPHA],
  ];
  for (const [object, desired] of rows) assert.equal(convertObject(object, desired).kind, "failed");
});

const text = fc.string({ maxLength: 8 });
const architecture = fc.constantFrom("amd64", "arm64", "ppc64le", "s390x", "");
const odd = fc.oneof(architecture, text, fc.integer(), fc.constant(null));
const annotations = fc.dictionary(fc.oneof(text, fc.constant(FALLBACK_ANNOTATION)), text, { minKeys: 1, maxKeys: 3 })
  .filter((map) => !Object.hasOwn(map, STASH_ANNOTATION));
/** A v1beta1 config as the API server returns it: with a spec, its defaults are there. */
const betaConfig = fc.record({
  spec: fc.option(
    fc.record({
      logVerbosity: fc.constantFrom("Normal", "Debug", "Trace", "TraceAll"),
      namespaceSelector: fc.dictionary(text, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
      plugins: fc.jsonValue({ maxDepth: 3 }),
      futureMember: fc.jsonValue({ maxDepth: 2 }),
    }, { requiredKeys: [] }).chain((spec) => odd.map((fallbackArchitecture) => ({ ...spec, fallbackArchitecture }))),
    { nil: undefined },
  ),
  status: fc.option(fc.jsonValue({ maxDepth: 3 }), { nil: undefined }),
  annotations: fc.option(annotations, { nil: undefined }),
  labels: fc.option(fc.dictionary(text, text, { maxKeys: 2 }), { nil: undefined }),
}).map(({ spec, status, ...metadata }) => JSON.parse(JSON.stringify(makeConfig(BETA, { spec, status }, metadata))));

Deno.test("property: convertObject() from v1beta1 to v1alpha1 and back loses nothing", () => {
  fc.assert(
    fc.property(betaConfig, (beta) => {
      const alpha = convert(beta, ALPHA);
      for (const name of Object.keys(objectAt(alpha, "spec") ?? {})) {
        assert.ok(["logVerbosity", "namespaceSelector"].includes(name), name);
      }
      assert.deepEqual(convert(JSON.parse(JSON.stringify(alpha)), BETA), beta);
    }),
    { numRuns: 500 },
  );
});

Deno.test("property: convertObject() never throws, whatever the object", () => {
  fc.assert(fc.property(fc.jsonValue(), fc.oneof(fc.constantFrom(ALPHA, BETA), fc.string()), (object, desired) => {
    assert.equal(convertObject(object, desired).kind, "failed");
  }));
});
