// The part of an OpenShift cluster that an upgrade reads and changes, on a real API server: ClusterVersion, ClusterOperators,
// pools with nodes, MachineSets. Its operators are loops of this process that write status as the real ones do, with delays and conflicts.
//
//   version is wanted ─▶ all pools get their rendered configuration ─▶ their nodes roll, every pool beside the others
//                                 └─▶ machine-config waits for `master` to be Updated, and for no pool to be degraded ─▶ Completed
//   a node: cordoned, drained, not Ready while it starts anew, Ready, uncordoned
import { type ClusterAccess, expectStatus, isTrue, listAt, read } from "./cluster_access.ts";
import { pause } from "./wait.ts";

export const CLUSTER_VERSION = "/apis/config.openshift.io/v1/clusterversions/version";
const OPERATORS = "/apis/config.openshift.io/v1/clusteroperators";
const MACHINE_CONFIG = `${OPERATORS}/machine-config`;
/** Of the annotations by which the machine config operator leads nodes. */
const MARK = "machineconfiguration.openshift.io";
export const POOLS = "/apis/machineconfiguration.openshift.io/v1/machineconfigpools";
const CONFIGS = "/apis/machineconfiguration.openshift.io/v1/machineconfigs";
export const MACHINE_SETS = "/apis/machine.openshift.io/v1beta1/namespaces/openshift-machine-api/machinesets";
const MACHINES = "/apis/machine.openshift.io/v1beta1/namespaces/openshift-machine-api/machines";
export const PLANS =
  "/apis/upgrade.managed.openshift.io/v1alpha1/namespaces/openshift-managed-upgrade-operator/upgradeconfigs";

/** The version that is there, and the one that is offered. */
export const FROM = "4.20.1";
export const TO = "4.20.5";

export interface SimulationOptions {
  /** Nodes of each pool; `master` is the control plane. */
  readonly pools: Readonly<Record<string, number>>;
  /** Between two steps of an operator (ms). */
  readonly stepMs: number;
  readonly paused?: readonly string[];
  /** Who chooses nodes and writes the status of pools: the loops of this process, or the original's node controller. */
  readonly poolsBy?: "script" | "nodeController";
  /** What a sync of machine-config to this version fails by before it looks at pools; undefined: nothing. */
  readonly failsBefore?: (version: string) => string | undefined;
}

export interface NodeFault {
  readonly node: string;
  /** It does not come back, as its condition `Ready` says; or its update fails, as its pool says. */
  readonly kind: "lost" | "degraded";
  readonly message: string;
}

type Json = Readonly<Record<string, unknown>>;

/** machine-config waits ten minutes for each node of the control plane before it says what it waits for. */
const STEPS_FOR_A_MASTER = 10;

export function imageOf(version: string, architecture = ""): string {
  const digest = `${version}${architecture}`.replaceAll(/[^0-9a-f]/gi, "").padEnd(64, "0").toLowerCase();
  return `quay.io/openshift-release-dev/ocp-release@sha256:${digest}`;
}

/** The rendered configuration of a pool for a release. */
export function renderedOf(pool: string, image: string): string {
  return `rendered-${pool}-${image.slice(-64, -48)}`;
}

async function createObjects(
  cluster: ClusterAccess,
  { pools, paused = [], poolsBy }: SimulationOptions,
): Promise<void> {
  await create(cluster, "/apis/config.openshift.io/v1/clusterversions", {
    ...{ apiVersion: "config.openshift.io/v1", kind: "ClusterVersion", metadata: { name: "version" } },
    spec: { clusterID: "2f9ad1a6-2f3a-4ea0-8b71-0d2a0a7a1f11", channel: "stable-4.20" },
  });
  const offered = [{ version: TO, image: imageOf(TO) }];
  await patchStatus(cluster, CLUSTER_VERSION, {
    ...{ availableUpdates: offered, desired: { version: FROM, image: imageOf(FROM) }, observedGeneration: 1 },
    versionHash: "a",
    conditions: conditions({ Progressing: "False", Available: "True", Failing: "False", ReleaseAccepted: "True" }),
    history: [historyEntry({ version: FROM, image: imageOf(FROM), state: "Completed" })],
  });
  for (const name of ["etcd", "machine-config"]) {
    await create(cluster, OPERATORS, {
      ...{ apiVersion: "config.openshift.io/v1", kind: "ClusterOperator", metadata: { name } },
      spec: {},
    });
    await patchStatus(cluster, `${OPERATORS}/${name}`, operatorStatus(FROM, imageOf(FROM)));
  }
  for (const [pool, count] of Object.entries(pools)) {
    await createPool(cluster, { pool, count, isPaused: paused.includes(pool), poolsBy });
  }
  await create(cluster, MACHINE_SETS, machineSet("workers-a"));
  await patchStatus(cluster, `${MACHINE_SETS}/workers-a`, { replicas: 2, readyReplicas: 2 });
}

async function createPool(
  cluster: ClusterAccess,
  { pool, count, isPaused, poolsBy }:
    & { readonly pool: string; readonly count: number; readonly isPaused: boolean }
    & { readonly poolsBy: SimulationOptions["poolsBy"] },
): Promise<void> {
  const config = `rendered-${pool}-1`;
  await createRendered(cluster, config, imageOf(FROM, "05"));
  for (let at = 1; at <= count; at++) {
    const role = pool === "master" ? "master" : "worker";
    const labels = { "kubernetes.io/arch": "amd64", pool, [`node-role.kubernetes.io/${role}`]: "" };
    const marks = { [`${MARK}/state`]: "Done", [`${MARK}/currentConfig`]: config, [`${MARK}/desiredConfig`]: config };
    const annotations = poolsBy === "nodeController" ? marks : {};
    const node = { apiVersion: "v1", kind: "Node", metadata: { name: `${pool}-${at}`, labels, annotations } };
    await create(cluster, "/api/v1/nodes", node);
    await patchStatus(cluster, `/api/v1/nodes/${pool}-${at}`, readiness("True", ""));
  }
  await create(cluster, POOLS, {
    ...{ apiVersion: "machineconfiguration.openshift.io/v1", kind: "MachineConfigPool", metadata: { name: pool } },
    spec: { paused: isPaused, configuration: { name: config }, nodeSelector: { matchLabels: { pool } } },
  });
  await patchStatus(cluster, `${POOLS}/${pool}`, poolStatus({ config, machines: count, updated: count }));
}

async function createRendered(cluster: ClusterAccess, name: string, osImageURL: string): Promise<void> {
  await create(cluster, CONFIGS, {
    ...{ apiVersion: "machineconfiguration.openshift.io/v1", kind: "MachineConfig", metadata: { name } },
    spec: { osImageURL },
  });
}

export function machineSet(name: string): Json {
  const matchLabels = { "machine.openshift.io/cluster-api-machineset": name };
  return {
    ...{ apiVersion: "machine.openshift.io/v1beta1", kind: "MachineSet" },
    metadata: { name, labels: { "hive.openshift.io/machine-pool": "worker" } },
    spec: { replicas: 2, selector: { matchLabels }, template: { metadata: { labels: matchLabels }, spec: {} } },
  };
}

interface Wanted {
  readonly version: string;
  readonly architecture: string;
  readonly image: string;
}

export class SimulatedOpenShift implements AsyncDisposable {
  readonly cluster: ClusterAccess;
  /** What the cluster version operator was asked for, in order: `version architecture image`. */
  readonly asked: string[] = [];
  readonly #options: SimulationOptions;
  readonly #stop = new AbortController();
  readonly #loops: readonly Promise<void>[];
  /** The configuration that the nodes of a pool are led to, and the one that each node has. */
  readonly #wanted = new Map<string, string>();
  readonly #current = new Map<string, string>();
  readonly #shown = new Map<string, string>();
  #isHeld = false;
  #areNodesHeld = false;
  #nodeFault: NodeFault | undefined;
  #lastFault: unknown;

  /** Creates the objects on what upgrade_plane.ts has prepared, and starts the operators. */
  static async open(cluster: ClusterAccess, options: SimulationOptions): Promise<SimulatedOpenShift> {
    await createObjects(cluster, options);
    return new SimulatedOpenShift(cluster, options);
  }

  private constructor(cluster: ClusterAccess, options: SimulationOptions) {
    this.cluster = cluster;
    this.#options = options;
    this.#loops = [
      () => this.#serveClusterVersion(),
      () => this.#serveMachineSets(),
      ...Object.keys(options.pools).map((pool) => () => this.#servePool(pool)),
    ].map((round) => this.#loop(round));
  }

  /** Why a round of an operator failed last: as while the API server is away. */
  get lastFault(): unknown {
    return this.#lastFault;
  }

  /** Holds the cluster version operator up, and lets it go on. */
  hold(): void {
    this.#isHeld = true;
  }

  letGo(): void {
    this.#isHeld = false;
  }

  /** Holds the nodes that are not of the control plane up, and lets them go on. */
  holdNodes(): void {
    this.#areNodesHeld = true;
  }

  letNodesGo(): void {
    this.#areNodesHeld = false;
  }

  /** The update of this node does not end; that of a node named before goes on. undefined: all nodes are well. */
  breakNode(fault: NodeFault | undefined): void {
    this.#nodeFault = fault;
  }

  /** Offers another version, in place of those that were. */
  async offer(version: string): Promise<void> {
    await patchStatus(this.cluster, CLUSTER_VERSION, { availableUpdates: [{ version, image: imageOf(version) }] });
  }

  async machineSets(): Promise<readonly string[]> {
    return (await this.cluster.list(MACHINE_SETS)).map((set) => String(read(set, "metadata", "name")));
  }

  async cordoned(): Promise<readonly string[]> {
    return (await this.cluster.list("/api/v1/nodes")).filter((node) => read(node, "spec", "unschedulable") === true)
      .map((node) => String(read(node, "metadata", "name")));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#loops);
  }

  /** A round that fails, as while the API server is away, is made again. */
  async #loop(round: () => Promise<void>): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await round().catch((error: unknown) => {
        this.#lastFault = error;
      });
      await pause(this.#options.stepMs);
    }
  }

  async #serveClusterVersion(): Promise<void> {
    const body = await this.cluster.get(CLUSTER_VERSION);
    const wanted = wantedOf(body);
    const desired = read(body, "status", "desired");
    const isThere = wanted === undefined ||
      read(desired, "image") === wanted.image && read(body, "status", "history", 0, "state") === "Completed";
    if (isThere || this.#isHeld) return;
    if (read(desired, "image") !== wanted.image) return await this.#accept(wanted, body);
    await this.#rollOut(wanted);
  }

  async #accept(wanted: Wanted, before: unknown): Promise<void> {
    const { version, architecture, image } = wanted;
    const history = read(before, "status", "history");
    await replaceStatus(this.cluster, CLUSTER_VERSION, {
      desired: { version, image, ...architecture === "" ? {} : { architecture } },
      conditions: conditions({ Progressing: "True", Available: "True", Failing: "False", ReleaseAccepted: "True" }),
      history: [historyEntry({ version, image, state: "Partial" }), ...Array.isArray(history) ? history : []],
    });
    this.asked.push([version, architecture, image].join(" ").trim());
  }

  /** Completed when the operators say so: machine-config does last, and not for the workers. */
  async #rollOut(wanted: Wanted): Promise<void> {
    const { version, image } = wanted;
    await pause(this.#options.stepMs);
    await patchStatus(this.cluster, `${OPERATORS}/etcd`, operatorStatus(version, image));
    const progress = { Progressing: { status: "True", message: `Working towards ${version}` } };
    await patchStatus(this.cluster, MACHINE_CONFIG, { conditions: operatorConditions(progress) });
    const pools = Object.keys(this.#options.pools);
    for (const pool of pools) await createRendered(this.cluster, renderedOf(pool, image), image);
    await Promise.all(pools.map((pool) => this.#render(pool, renderedOf(pool, image))));
    const patience = STEPS_FOR_A_MASTER * (this.#options.pools["master"] ?? 0);
    for (let steps = 1;; steps++) {
      const lack = this.#options.failsBefore?.(version) ?? await this.#findLack(wanted);
      if (lack === undefined) break;
      if (this.#stop.signal.aborted) return;
      if (steps >= patience) await patchStatus(this.cluster, MACHINE_CONFIG, failedStatus(version, lack));
      await pause(this.#options.stepMs);
    }
    await patchStatus(this.cluster, MACHINE_CONFIG, operatorStatus(version, image));
    await this.#complete(wanted);
  }

  /** What the version waits for: that no pool is degraded, of whatever kind, and that of the control plane is Updated. */
  async #findLack({ image }: Wanted): Promise<string | undefined> {
    const pools = await this.cluster.list(POOLS);
    const nameOf = (pool: unknown): unknown => read(pool, "metadata", "name");
    const degraded = pools.find((pool) => isTrue(pool, "Degraded"));
    if (degraded !== undefined) return `MachineConfigPool ${nameOf(degraded)} is not ready, retrying`;
    const master = pools.find((pool) => nameOf(pool) === "master");
    const isDone = master === undefined ||
      read(master, "status", "configuration", "name") === renderedOf("master", image) && isTrue(master, "Updated");
    return isDone ? undefined : "required MachineConfigPool master is not ready, retrying";
  }

  async #complete({ version, image }: Wanted): Promise<void> {
    const history = read(await this.cluster.get(CLUSTER_VERSION), "status", "history");
    const [, ...older] = Array.isArray(history) ? history : [];
    await replaceStatus(this.cluster, CLUSTER_VERSION, {
      conditions: conditions({ Progressing: "False", Available: "True", Failing: "False", ReleaseAccepted: "True" }),
      history: [historyEntry({ version, image, state: "Completed" }), ...older],
      availableUpdates: [],
    });
  }

  /** For a moment the status is that of the configuration before. */
  async #render(pool: string, config: string): Promise<void> {
    const path = `${POOLS}/${pool}`;
    const body = await this.cluster.get(path);
    if (read(body, "spec", "configuration", "name") !== config) {
      await this.cluster.request("PATCH", path, { spec: { configuration: { name: config } } });
      await pause(this.#options.stepMs);
    }
    if (read(body, "spec", "paused") !== true) this.#wanted.set(pool, config);
  }

  /** As the daemons of nodes do: each is led to the configuration that the node controller wants of it. */
  async #followController(pool: string): Promise<void> {
    if (this.#areNodesHeld && pool !== "master") return;
    const nodes = await this.cluster.list(`/api/v1/nodes?labelSelector=pool=${pool}`);
    const markOf = (node: unknown, name: string): string =>
      String(read(node, "metadata", "annotations", `${MARK}/${name}`));
    const wanted = nodes.filter((node) => markOf(node, "desiredConfig") !== markOf(node, "currentConfig"));
    await Promise.all(wanted.map((node) => {
      return this.#updateNode(pool, {
        name: String(read(node, "metadata", "name")),
        config: markOf(node, "desiredConfig"),
      });
    }));
  }

  /** Rolls the nodes of a pool, one a round, and shows before each how far it is. */
  async #servePool(pool: string): Promise<void> {
    if (this.#options.poolsBy === "nodeController") return await this.#followController(pool);
    const config = this.#wanted.get(pool);
    if (config === undefined || this.#shown.get(pool) === config) return;
    const nodes = Array.from({ length: this.#options.pools[pool] ?? 0 }, (_, at) => `${pool}-${at + 1}`);
    const [node, ...left] = nodes.filter((one) => this.#current.get(one) !== config);
    const path = `${POOLS}/${pool}`;
    const before = String(read(await this.cluster.get(path), "status", "configuration", "name"));
    const updated = nodes.length - (node === undefined ? 0 : left.length + 1);
    const shown = { config: node === undefined ? config : before, machines: nodes.length, updated };
    await patchStatus(this.cluster, path, poolStatus(shown));
    if (node === undefined) return void this.#shown.set(pool, config);
    if (this.#areNodesHeld && pool !== "master") return;
    await this.#updateNode(pool, { name: node, config });
    this.#current.set(node, config);
  }

  async #updateNode(pool: string, { name, config }: { readonly name: string; readonly config: string }): Promise<void> {
    const annotate = (state: string, marks: Json): Json => ({
      metadata: {
        annotations: { ...marks, [`${MARK}/state`]: state, [`${MARK}/desiredConfig`]: config },
      },
    });
    const path = `/api/v1/nodes/${name}`;
    const body = await this.cluster.get(path);
    // One that is begun anew, as after a failure, is still cordoned.
    if (read(body, "spec", "unschedulable") !== true) {
      const taint = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule", timeAdded: now() };
      const spec = { unschedulable: true, taints: [taint] };
      await this.cluster.request("PATCH", path, { ...annotate("Working", {}), spec });
    }
    await drainNode(this.cluster, name, { stepMs: this.#options.stepMs, signal: this.#stop.signal });
    await pause(this.#options.stepMs);
    const fault = this.#nodeFault?.node === name ? this.#nodeFault : undefined;
    if (fault?.kind === "degraded") await this.#showFault(pool, fault);
    await patchStatus(this.cluster, path, readiness("Unknown", "Kubelet stopped posting node status."));
    await pause(this.#options.stepMs);
    if (fault?.kind === "lost") await this.#showFault(pool, fault);
    await patchStatus(this.cluster, path, readiness("True", ""));
    const done = annotate("Done", { [`${MARK}/currentConfig`]: config });
    await this.cluster.request("PATCH", path, { ...done, spec: { unschedulable: null, taints: null } });
  }

  async #showFault(pool: string, fault: NodeFault): Promise<void> {
    const { node, kind, message } = fault;
    const path = `/api/v1/nodes/${node}`;
    if (kind === "lost") await patchStatus(this.cluster, path, readiness("Unknown", message));
    else if (this.#options.poolsBy !== "nodeController") await this.#degrade(pool, message);
    else {
      const annotations = { [`${MARK}/state`]: "Degraded", [`${MARK}/reason`]: message };
      await this.cluster.patch(path, { metadata: { annotations } });
    }
    while (this.#nodeFault === fault && !this.#stop.signal.aborted) await pause(this.#options.stepMs);
  }

  async #degrade(pool: string, message: string): Promise<void> {
    const before = listAt(await this.cluster.get(`${POOLS}/${pool}`), "status", "conditions");
    const degraded = conditions({ NodeDegraded: "True", Degraded: "True" });
    await patchStatus(this.cluster, `${POOLS}/${pool}`, {
      degradedMachineCount: 1,
      conditions: [...before, ...degraded.map((one) => ({ ...one, message }))],
    });
  }

  /** Machines of clones: one machine with a node each; they go with their MachineSet. */
  async #serveMachineSets(): Promise<void> {
    const sets = await this.cluster.list(MACHINE_SETS);
    const machines = await this.cluster.list(MACHINES);
    const labelOf = (object: unknown): string =>
      String(read(object, "metadata", "labels", "machine.openshift.io/cluster-api-machineset"));
    const names = sets.map((set) => String(read(set, "metadata", "name")));
    for (const machine of machines) {
      if (names.includes(labelOf(machine))) continue;
      await this.cluster.request("DELETE", `/api/v1/nodes/node-${labelOf(machine)}`);
      await this.cluster.request("DELETE", `${MACHINES}/${read(machine, "metadata", "name")}`);
    }
    for (const set of sets) {
      const name = String(read(set, "metadata", "name"));
      const isServed = machines.some((machine) => labelOf(machine) === name);
      if (!/-(?:upgrade|smoke)$/.test(name) || isServed) continue;
      await this.#createMachine(name, set);
    }
  }

  async #createMachine(set: string, object: unknown): Promise<void> {
    const labels = read(object, "spec", "template", "metadata", "labels");
    const arch = set.endsWith("-smoke") ? "arm64" : "amd64";
    const node = `node-${set}`;
    await create(this.cluster, "/api/v1/nodes", {
      ...{ apiVersion: "v1", kind: "Node" },
      metadata: { name: node, labels: { "kubernetes.io/arch": arch, "node-role.kubernetes.io/worker": "" } },
    });
    await patchStatus(this.cluster, `/api/v1/nodes/${node}`, readiness("True", ""));
    await create(this.cluster, MACHINES, {
      ...{
        apiVersion: "machine.openshift.io/v1beta1",
        kind: "Machine",
        metadata: { name: `${set}-x`, labels },
        spec: {},
      },
    });
    await patchStatus(this.cluster, `${MACHINES}/${set}-x`, {
      phase: "Running",
      nodeRef: { kind: "Node", name: node },
    });
    await patchStatus(this.cluster, `${MACHINE_SETS}/${set}`, { replicas: 1, readyReplicas: 1 });
  }
}

/** Evicts the pods until none is left; its kubelet ends those that may go. */
export async function drainNode(
  cluster: ClusterAccess,
  node: string,
  { stepMs, signal }: { readonly stepMs: number; readonly signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    const pods = await cluster.list(`/api/v1/pods?fieldSelector=spec.nodeName=${node}`);
    if (pods.length === 0) return;
    for (const pod of pods) {
      const [namespace, name] = ["namespace", "name"].map((member) => String(read(pod, "metadata", member)));
      const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
      const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace } };
      const { status } = await cluster.request("POST", `${path}/eviction`, eviction);
      if (status < 300) await cluster.request("DELETE", `${path}?gracePeriodSeconds=0`);
    }
    await pause(stepMs);
  }
}

/** What is asked of the ClusterVersion, with the image that it resolves to; undefined when nothing is. */
function wantedOf(clusterVersion: unknown): Wanted | undefined {
  const asked = read(clusterVersion, "spec", "desiredUpdate");
  if (typeof asked !== "object" || asked === null) return undefined;
  const version = String(read(asked, "version") ?? "");
  const architecture = String(read(asked, "architecture") ?? "");
  const current = String(read(clusterVersion, "status", "desired", "architecture") ?? "");
  const image = read(asked, "image");
  const resolved = imageOf(version, (architecture || current) === "" ? "" : "aa");
  return {
    version,
    architecture: architecture || current,
    image: typeof image === "string" && image !== "" ? image : resolved,
  };
}

async function create(cluster: ClusterAccess, path: string, object: Json): Promise<void> {
  expectStatus(`create ${path}`, await cluster.request("POST", path, object), [201, 409]);
}

async function patchStatus(cluster: ClusterAccess, path: string, status: Json): Promise<void> {
  await cluster.patch(`${path}/status`, { status });
}

/** Replaces members of the status: a merge patch would leave out what is null, which a running release has. */
async function replaceStatus(cluster: ClusterAccess, path: string, change: Json): Promise<void> {
  const body = await cluster.get(path);
  const status = { ...Object(read(body, "status")), ...change };
  const answer = await cluster.request("PUT", `${path}/status`, { ...Object(body), status });
  expectStatus(`write the status of ${path}`, answer, [200]);
}

export function conditions(states: Readonly<Record<string, string>>): readonly Json[] {
  return Object.entries(states).map(([type, status]) => ({ type, status, lastTransitionTime: now() }));
}

function historyEntry({ version, image, state }: Omit<Wanted, "architecture"> & { readonly state: string }): Json {
  const completionTime = state === "Completed" ? now() : null;
  return { version, image, state, startedTime: now(), completionTime, verified: true };
}

type States = Readonly<Record<string, Json>>;

function operatorConditions(changed: States = {}): readonly Json[] {
  const states: States = {
    ...{ Available: { status: "True" }, Progressing: { status: "False" }, Degraded: { status: "False" } },
    ...changed,
  };
  return Object.entries(states).map(([type, state]) => ({ type, lastTransitionTime: now(), ...state }));
}

function operatorStatus(version: string, image: string): Json {
  return {
    conditions: operatorConditions(),
    versions: [{ name: "operator", version }, { name: "operator-image", version: image }],
  };
}

function failedStatus(version: string, lack: string): Json {
  const message = `Unable to apply ${version}`;
  const detail = `during syncRequiredMachineConfigPools: [context deadline exceeded, ${lack}]`;
  return {
    conditions: operatorConditions({
      Progressing: { status: "True", message },
      Degraded: { status: "True", reason: "RequiredPoolsFailed", message: `${message}: ${detail}` },
    }),
  };
}

export function readiness(status: string, message: string): Json {
  return { conditions: [{ type: "Ready", status, reason: "r", message, lastTransitionTime: now() }] };
}

function poolStatus(
  { config, machines, updated }: { readonly config: string; readonly machines: number; readonly updated: number },
): Json {
  const isDone = machines === updated;
  return {
    ...{ configuration: { name: config }, machineCount: machines, updatedMachineCount: updated },
    ...{ readyMachineCount: updated, unavailableMachineCount: isDone ? 0 : 1, degradedMachineCount: 0 },
    conditions: conditions({ Updated: isDone ? "True" : "False", Updating: isDone ? "False" : "True" }),
  };
}

function now(): string {
  return new Date().toISOString().replace(/\.\d{3}Z$/, "Z");
}
