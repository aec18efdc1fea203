import assert from "node:assert/strict";
import { runUpgrade } from "../../../lib/cli/upgrade.ts";
import { type KubeObject, Resource } from "../../../lib/k8s/types.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import { type MemoryCall, MemoryCluster } from "../../support/memory_kube_api.ts";
import { type Ran, recordingTerminal } from "./support.ts";
import { UPGRADERS } from "../../../lib/upgrades/decide/steps/upgraders.ts";
import { NAMESPACE, putSettings } from "../../controllers/upgrades/make.ts";

const STEP = { type: "UpgradeCommenced", status: "True", reason: "r", message: "UpgradeCommenced is completed" };

function plan(
  spec: Readonly<Record<string, unknown>> = {},
  status: Readonly<Record<string, unknown>> = {},
): KubeObject {
  const desired = { version: "4.20.5", channel: "stable-4.20" };
  return {
    metadata: { name: "managed-upgrade-config", namespace: NAMESPACE, uid: "u" },
    spec: { type: "OSD", upgradeAt: "2026-11-21T15:00:00Z", PDBForceDrainTimeout: 5, desired, ...spec },
    status,
  };
}

function clusterOf(object: KubeObject | undefined, { degraded = false, pausedPool = false } = {}): MemoryCluster {
  const cluster = new MemoryCluster();
  if (object !== undefined) cluster.put(Resource.upgradeConfigs, object);
  putSettings(cluster);
  const conditions = [{ type: "Degraded", status: degraded ? "True" : "False" }];
  cluster.put(Resource.clusterOperators, { metadata: { name: "etcd" }, status: { conditions } });
  cluster.put(Resource.machineConfigPools, { metadata: { name: "worker" }, spec: { paused: pausedPool }, status: {} });
  return cluster;
}

function putConfig(cluster: MemoryCluster, text: string): void {
  const metadata = { namespace: NAMESPACE, name: "managed-upgrade-operator-config" };
  cluster.put(Resource.configMaps, { metadata, data: { "config.yaml": text } });
}

async function run(cluster: MemoryCluster, ...args: readonly string[]): Promise<Ran> {
  const positionals = args.filter((arg) => !arg.startsWith("-"));
  const { terminal, said } = recordingTerminal();
  const options = {
    positionals,
    dryRun: args.includes("--dry-run"),
    output: args.includes("-ojson") ? "json" as const : "table" as const,
  };
  const { signal } = new AbortController();
  const code = await runUpgrade({ api: cluster.api, terminal, clock: new FakeClock(), signal }, options);
  return { code, ...said };
}

Deno.test("upgrade status shows the phase and each step, and answers no when it has failed or there is no plan", async () => {
  const history = [{ version: "4.20.5", phase: "Upgrading", conditions: [STEP] }];
  const going = await run(clusterOf(plan({}, { history })), "status");
  assert.equal(going.code, 0);
  assert.match(going.out, /^Upgrade to 4\.20\.5: Upgrading$/m);
  assert.match(going.out, /^UpgradeCommenced +done/m);
  const over = plan({}, { history: [{ version: "4.20.5", phase: "Failed" }] });
  const failed = await run(clusterOf(over), "status", "-ojson");
  assert.deepEqual([failed.code, JSON.parse(failed.out).phase], [1, "Failed"]);
  const none = await run(clusterOf(undefined), "status");
  assert.deepEqual([none.code, none.out], [1, ""]);
  assert.match(none.err, /there is none in the namespace openshift-managed-upgrade-operator/);
});

Deno.test("upgrade status answers no while the settings are missing or wrong, and says which", async () => {
  const settings = `${NAMESPACE}/managed-upgrade-operator-config`;
  const missing = clusterOf(plan());
  missing.drop(Resource.configMaps, settings);
  const none = await run(missing, "status");
  assert.deepEqual([none.code, /New/.test(none.out)], [1, true]);
  assert.match(none.err, /by the settings: the ConfigMap managed-upgrade-operator-config does not exist\.$/m);
  const broken = clusterOf(plan());
  putConfig(broken, "scale: { timeOut: 0 }");
  const wrong = await run(broken, "status", "-ojson");
  assert.deepEqual([wrong.code, JSON.parse(wrong.out).phase], [1, "New"]);
  assert.match(wrong.err, /scale\.timeOut must be above 0/);
});

Deno.test("upgrade plan reports when it begins, its steps, and what is in the way; it writes nothing", async () => {
  const cluster = clusterOf(plan());
  const before = JSON.stringify([...cluster.objects]);
  const free = await run(cluster, "plan", "-ojson");
  const described = JSON.parse(free.out);
  assert.deepEqual([free.code, described.inTheWay, described.profile], [0, [], "OSD"]);
  assert.deepEqual(described.steps, [...new Set(UPGRADERS.OSD.steps.map(({ id }) => id))]);
  assert.match(described.begins, /^2026-11-21T15:00:00Z, in 3h$/);
  assert.equal(JSON.stringify([...cluster.objects]), before);
  const blocked = await run(clusterOf(plan({ suspend: true }), { degraded: true }), "plan");
  assert.equal(blocked.code, 1);
  assert.match(blocked.out, /^spec\.suspend is true$/m);
  assert.match(blocked.out, /^degraded or unavailable: etcd$/m);
});

Deno.test("upgrade plan of a migration has its own steps, and a paused pool is in its way (N-012)", async () => {
  const desired = { version: "4.20.1", architecture: "Multi" };
  const { code, out } = await run(clusterOf(plan({ desired }), { pausedPool: true }), "plan", "-ojson");
  const { inTheWay, profile } = JSON.parse(out);
  assert.deepEqual([code, profile, inTheWay], [1, "multiarch-migration", ["paused pools: worker"]]);
});

Deno.test("upgrade plan of a migration that is complete keeps its steps and says since when", async () => {
  const desired = { version: "4.20.1", architecture: "Multi" };
  const [startTime, completeTime] = ["2026-11-21T10:00:00Z", "2026-11-21T11:00:00Z"];
  const entry = { ...desired, phase: "Upgraded", profile: "multiarch-migration", startTime, completeTime };
  const { out } = await run(clusterOf(plan({ desired }, { history: [entry] })), "plan", "-ojson");
  const { begins, profile } = JSON.parse(out);
  assert.equal(profile, "multiarch-migration");
  assert.equal(begins, `has begun ${startTime}, is complete since ${completeTime}`);
  const failed = clusterOf(plan({ desired }, { history: [{ ...entry, phase: "Failed" }] }));
  assert.equal(JSON.parse((await run(failed, "plan", "-ojson")).out).begins, "never: it has failed");
});

const IMAGE = `quay.io/openshift-release-dev/ocp-release@sha256:${"2".repeat(64)}`;
const GRAPH_SETTINGS = "configManager: { source: LOCAL }\nvalidation: { cincinnati: true }\n";
const LATE = "2026-11-21T09:00:00Z";
const OVER = `its window after ${LATE} is over`;

const IN_3H = "2026-11-21T15:00:00Z, in 3h";
const CHANNEL = "the update graph, about spec.desired.version in another channel";

interface Described {
  readonly begins: string;
  readonly inTheWay?: readonly string[];
  readonly notAsked?: readonly string[];
}

/** The fake clock says 12:00; the window of the settings is two hours. */
const PLANS: readonly (readonly [string, Parameters<typeof plan>, Described])[] = [
  [
    "an image is left to the upgrade, not an obstacle",
    [{ desired: { image: IMAGE } }],
    { begins: IN_3H, notAsked: ["the registry, about spec.desired.image"] },
  ],
  [
    "another channel is left to the update graph, not an obstacle",
    [{ desired: { version: "4.21.0", channel: "fast-4.21" } }],
    { begins: IN_3H, notAsked: [CHANNEL] },
  ],
  [
    "what needs no reading is an obstacle still",
    [{ desired: { version: "4.19.0", channel: "fast-4.19" } }],
    {
      begins: IN_3H,
      inTheWay: ["spec.desired.version 4.19.0 is older than 4.20.1: downgrades are not supported"],
      notAsked: [CHANNEL],
    },
  ],
  ["a window that is over is in the way", [{ upgradeAt: LATE }], { begins: `never: ${OVER}`, inTheWay: [OVER] }],
  [
    "a migration of type ARO has a window as well",
    [{ type: "ARO", upgradeAt: LATE, desired: { version: "4.20.1", architecture: "Multi" } }],
    { begins: `never: ${OVER}`, inTheWay: [OVER] },
  ],
  ["ARO has no window: it begins late", [{ type: "ARO", upgradeAt: LATE }], { begins: "now" }],
  [
    "an upgrade that has failed is in its own way",
    [{ upgradeAt: LATE }, { history: [{ version: "4.20.5", phase: "Failed" }] }],
    { begins: "never: it has failed", inTheWay: ["it has failed"] },
  ],
  [
    "the version that the cluster has needs nothing, and nothing is in the way",
    [{ upgradeAt: LATE, desired: { version: "4.20.1", channel: "stable-4.20" } }],
    { begins: "not needed, the cluster is at 4.20.1 already" },
  ],
];

for (const [name, given, { begins, inTheWay = [], notAsked = [] }] of PLANS) {
  Deno.test(`upgrade plan: ${name}`, async () => {
    const cluster = clusterOf(plan(...given));
    putConfig(cluster, GRAPH_SETTINGS);
    const { code, out } = await run(cluster, "plan", "-ojson");
    const said = JSON.parse(out);
    assert.deepEqual([said.begins, said.inTheWay, said.notAsked], [begins, inTheWay, notAsked]);
    assert.equal(code, inTheWay.length === 0 ? 0 : 1);
    const text = (await run(cluster, "plan")).out;
    assert.equal(text.includes("Nothing is in the way."), inTheWay.length === 0);
    for (const one of notAsked) assert.ok(text.includes(`Not asked: ${one}.`));
  });
}

Deno.test("upgrade plan: a ClusterVersion that cannot be read is in the way", async () => {
  const cluster = clusterOf(plan());
  cluster.drop(Resource.clusterVersions, "version");
  const { code, out } = await run(cluster, "plan", "-ojson");
  const { begins, inTheWay } = JSON.parse(out);
  assert.deepEqual([code, begins, inTheWay.length], [1, "is not known", 1]);
  assert.match(inTheWay[0], /^the ClusterVersion cannot be read: /);
});

Deno.test("upgrade suspend says that it has no effect once the upgrade has begun or is over", async () => {
  const entry = { version: "4.20.5", conditions: [STEP] };
  const words = async (phase: string): Promise<string> =>
    (await run(clusterOf(plan({}, { history: [{ ...entry, phase }] })), "suspend", "--dry-run")).out;
  assert.match(await words("Upgrading"), /no effect, the ClusterVersion was asked already and the upgrade goes on/);
  assert.match(await words("Upgraded"), /no effect, its upgrade is Upgraded/);
  assert.match((await run(clusterOf(plan()), "suspend", "--dry-run")).out, /would be suspended: nothing begins/);
});

Deno.test("upgrade suspend and resume write spec.suspend; --dry-run does not", async () => {
  const cluster = clusterOf(plan());
  const written: unknown[] = [];
  const note = ({ verb, body }: MemoryCall): void => void (verb === "patch" && written.push(body));
  Object.assign(cluster, { api: cluster.client(note) });
  assert.match((await run(cluster, "suspend", "--dry-run")).out, /would be suspended/);
  assert.deepEqual(written, []);
  assert.equal((await run(cluster, "suspend")).code, 0);
  assert.equal((await run(cluster, "resume")).code, 0);
  assert.deepEqual(written, [
    { kind: "merge", document: { spec: { suspend: true } } },
    { kind: "merge", document: { spec: { suspend: null } } },
  ]);
  assert.equal((await run(clusterOf(undefined), "suspend", "--dry-run")).code, 1);
});
