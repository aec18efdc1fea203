// Invariant 4 against a real API server: a pod that it accepts as it is, it accepts with Archway's patch as well. The pods
// are generated at the limits of what the API server validates, and beyond them.
import assert from "node:assert/strict";
import fc from "fast-check";
import { judgeAdmission } from "../../lib/placement/decide/gate.ts";
import { makeSettings } from "../../lib/placement/decide/config/types.ts";
import { admissionPatch } from "../../lib/placement/decide/patch/admission_patch.ts";
import {
  admissionFacts,
  applied,
  ARCH,
  cluster,
  configs,
  container,
  fact,
  type Json,
  nodeAffinity,
  podOf,
  preferredTerm,
  REQUIRED,
  term,
  weigh,
} from "../lib/placement/decide/make.ts";
import { type SharedControlPlane, sharedControlPlane } from "./support/shared_control_plane.ts";

/** What the API server accepts at most, keys and values together. */
const ANNOTATION_LIMIT = 262_144;

const annotations = fc.oneof(
  fc.constant({}),
  fc.integer({ min: ANNOTATION_LIMIT - 3_000, max: ANNOTATION_LIMIT + 5 })
    .map((bytes) => ({ note: "x".repeat(bytes - "note".length) })),
  fc.constantFrom<Json>(
    { "archway.dev/decision": JSON.stringify({ v: 1, d: "place", a: [], i: [] }) },
    { "archway.dev/decision": JSON.stringify({ v: 1, d: "place", a: ["amd64"], i: [] }) },
    { "multiarch.openshift.io/preferred-affinity-sources": "amd64:50:x,,:" },
    { "not a key": "x" },
  ),
);
const labels = fc.constantFrom<Json>(
  {},
  { "multiarch.openshift.io/scheduling-gate": "gated" },
  { "multiarch.openshift.io/amd64": "x".repeat(63) },
  { app: "x".repeat(64) },
);
const requiredTerm = fc.constantFrom<Json>(
  {},
  { matchExpressions: [] },
  { matchFields: [{ key: "metadata.name", operator: "In", values: ["n"] }] },
  term([ARCH, "amd64"]),
  term(["zone", "a"]),
  term(["zone", "not a value!"]),
  { matchExpressions: [{ key: ARCH, operator: "Exists" }] },
  { matchExpressions: [{ key: ARCH, operator: "In", values: [] }] },
  { matchExpressions: [{ key: "cpu", operator: "Gt", values: ["4"] }] },
);
const affinity = fc.oneof(
  fc.constantFrom<Json>({}, { nodeAffinity: {} }, { nodeAffinity: { [REQUIRED]: {} } }, nodeAffinity([])),
  fc.array(requiredTerm, { minLength: 1, maxLength: 3 }).map((terms) => nodeAffinity(terms)),
  fc.constantFrom(1, 100, 0, 101).map((weight) => nodeAffinity(undefined, [preferredTerm(weight, ARCH, "amd64")])),
);
const spec = fc.record({
  affinity,
  nodeSelector: fc.constantFrom({}, { [ARCH]: "arm64" }, { [ARCH]: "not a value!" }),
  schedulingGates: fc.constantFrom([], [{ name: "example.com/kueue" }], [{ name: "a" }, { name: "a" }]),
  tolerations: fc.constantFrom([], [{ operator: "Exists" }], [{ key: ARCH, operator: "Equal", value: "amd64" }]),
  nodeName: fc.constantFrom("", "some-node"),
  os: fc.constantFrom({ name: "linux" }, { name: "windows" }),
}, { requiredKeys: [] });

const SETTINGS = makeSettings({ archTaints: [{ key: ARCH, effect: "NoSchedule", architectures: undefined }] });
const CONFIGS = configs(cluster({ platforms: [weigh("arm64", 50), weigh("s390x", 5)], fallback: "amd64" }));

async function statusOf(plane: SharedControlPlane, namespace: string, raw: Json): Promise<number> {
  const answer = await plane.request("POST", `/api/v1/namespaces/${namespace}/pods?dryRun=All`, raw);
  return answer.status;
}

Deno.test("a real API server accepts with Archway's patch every pod that it accepts without", async () => {
  await using plane = await sharedControlPlane();
  const namespace = await plane.createNamespace("acceptance");
  const counts = { accepted: 0, refused: 0 };
  const scenes = fc.sample(fc.record({ annotations, labels, spec }), { numRuns: 150, seed: 11 });
  for (const { spec, ...metadata } of scenes) {
    const raw: Json = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { generateName: "p-", namespace, ...metadata },
      spec: { ...spec, containers: [{ ...container("multi"), name: "c" }] },
    };
    const plain = await statusOf(plane, namespace, raw);
    counts[plain === 201 ? "accepted" : "refused"]++;
    if (plain !== 201) continue;
    const pod = podOf(raw);
    for (const [known, mayGate] of [[undefined, true], [undefined, false], [[fact("multi")], true]] as const) {
      const facts = admissionFacts(pod, { configs: CONFIGS, settings: SETTINGS, known, mayGate });
      const patch = admissionPatch(pod, judgeAdmission(facts));
      assert.equal(await statusOf(plane, namespace, applied(raw, patch)), 201, JSON.stringify({ spec, patch }));
    }
  }
  assert.ok(counts.accepted > 20 && counts.refused > 20, JSON.stringify(counts));
});
