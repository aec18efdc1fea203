import assert from "node:assert/strict";
import { missingInputs, OPTIONAL_INPUTS } from "../../../../lib/builds/decide/optional_inputs.ts";
import { parsePodWait, type PodWait } from "../../../../lib/builds/decide/parse/shared_objects.ts";
import { listAt, textAt } from "../../../../lib/json.ts";
import type { KubeObject } from "../../../../lib/k8s/types.ts";
import { IDS } from "./make.ts";
import { building, podOf, Simulator } from "./simulator.ts";

const [ENTITLEMENTS = assert.fail(), , KEYS = assert.fail()] = OPTIONAL_INPUTS;
const VOLUMES = [
  { name: "done", emptyDir: {} },
  { name: "etc-pki-entitlement", secret: { secretName: "etc-pki-entitlement-worker" } },
  { name: "etc-yum-repos-d", configMap: { name: "etc-yum-repos-d" } },
];
const MOUNTED = { type: "PodReadyToStartContainers", status: "True" };
const UNSCHEDULABLE = { type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/3 nodes" };

function pod(status: Readonly<Record<string, unknown>>, spec: Readonly<Record<string, unknown>> = {}): KubeObject {
  return { metadata: { name: "p" }, spec, status: { phase: "Pending", ...status } };
}

function waiting(reason: string, message = ""): unknown {
  return { name: "image-build", image: "registry.test/builder:v1", state: { waiting: { reason, message } } };
}

function starting(complaints: readonly string[], volumes: readonly string[] = []): PodWait {
  return { starting: { complaints, volumes } };
}

const ON_NODE = { nodeName: "n1" };
const WAITS: readonly (readonly [what: string, pod: KubeObject, wait: PodWait | undefined])[] = [
  [
    "P-041 no node takes",
    pod({ conditions: [UNSCHEDULABLE] }, { volumes: VOLUMES }),
    { unschedulable: "0/3 nodes" },
  ],
  ["runs", pod({ phase: "Running", conditions: [UNSCHEDULABLE] }), undefined],
  ["no scheduler has looked at", pod({}, { volumes: VOLUMES }), undefined],
  ["has begun on its node", pod({ initContainerStatuses: [waiting("PodInitializing")] }, ON_NODE), undefined],
  [
    "O-152 mounts what may be gone",
    pod({ initContainerStatuses: [waiting("PodInitializing")] }, { ...ON_NODE, volumes: VOLUMES }),
    starting([], ["etc-pki-entitlement", "etc-yum-repos-d"]),
  ],
  ["has it all mounted", pod({ conditions: [MOUNTED] }, { ...ON_NODE, volumes: VOLUMES }), undefined],
  [
    "O-152 is not configured as it should be",
    pod({ initContainerStatuses: [waiting("CreateContainerConfigError", 'secret "x" not found')] }, ON_NODE),
    starting(['CreateContainerConfigError: secret "x" not found']),
  ],
  ...["ErrImagePull", "ImagePullBackOff"].map((reason) =>
    [
      `has no image (${reason})`,
      pod({ containerStatuses: [waiting(reason, "a long story")], conditions: [MOUNTED] }, {
        ...ON_NODE,
        volumes: VOLUMES,
      }),
      starting(["the image registry.test/builder:v1 cannot be pulled"]),
    ] as const
  ),
];

for (const [what, given, wait] of WAITS) {
  Deno.test(`${what.replace(IDS, "$&parsePodWait() of a pod that ")}: ${Object.keys(wait ?? {})[0] ?? "nothing"}`, () => {
    assert.deepEqual(parsePodWait(given), wait);
  });
}

Deno.test("O-152 missingInputs() names what a pod mounts and is not there, and nothing else", () => {
  const volumes = ["etc-pki-entitlement", "etc-yum-repos-d", "etc-pki-rpm-gpg"];
  const pool = "worker";
  assert.deepEqual(missingInputs(volumes, { pool, optional: [] }), [
    'secret "etc-pki-entitlement-worker"',
    'ConfigMap "etc-yum-repos-d"',
    'secret "etc-pki-rpm-gpg"',
  ]);
  assert.deepEqual(missingInputs(volumes, { pool, optional: [ENTITLEMENTS, KEYS] }), ['ConfigMap "etc-yum-repos-d"']);
  assert.deepEqual(missingInputs([], { pool, optional: [] }), []);
});

function arm64(bed: Simulator): readonly string[] {
  const one = bed.recorded("arm64");
  return [textAt(one, "state"), textAt(one, "message")];
}

Deno.test("O-152 a pod cannot start for a secret that is gone: said once, waited for, and forgotten when it starts", () => {
  const bed = new Simulator();
  bed.optional = [ENTITLEMENTS];
  bed.settle({ run: false });
  const job = bed.jobOf("arm64");
  assert.ok(listAt(podOf(job), "volumes")?.some((volume) => textAt(volume, "name") === "etc-pki-entitlement"));
  bed.starting.set("arm64", { complaints: [], volumes: ["etc-pki-entitlement"] });
  bed.setJob(job, { active: 1 });
  bed.settle({ run: false });
  assert.deepEqual(arm64(bed), ["Building", ""], "while it is there nothing is said");
  bed.optional = [];
  bed.reset();
  for (let minutes = 0; minutes < 3; minutes++) {
    bed.settle({ run: false });
    bed.nowMs += 60_000;
  }
  const message = `The pod of Job "${job.metadata.name}" cannot start: secret "etc-pki-entitlement-worker" is gone.`;
  assert.deepEqual(arm64(bed), ["Building", message]);
  assert.deepEqual(
    bed.events.map(({ type, reason, message }) => [type, reason, message]),
    [["Warning", "ArchBuildWaiting", `arm64: ${message}`]],
  );
  assert.equal(bed.condition(bed.build(), "Building")?.message, `arm64: ${message}`);
  assert.deepEqual(bed.made, [], "no other Job is made");
  bed.starting.clear();
  bed.settle({ run: false });
  assert.deepEqual(arm64(bed), ["Building", ""]);
  assert.equal(bed.condition(bed.build(), "Building")?.message, "Image Build In Progress");
});

Deno.test("O-152 what was not complained about is looked at again, because no watch shows that a secret goes", () => {
  const bed = building();
  bed.starting.set("arm64", { complaints: [], volumes: ["etc-pki-rpm-gpg"] });
  bed.optional = [KEYS];
  bed.setJob(bed.jobOf("arm64"), { active: 1 });
  bed.settle({ run: false });
  const { wakeAtMs = Infinity } = bed.decide();
  assert.ok(wakeAtMs - bed.nowMs <= 30_000);
});
