import assert from "node:assert/strict";
import { parsePod } from "../../../../../lib/placement/decide/pod/pod_view.ts";
import { make } from "../make.ts";

Deno.test("parsePod() takes the namespace of the admission request before the object's", () => {
  assert.equal(parsePod(make.pod(), { namespace: "asked" })?.namespace, "asked");
  assert.equal(parsePod(make.pod())?.namespace, "test-namespace");
});

Deno.test("parsePod() keeps unknown members of required terms, and only its own annotations", () => {
  const odd = { ...make.term(["a", "b"]), future: { x: 1 } };
  const annotations = {
    "archway.dev/decision": "{}",
    "kubectl.kubernetes.io/last-applied-configuration": "x".repeat(1_000),
  };
  const pod = make.view(make.pod({ affinity: make.nodeAffinity([odd]) }, { annotations }));
  assert.deepEqual(pod.requiredTerms, [odd]);
  assert.deepEqual(Object.keys(pod.annotations ?? {}), ["archway.dev/decision"]);
});

Deno.test("parsePod() distinguishes an absent object from an empty one", () => {
  assert.equal(make.view(make.pod()).annotations, undefined);
  assert.deepEqual({ ...make.view(make.pod({}, { annotations: {} })).annotations }, {});
  assert.equal(make.view(make.pod({}, { labels: null })).labels, undefined);
});

Deno.test("parsePod() reads odd members as absent and never fails", () => {
  const hostile: readonly unknown[] = [null, 7, "x", true, [], [null, 7, [], "x"], {}, { x: 1 }];
  for (const odd of hostile) {
    const spec = Object.fromEntries(
      [
        "containers",
        "initContainers",
        "volumes",
        "affinity",
        "nodeSelector",
        "schedulingGates",
        "tolerations",
        "imagePullSecrets",
        "os",
        "nodeName",
      ].map((name) => [name, odd]),
    );
    const metadata = { labels: odd, annotations: odd, ownerReferences: odd, name: odd, creationTimestamp: odd };
    const pod = parsePod({ kind: "Pod", metadata, spec, status: odd });
    assert.ok(pod !== undefined);
    assert.equal(pod.isDaemonSetControlled, false);
    assert.equal(pod.createdMs, undefined);
  }
  assert.ok(parsePod({ spec: {} }) !== undefined, "a pod without metadata");
});

Deno.test("parsePod() does not follow prototypes that hostile JSON names", () => {
  const raw: unknown = JSON.parse(
    '{"metadata":{"labels":{"__proto__":"x","constructor":7}},"spec":{"__proto__":{"nodeName":"n"},"nodeSelector":{"__proto__":{"kubernetes.io/arch":"amd64"}}}}',
  );
  const pod = make.view(raw);
  assert.equal(pod.nodeName, "");
  assert.equal(Object.hasOwn(pod.nodeSelector ?? {}, "kubernetes.io/arch"), false);
  assert.equal(({} as Record<string, unknown>).nodeName, undefined);
});

Deno.test("parsePod() takes the first 32 distinct pull secrets", () => {
  const imagePullSecrets = Array.from({ length: 50_000 }, (_, at) => ({ name: `s${Math.floor(at / 2)}` }));
  const pod = make.view(make.pod({ imagePullSecrets: [{}, { name: "" }, ...imagePullSecrets] }));
  assert.deepEqual(pod.imagePullSecrets, Array.from({ length: 32 }, (_, at) => `s${at}`));
});
