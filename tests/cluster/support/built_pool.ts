// The pool `worker` while its image is built on the cluster, beside the scripted OpenShift: its configuration for each version, its
// nodes led to what is published, its status. As in the machine config operator's node controller all follows from the objects.
//
//   the build for the pool's configuration Succeeded, and the MachineOSConfig has its image
//       ─▶ one node after the other is to have both ─▶ cordoned, drained, not Ready, Ready, has both ─▶ the pool is Updated
import type { BuildBed } from "./build_bed.ts";
import { type ClusterAccess, expectStatus, isTrue, listAt, read } from "./cluster_access.ts";
import { CLUSTER_VERSION, conditions, drainNode, POOLS, readiness } from "./simulated_openshift.ts";
import { pause } from "./wait.ts";

const GROUP = "/apis/machineconfiguration.openshift.io/v1";
const POOL = `${POOLS}/worker`;
const NODES = "/api/v1/nodes?labelSelector=node-role.kubernetes.io%2Fworker";
const MARK = "machineconfiguration.openshift.io";
const CURRENT_BUILD = `${MARK}/current-machine-os-build`;

/** What a node has, or is to have. */
interface Wanted {
  readonly config: string;
  /** Empty: that of the configuration. */
  readonly image: string;
}

interface BuiltNode {
  readonly name: string;
  readonly current: Wanted;
  readonly desired: Wanted;
  readonly isReady: boolean;
  readonly state: string;
}

interface Layers {
  readonly config: unknown;
  readonly build: unknown;
}

export interface BuiltPoolOptions {
  readonly stepMs: number;
  /** Base images by version. */
  readonly bases: Readonly<Record<string, string>>;
}

export class BuiltPool implements AsyncDisposable {
  readonly #bed: BuildBed;
  readonly #cluster: ClusterAccess;
  readonly #options: BuiltPoolOptions;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #version = "";
  #shown = "";
  lastFault: unknown;

  constructor(bed: BuildBed, options: BuiltPoolOptions) {
    this.#bed = bed;
    this.#cluster = bed.cluster;
    this.#options = options;
    this.#running = this.#run();
  }

  async nodes(): Promise<readonly BuiltNode[]> {
    return (await this.#cluster.list(NODES)).map(builtNodeOf);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    for (; !this.#stop.signal.aborted; await pause(this.#options.stepMs)) {
      await this.#round().catch((error: unknown) => {
        this.lastFault = error;
      });
    }
  }

  async #round(): Promise<void> {
    await this.#render();
    const pool = await this.#cluster.get(POOL);
    const layers = await this.#readLayers(pool);
    // The node controller takes that for a fault of its round, and shows nothing.
    if (isTrue(layers.build, "Failed")) return;
    const wanted = wantedOf(pool, layers);
    const candidate = (await this.nodes()).find(({ desired, isReady }) =>
      wanted !== undefined && isReady && !isEqual(desired, wanted)
    );
    if (wanted !== undefined && candidate !== undefined) {
      await this.#mark(candidate.name, { ...marksOf("desired", wanted), ...firstMarksOf(candidate, wanted) });
    }
    await this.#showStatus(pool, layers);
    const led = (await this.nodes()).find(({ current, desired }) => !isEqual(current, desired));
    if (led !== undefined) await this.#update(led);
  }

  async #render(): Promise<void> {
    const version = String(read(await this.#cluster.get(CLUSTER_VERSION), "status", "desired", "version"));
    if (version === this.#version) return;
    await this.#bed.render({ osImageURL: this.#options.bases[version] ?? "", release: version });
    this.#version = version;
  }

  /** The build that the MachineOSConfig names counts while it is for the pool's configuration; else it is forgotten. */
  async #readLayers(pool: unknown): Promise<Layers> {
    const { status, body } = await this.#cluster.request("GET", `${GROUP}/machineosconfigs/worker`);
    if (status === 404) return { config: undefined, build: undefined };
    const builds = (await this.#cluster.list(`${GROUP}/machineosbuilds`)).toReversed();
    const isOfPool = (build: unknown): boolean =>
      read(build, "spec", "machineConfig", "name") === read(pool, "spec", "configuration", "name");
    const named = read(body, "metadata", "annotations", CURRENT_BUILD);
    const current = builds.find((build) => read(build, "metadata", "name") === named);
    if (named !== undefined && !isOfPool(current)) await this.#bed.annotate({ [CURRENT_BUILD]: null });
    return { config: body, build: isOfPool(current) ? current : builds.find(isOfPool) };
  }

  async #mark(name: string, annotations: Readonly<Record<string, string>>, spec: unknown = {}): Promise<void> {
    await this.#cluster.patch(`/api/v1/nodes/${name}`, { metadata: { annotations }, spec });
  }

  async #update({ name, desired }: BuiltNode): Promise<void> {
    const { stepMs } = this.#options;
    const status = `/api/v1/nodes/${name}/status`;
    await this.#mark(name, { [`${MARK}/state`]: "Working" }, { unschedulable: true });
    await drainNode(this.#cluster, name, { stepMs, signal: this.#stop.signal });
    await this.#cluster.patch(status, { status: readiness("Unknown", "Kubelet stopped posting node status.") });
    await pause(stepMs);
    await this.#cluster.patch(status, { status: readiness("True", "") });
    const done = { ...marksOf("current", desired), [`${MARK}/state`]: "Done" };
    await this.#mark(name, done, { unschedulable: null, taints: null });
  }

  /** Conditions of others stay. Whoever writes meanwhile wins, and the next round shows it. */
  async #showStatus(pool: unknown, layers: Layers): Promise<void> {
    const { counts, states } = statusOf(pool, layers, await this.nodes());
    const shown = JSON.stringify([counts, states]);
    if (shown === this.#shown) return;
    const others = listAt(pool, "status", "conditions").filter((one) => !(String(read(one, "type")) in states));
    const status = { ...Object(read(pool, "status")), ...counts, conditions: [...others, ...conditions(states)] };
    const answer = await this.#cluster.request("PUT", `${POOL}/status`, { ...Object(pool), status });
    expectStatus("show the pool", answer, [200, 409]);
    this.#shown = answer.status === 200 ? shown : "";
  }
}

function builtNodeOf(node: unknown): BuiltNode {
  const markOf = (name: string): string => String(read(node, "metadata", "annotations", `${MARK}/${name}`) ?? "");
  const sideOf = (side: string): Wanted => ({ config: markOf(`${side}Config`), image: markOf(`${side}Image`) });
  return {
    name: String(read(node, "metadata", "name")),
    ...{ current: sideOf("current"), desired: sideOf("desired"), state: markOf("state") },
    isReady: isTrue(node, "Ready") && read(node, "spec", "unschedulable") !== true,
  };
}

function isEqual(one: Wanted, other: Wanted | undefined): boolean {
  return one.config === other?.config && one.image === other.image;
}

function marksOf(side: "current" | "desired", { config, image }: Wanted): Readonly<Record<string, string>> {
  return { [`${MARK}/${side}Config`]: config, ...image === "" ? {} : { [`${MARK}/${side}Image`]: image } };
}

/** A node that is new has been made with the configuration. */
function firstMarksOf({ current }: BuiltNode, { config }: Wanted): Readonly<Record<string, string>> {
  return current.config === "" ? { ...marksOf("current", { config, image: "" }), [`${MARK}/state`]: "Done" } : {};
}

/** undefined: its image is not there yet. */
function wantedOf(pool: unknown, { config, build }: Layers): Wanted | undefined {
  if (config === undefined) return { config: String(read(pool, "spec", "configuration", "name")), image: "" };
  const image = read(config, "status", "currentImagePullSpec");
  const isCurrent = isTrue(build, "Succeeded") && image === read(build, "status", "digestedImagePushSpec");
  return isCurrent ? { config: String(read(build, "spec", "machineConfig", "name")), image: String(image) } : undefined;
}

interface PoolStatus {
  readonly counts: Readonly<Record<string, unknown>>;
  readonly states: Readonly<Record<string, string>>;
}

/** As `calculateStatus` of the node controller has it. */
function statusOf(pool: unknown, layers: Layers, nodes: readonly BuiltNode[]): PoolStatus {
  const wanted = wantedOf(pool, layers);
  const configuration = read(pool, "spec", "configuration");
  const isAsked = wanted?.config === read(configuration, "name");
  const isDone = ({ current, desired, state }: BuiltNode): boolean => state === "Done" && isEqual(current, desired);
  const updated = nodes.filter((node) => isAsked && isDone(node) && isEqual(node.desired, wanted));
  const ready = updated.filter(({ isReady }) => isReady).length;
  const unavailable = nodes.filter((node) => !node.isReady || !isDone(node)).length;
  const isUpdated = ready === nodes.length && unavailable === 0;
  const textOf = (state: boolean): string => state ? "True" : "False";
  return {
    counts: {
      observedGeneration: read(pool, "metadata", "generation"),
      ...{ machineCount: nodes.length, updatedMachineCount: updated.length, readyMachineCount: ready },
      ...{ unavailableMachineCount: unavailable, degradedMachineCount: 0 },
      ...isUpdated ? { configuration } : {},
    },
    states: {
      ...{ Updated: textOf(isUpdated), Updating: textOf(!isUpdated) },
      Degraded: textOf(isTrue(pool, "ImageBuildDegraded")),
    },
  };
}
