import assert from "node:assert/strict";
import type { KubeApi } from "../../lib/k8s/api.ts";
import { ApiError } from "../../lib/k8s/api_error.ts";
import { type KubeObject, Resource } from "../../lib/k8s/types.ts";
import { PodAnnotation } from "../../lib/names.ts";
import { renderRecord } from "../../lib/placement/decide/pod/record.ts";
import { Upgrades } from "../../lib/upgrades/names.ts";
import { type MemoryCall, MemoryCluster, refusing } from "../support/memory_kube_api.ts";
import { checkCapabilities } from "./capabilities.ts";
import { makeDeps } from "./make_deps.ts";
import type { CheckOutcome } from "./outcome.ts";

interface World {
  readonly args?: readonly string[];
  readonly events?: readonly string[];
  readonly tolerations?: readonly unknown[];
  readonly fill?: (cluster: MemoryCluster) => void;
  readonly before?: (call: MemoryCall, cluster: MemoryCluster) => void;
  readonly patch?: KubeApi["patch"];
}

/** What is seen by all four checks, in their order. */
async function look({ tolerations = [], fill, before, patch, ...seen }: World): Promise<readonly CheckOutcome[]> {
  const memory = new MemoryCluster();
  fill?.(memory);
  const architectures = ["amd64", "arm64"];
  const record = renderRecord({ version: 1, decision: "place", architectures, images: [], omitted: 0 });
  const pod: KubeObject = {
    metadata: { name: "placed-0", annotations: { [PodAnnotation.decision]: record } },
    spec: { tolerations },
    status: { conditions: [{ type: "PodScheduled", status: "True" }] },
  };
  const client = memory.client((call) => before?.(call, memory));
  const api = patch === undefined ? client : { ...client, patch };
  return await checkCapabilities(makeDeps({ ...seen, pod, api }));
}

const TAINTED = (cluster: MemoryCluster): void =>
  cluster.put(Resource.nodes, {
    metadata: { name: "n1", labels: { "kubernetes.io/arch": "arm64" } },
    spec: { taints: [{ key: "supported-arch", value: "arm64", effect: "NoSchedule" }] },
  });

const CLUSTER_VERSION = (cluster: MemoryCluster): void =>
  cluster.put(Resource.clusterVersions, { metadata: { name: "version" }, status: { desired: { version: "4.20.1" } } });

const PLANNED = (cluster: MemoryCluster): void => {
  CLUSTER_VERSION(cluster);
  cluster.put(Resource.upgradeConfigs, { metadata: { name: Upgrades.config, namespace: Upgrades.namespace } });
};

const NO_NODES = refusing(403, ({ plural }) => plural === "nodes");
const NO_PLANS = refusing(404, ({ verb, plural }) => verb === "patch" && plural === "upgradeconfigs");

function pool(machineCount: number): (cluster: MemoryCluster) => void {
  return (cluster) => {
    cluster.put(Resource.machineConfigPools, {
      metadata: { name: "empty", annotations: { "archway.dev/architectures": "amd64,arm64" } },
      status: { machineCount },
    });
    cluster.put(Resource.machineOsConfigs, {
      metadata: { name: "empty" },
      spec: { machineConfigPool: { name: "empty" } },
      status: { currentImagePullSpec: "r.test/os@sha256:old" },
    });
  };
}

/** Another image is there once a rebuild was asked for. */
function build({ verb, plural }: MemoryCall, cluster: MemoryCluster): void {
  if (verb !== "patch" || plural !== "machineosconfigs") return;
  const config = cluster.find(plural, "empty") ?? assert.fail();
  cluster.put(Resource.machineOsConfigs, { ...config, status: { currentImagePullSpec: "r.test/os@sha256:new" } });
}

const BUILD = ["--build-config=empty"];
const WRONG = ["--wrong-image=r.test/wrong:v1"];
const TOLERATES = [{ key: "supported-arch", operator: "Equal", value: "arm64", effect: "NoSchedule" }];

const TOLD = { args: WRONG, events: ["Warning ExecFormatError it"] };
const TOLD_OF_ANOTHER = { args: WRONG, events: ["Warning BackOff it"] };
const TOLERATED = { fill: TAINTED, tolerations: TOLERATES };

const ROWS: readonly (readonly [what: string, at: number, world: World, result: string, detail: RegExp])[] = [
  ["no node has a taint", 0, {}, "skipped", /--arch-taints is off/],
  ["a taint is tolerated", 0, TOLERATED, "passed", /^supported-arch=arm64, on 1 nodes$/],
  ["a taint is not tolerated", 0, { fill: TAINTED }, "failed", /does not tolerate supported-arch=arm64 of n1/],
  ["nodes may not be listed", 0, { before: NO_NODES }, "skipped", /away\. The rights that are needed/],
  ["no wrong image is named", 1, {}, "skipped", /--wrong-image REF/],
  ["the error is told of", 1, TOLD, "passed", /ExecFormatError it/],
  ["the error is not told of", 1, TOLD_OF_ANOTHER, "failed", /No event ExecFormatError/],
  ["it is no OpenShift", 2, {}, "skipped", /no OpenShift cluster/],
  ["upgrades are not installed", 2, { fill: CLUSTER_VERSION, before: NO_PLANS }, "skipped", /the component upgrades/],
  ["there is a plan", 2, { fill: PLANNED }, "skipped", /archway upgrade plan shows/],
  ["no MachineOSConfig is named", 3, {}, "skipped", /--build-config NAME/],
  ["it does not exist", 3, { args: BUILD }, "skipped", /There is no MachineOSConfig empty/],
  ["its pool has nodes", 3, { args: BUILD, fill: pool(2), before: build }, "skipped", /which would restart/],
  ["its image is built", 3, { args: BUILD, fill: pool(0), before: build }, "passed", /sha256:new for amd64,arm64$/],
  ["its image is not built", 3, { args: BUILD, fill: pool(0) }, "failed", /No other image was published/],
];

for (const [what, at, world, result, detail] of ROWS) {
  Deno.test(`checkCapabilities() where ${what}: ${result}`, async () => {
    const seen = (await look(world))[at] ?? assert.fail();
    assert.equal(seen.result, result, seen.detail);
    assert.match(seen.detail, detail);
  });
}

const DRY_RUNS = [["the webhook denies it", true, "passed"], ["it is taken", false, "failed"]] as const;
for (const [what, refusesOld, result] of DRY_RUNS) {
  Deno.test(`checkCapabilities() of plans, by dry runs of which one is for an old version and ${what}: ${result}`, async () => {
    const asked: unknown[] = [];
    const patch: KubeApi["patch"] = (type, _target, { body, isDryRun }) => {
      const { version } = Object(body).document.spec.desired;
      asked.push([type.plural, version, isDryRun]);
      if (version !== "0.0.1" || !refusesOld) return Promise.resolve({ metadata: { name: Upgrades.config } });
      const message = 'admission webhook "plans" denied the request: it is older';
      return Promise.reject(new ApiError(message, { status: 403, reason: "Forbidden" }));
    };
    const outcome = (await look({ fill: CLUSTER_VERSION, patch }))[2];
    assert.equal(outcome?.result, result, JSON.stringify(outcome));
    assert.deepEqual(asked, [["upgradeconfigs", "4.20.1", true], ["upgradeconfigs", "0.0.1", true]]);
  });
}
