import assert from "node:assert/strict";
import { renderTime } from "../../lib/vocabulary/time.ts";
import { parse } from "yaml";
import {
  type HistoryEntry,
  parseDeliveries,
  parseUpgradeStatus,
  renderStatus,
  type UpgradeStatus,
} from "../../lib/upgrades/decide/types/plan.ts";
import { expectStatus, read } from "./support/cluster_access.ts";
import { bareControlPlane, type SharedControlPlane } from "./support/shared_control_plane.ts";
import { waitUntil } from "./support/wait.ts";

const DEFINITION = new URL("../../manifests/components/upgrades/crd.yaml", import.meta.url);
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?fieldValidation=Strict";
const PLANS = "/apis/upgrade.managed.openshift.io/v1alpha1/namespaces/default/upgradeconfigs";

type Json = Readonly<Record<string, unknown>>;

async function startWithDefinition(): Promise<SharedControlPlane> {
  const cluster = await bareControlPlane();
  const definition: unknown = parse(await Deno.readTextFile(DEFINITION));
  await cluster.create(DEFINITIONS, definition);
  await waitUntil("the plans to be served", () => cluster.exists(PLANS));
  return cluster;
}

function plan(overrides: Json = {}, name = "managed-upgrade-config"): Json {
  const desired = { version: "4.17.2", channel: "stable-4.17" };
  const spec = { desired, upgradeAt: "2026-03-01T20:00:00Z", type: "OSD", PDBForceDrainTimeout: 60, ...overrides };
  return { apiVersion: "upgrade.managed.openshift.io/v1alpha1", kind: "UpgradeConfig", metadata: { name }, spec };
}

const MULTI = { version: "4.17.2", architecture: "Multi" } as const;
const NO_VERSION = { desired: { architecture: "Multi" } };
const NOTHING = { desired: { channel: "stable-4.17" } };
const SMOKE = { smoke: { machineSetTemplate: "arm" } };
const CONTRARY = { capacityReservation: true, capacity: { enabled: false } };
const IMAGE = `quay.io/a/b@sha256:${"0".repeat(64)}`;
const ROWS: readonly (readonly [string, Json, RegExp | "accepted"])[] = [
  ["a plan of the Managed Upgrade Operator", { capacityReservation: true }, "accepted"],
  ["a plan of ARO", { type: "ARO" }, "accepted"],
  ["an image instead of a version", { desired: { image: IMAGE } }, "accepted"],
  ["every field that is new", {
    ...{ desired: MULTI, suspend: true, drain: { mode: "DeleteAndStripFinalizers" } },
    capacity: { enabled: true, pools: ["gpu-*"], timeoutMinutes: 5, onTimeout: "Fail" },
    smoke: { machineSetTemplate: "arm", timeoutMinutes: 15 },
  }, "accepted"],
  ["a time with an offset", { upgradeAt: "2026-03-01T20:00:00.5+01:00" }, "accepted"],
  ["N-001 architecture and image", { desired: { ...MULTI, image: IMAGE } }, /cannot set both Architecture and Image/],
  ["N-002 architecture without version", NO_VERSION, /Version must be set if Architecture is set/],
  ["neither version nor image", NOTHING, /set desired\.version and desired\.channel, or desired\.image/],
  ["another architecture", { desired: { version: "4.17.2", architecture: "arm64" } }, /Unsupported value: "arm64"/],
  ["a version that is none", { desired: { version: "latest" } }, /must be a semantic version, such as 4\.17\.3/],
  ["M-393 (different: it is refused before it could be measured) a start that is no time", {
    upgradeAt: "2025-02-25 15:00",
  }, /must be a time of RFC 3339/],
  ["a negative drain time", { PDBForceDrainTimeout: -1 }, /should be greater than or equal to 0/],
  ["another type", { type: "ROSA" }, /Unsupported value: "ROSA"/],
  ["a smoke test without a migration", SMOKE, /set desired\.architecture to Multi, or remove smoke/],
  ["capacity that contradicts itself", CONTRARY, /capacity\.enabled and capacityReservation contradict each other/],
  ["another mode of drains", { drain: { mode: "Force" } }, /Unsupported value: "Force"/],
];

const [FIRST = "", SECOND = "", THIRD = "", FOURTH = ""] = [1_000, 2_000, 3_000, 4_000].map(renderTime);
const FULL: HistoryEntry = {
  ...{ ...MULTI, precedingVersion: "4.17.2", phase: "Upgrading", profile: "multiarch-migration" },
  ...{ startTime: FIRST, completeTime: SECOND, workerStartTime: THIRD, workerCompleteTime: FOURTH },
  conditions: [{
    ...{ type: "ControlPlaneUpgraded", status: "False", reason: "r", message: "m" },
    ...{ lastProbeTime: FIRST, lastTransitionTime: SECOND, startTime: THIRD, completeTime: FOURTH },
  }],
  notifications: [{ state: "StateStarted", sentTime: FIRST }],
  baseline: { image: "i", operatorImages: { etcd: "e" }, renderedConfigs: { worker: "r" } },
};
const STATUS: UpgradeStatus = {
  history: [FULL],
  conditions: [{
    ...{ type: "MultiArchCapable", status: "True", reason: "Migrated", message: "m" },
    ...{ lastTransitionTime: FIRST, observedGeneration: 1 },
  }],
};
const DELIVERIES = [{ id: "u/4.17.2/StateStarted", sinks: ["event", "service log"] }];

Deno.test("the CRD of UpgradeConfig on a real API server", async (t) => {
  await using cluster = await startWithDefinition();
  for (const [name, overrides, expected] of ROWS) {
    await t.step(`${name}: ${expected === "accepted" ? expected : "refused"}`, async () => {
      const answer = await cluster.request("POST", `${PLANS}?dryRun=All&fieldValidation=Strict`, plan(overrides));
      if (expected === "accepted") return expectStatus(name, answer, [201]);
      assert.equal(answer.status, 422);
      assert.match(String(read(answer.body, "message")), expected);
    });
  }
  await t.step("a status is stored as it was rendered: nothing of it is pruned", async () => {
    await cluster.create(PLANS, plan());
    const status = { ...renderStatus(STATUS), deliveries: DELIVERIES };
    const path = `${PLANS}/managed-upgrade-config`;
    await cluster.patch(`${path}/status`, { status });
    const stored = read(await cluster.get(path), "status");
    assert.deepEqual(stored, status);
    assert.deepEqual(parseUpgradeStatus(stored), STATUS);
    assert.deepEqual(parseDeliveries(stored), DELIVERIES);
  });
  await t.step("kubectl shows version, phase and the step that was started last", async () => {
    const stdout = await cluster.run(["get", "upgrade", "managed-upgrade-config", "-n", "default"]);
    assert.deepEqual(stdout.trim().split("\n").map((line) => line.split(/\s+/).join(" ")), [
      "NAME DESIRED_VERSION PHASE STAGE STATUS REASON MESSAGE",
      "managed-upgrade-config 4.17.2 Upgrading ControlPlaneUpgraded False r m",
    ]);
  });
});
