// A cluster whose pools have their node image built: OpenShift's definitions on a real control plane with the real scheduler
// and Job controller, a real registry behind a relay that counts, nodes that are objects alone, and a player in the place of
// kubelets and builders.
import assert from "node:assert/strict";
import { lacks } from "../../support/needs.ts";
import {
  BUILD_NAMESPACE,
  renderConfig,
  renderConfigSpec,
  renderNode,
  renderPool,
  renderRendered,
  type WantedConfig,
  type WantedNode,
  type WantedRendered,
} from "./build_objects.ts";
import { AuditTail } from "./audit_tail.ts";
import { BUILDS_PLANE, prepareBuilds } from "./build_plane.ts";
import { BuildPlayer } from "./build_player.ts";
import { startBuildService } from "./build_service.ts";
import { type ClusterAccess, read } from "./cluster_access.ts";
import { type PushRelay, startPushRelay } from "./indexing.ts";
import { applyDefinitions } from "./openshift_crds.ts";
import { createPullSecret } from "./pods.ts";
import type { RunningProcess } from "./process.ts";
import { type RealRegistry, startRegistry } from "./registry.ts";
import { readPlatforms } from "./registry_platforms.ts";
import { type SeenBuild, seenBuilds } from "./seen_builds.ts";
import { controlPlaneWith } from "./shared_control_plane.ts";
import { type WaitOptions, waitUntil } from "./wait.ts";

export const BUILD_ACCOUNT = "system:serviceaccount:archway-system:archway-image-builds";

export const BUILDS_GROUP = "/apis/machineconfiguration.openshift.io/v1";
export const REBUILD = "machineconfiguration.openshift.io/rebuild";
export const TWO = [{ name: "amd64-1", arch: "amd64" }, { name: "arm64-1", arch: "arm64" }] as const;
const ALL = ["amd64", "arm64", "ppc64le", "s390x"];
const OF_WORKER = "?labelSelector=machineconfiguration.openshift.io%2Fmachine-os-config%3Dworker";

/** Go gets OpenShift's definitions. */
export const ignore: boolean = lacks("go");

export interface BuildBedOptions {
  /** Default one of each of two architectures. */
  readonly nodes?: readonly WantedNode[];
  /** `imageBuilds` of the configuration file. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** As `SHAREABLE` says; for tests that restart its servers. Default: one that tests share. */
  readonly cluster?: ClusterAccess;
}

export class BuildBed implements AsyncDisposable {
  readonly cluster: ClusterAccess;
  readonly registry: RealRegistry;
  readonly relay: PushRelay;
  readonly player: BuildPlayer;
  readonly #audit: AuditTail;
  readonly #settings: Readonly<Record<string, unknown>>;
  #stack = new AsyncDisposableStack();
  #kubeconfig = "";
  #base = "";
  #rendered = 0;
  #archway: RunningProcess | undefined;

  private constructor(
    parts: Pick<BuildBed, "cluster" | "registry" | "relay" | "player">,
    settings: Readonly<Record<string, unknown>>,
  ) {
    this.cluster = parts.cluster;
    this.registry = parts.registry;
    this.relay = parts.relay;
    this.player = parts.player;
    this.#audit = new AuditTail(parts.cluster.auditLogFile ?? assert.fail("no audit log"), BUILD_ACCOUNT);
    this.#settings = settings;
  }

  /** Opens it: pool `worker`, its nodes, a base image of every architecture, secrets. No Archway and no configuration yet. */
  static async open({ nodes = TWO, settings = {}, cluster: given }: BuildBedOptions = {}): Promise<BuildBed> {
    await using undo = new AsyncDisposableStack();
    const cluster = given ?? undo.use(await controlPlaneWith(BUILDS_PLANE));
    if (given !== undefined) await prepareBuilds(given);
    const registry = undo.use(await startRegistry({ tls: false, auth: "htpasswd" }));
    const relay = undo.use(startPushRelay(registry));
    const player = undo.use(new BuildPlayer(cluster, registry));
    const bed = new BuildBed({ cluster, registry, relay, player }, settings);
    await bed.#prepare(nodes);
    bed.#stack = undo.move();
    return bed;
  }

  async #prepare(nodes: readonly WantedNode[]): Promise<void> {
    const { cluster, registry, relay } = this;
    const account = { namespace: "archway-system", name: "archway-image-builds" };
    this.#kubeconfig = await cluster.serviceAccountKubeconfig(account);
    for (const name of ["push", "global-pull-secret-copy"]) await this.createSecret(name);
    const platforms = ALL.map((architecture) => ({ architecture }));
    const { digest } = await registry.push("base/os", "v1", { platforms });
    this.#base = `${relay.host}/base/os@${digest}`;
    await this.createPool("worker");
    for (const node of nodes) await this.addNode(node);
    this.player.start();
  }

  async createSecret(name: string): Promise<void> {
    const { relay: { host }, registry: { users } } = this;
    await createPullSecret(this.cluster, BUILD_NAMESPACE, { name, host, users });
  }

  async createPool(name: string): Promise<void> {
    const rendered = await this.#createRendered(name, {});
    await this.cluster.create(`${BUILDS_GROUP}/machineconfigpools`, renderPool(name, rendered));
  }

  async render(wanted: WantedRendered, pool = "worker"): Promise<string> {
    const name = await this.#createRendered(pool, wanted);
    await this.cluster.patch(`${BUILDS_GROUP}/machineconfigpools/${pool}`, {
      spec: { configuration: { name, source: [] } },
    });
    return name;
  }

  async #createRendered(pool: string, wanted: WantedRendered): Promise<string> {
    const name = `rendered-${pool}-${String(++this.#rendered).padStart(8, "0")}`;
    await this.cluster.create(
      `${BUILDS_GROUP}/machineconfigs`,
      renderRendered(name, { osImageURL: this.#base, ...wanted }),
    );
    return name;
  }

  async addNode(node: WantedNode): Promise<void> {
    await this.cluster.create("/api/v1/nodes", renderNode(node, new Date().toISOString()));
    // Admission marks every new node as not ready; the controller that would take it off does not run.
    await this.cluster.patch(`/api/v1/nodes/${node.name}`, { spec: { taints: [] } });
  }

  async removeNode(name: string): Promise<void> {
    await this.cluster.delete(`/api/v1/nodes/${name}`);
  }

  /** From now on the cluster says that the registry is its own: by a route, as OpenShift's registry operator publishes them. */
  async publishRoute(): Promise<void> {
    const images = "/apis/config.openshift.io/v1/images";
    await applyDefinitions(this.cluster, ["images"]);
    const object = { apiVersion: "config.openshift.io/v1", kind: "Image", metadata: { name: "cluster" }, spec: {} };
    await this.cluster.create(images, object);
    const internalRegistryHostname = "image-registry.openshift-image-registry.svc:5000";
    const status = { internalRegistryHostname, externalRegistryHostnames: [this.relay.host] };
    await this.cluster.patch(`${images}/cluster/status`, { status });
  }

  repositoryOf({ repository = "team/os" }: Pick<WantedConfig, "repository"> = {}): string {
    return `${this.relay.host}/${repository}`;
  }

  async createConfig(wanted: WantedConfig = {}): Promise<void> {
    await this.cluster.create(`${BUILDS_GROUP}/machineosconfigs`, renderConfig(wanted, this.repositoryOf(wanted)));
  }

  async replaceConfig(wanted: WantedConfig = {}): Promise<void> {
    const path = `${BUILDS_GROUP}/machineosconfigs/${wanted.pool ?? "worker"}`;
    await waitUntil("the configuration to be replaced", async () => {
      const body = await this.cluster.get(path);
      const next = { ...Object(body), spec: renderConfigSpec(wanted, this.repositoryOf(wanted)) };
      return (await this.cluster.request("PUT", path, next)).status === 200;
    });
  }

  /** Creates or replaces the configuration, waits for another image than the one that is published, and gives its reference. */
  async publish(wanted: WantedConfig, options: WaitOptions = {}): Promise<string> {
    const { pool = "worker" } = wanted;
    const other = await this.published(pool);
    await (other === "" ? this.createConfig(wanted) : this.replaceConfig(wanted));
    return await this.waitForPublished({ pool, other, ...options });
  }

  async deleteConfig(pool = "worker"): Promise<void> {
    await this.cluster.delete(`${BUILDS_GROUP}/machineosconfigs/${pool}`);
  }

  async annotate(annotations: Readonly<Record<string, string | null>>, pool = "worker"): Promise<void> {
    await this.cluster.patch(`${BUILDS_GROUP}/machineosconfigs/${pool}`, { metadata: { annotations } });
  }

  async startArchway(
    { identity = "one", args = [] }: { readonly identity?: string; readonly args?: readonly string[] } = {},
  ): Promise<RunningProcess> {
    const archway = await startBuildService({
      directory: this.cluster.directory,
      kubeconfig: this.#kubeconfig,
      registry: this.relay.host,
      settings: this.#settings,
      identity,
      args,
    });
    this.#stack.use(archway);
    this.#archway = archway;
    return archway;
  }

  async config(pool = "worker"): Promise<unknown> {
    return await this.cluster.get(`${BUILDS_GROUP}/machineosconfigs/${pool}`);
  }

  async published(pool = "worker"): Promise<string> {
    return String(read(await this.config(pool), "status", "currentImagePullSpec") ?? "");
  }

  async builds(pool = "worker"): Promise<readonly SeenBuild[]> {
    return seenBuilds(await this.cluster.get(`${BUILDS_GROUP}/machineosbuilds`), pool);
  }

  /** The first build in this state that was not there before; says what there is when none comes. */
  async newBuild(state: string, before: readonly SeenBuild[], deadlineMs = 90_000): Promise<SeenBuild> {
    const known = new Set(before.map(({ uid }) => uid));
    return await waitUntil(`a new build that is ${state}`, async () => {
      return (await this.builds()).find((build) => build.state === state && !known.has(build.uid));
    }, { deadlineMs, says: () => this.#says() });
  }

  async #says(pool?: string): Promise<string> {
    return `builds: ${JSON.stringify(await this.builds(pool))}; log: ${await this.log()}`;
  }

  /** Waits until what is published came from a build that has ended well, and gives its reference. */
  async waitForPublished(
    { pool = "worker", other = "", ...options }: WaitOptions & { readonly pool?: string; readonly other?: string } = {},
  ): Promise<string> {
    return await waitUntil("an image to be published", async () => {
      const now = await this.published(pool);
      const builds = await this.builds(pool);
      return now !== other && builds.some(({ digest, state }) => digest === now && state === "Succeeded") && now;
    }, { says: () => this.#says(pool), ...options });
  }

  /** Waits until Archway has had nothing to do for a while: no request that writes. */
  async settled({ forMs = 1_500, ...options }: WaitOptions & { readonly forMs?: number } = {}): Promise<void> {
    let [seen, sinceMs] = [-1, performance.now()];
    await waitUntil("Archway to come to rest", async () => {
      const count = (await this.writes()).length;
      if (count !== seen || this.player.isBusy) [seen, sinceMs] = [count, performance.now()];
      return performance.now() - sinceMs >= forMs;
    }, { intervalMs: 100, ...options });
  }

  /** What Archway wrote to the API server, without its Lease and events: `create jobs.batch`. */
  async writes(): Promise<readonly string[]> {
    return (await this.#audit.uses()).filter(({ verb, resource }) =>
      !["get", "list", "watch"].includes(verb) && !resource.startsWith("leases") && resource !== "events"
    ).map(({ verb, resource, status }) => `${verb} ${resource}${status < 300 ? "" : ` ${status}`}`);
  }

  async jobs(): Promise<readonly string[]> {
    return await this.cluster.names(`/apis/batch/v1/namespaces/${BUILD_NAMESPACE}/jobs`);
  }

  /** The names of what was made for the pool `worker`. */
  async belongings(): Promise<readonly string[]> {
    const kept = ["configmaps", "secrets"].map((kind) =>
      this.cluster.names(`/api/v1/namespaces/${BUILD_NAMESPACE}/${kind}${OF_WORKER}`)
    );
    const builds = (await this.builds()).map(({ name }) => name);
    return [...builds, ...await this.jobs(), ...(await Promise.all(kept)).flat()];
  }

  async jobsCreated(): Promise<number> {
    return (await this.writes()).filter((write) => write === "create jobs.batch").length;
  }

  pushes(): readonly string[] {
    return this.relay.writes().filter((write) => /^PUT .*\/manifests\//.test(write));
  }

  platformsOf(reference: string): Promise<Readonly<Record<string, string>> | undefined> {
    return readPlatforms(this.registry, reference);
  }

  /** Those of these tags and digests of a repository behind which something is. */
  async present(names: readonly string[], repository?: string): Promise<readonly string[]> {
    const place = this.repositoryOf(repository === undefined ? {} : { repository });
    const found = await Promise.all(names.map(async (name) => {
      return await this.platformsOf(`${place}${name.includes(":") ? "@" : ":"}${name}`) === undefined ? [] : [name];
    }));
    return found.flat();
  }

  async log(): Promise<string> {
    return (await this.#archway?.readLog() ?? "").split("\n").slice(-40).join("\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

type Body = (bed: BuildBed, t: Deno.TestContext) => Promise<void>;

/** The function of a test that has a bed of its own, at which Archway works. */
export function atWork(
  ...given: readonly [Body] | readonly [BuildBedOptions, Body]
): (t: Deno.TestContext) => Promise<void> {
  const [options, body] = given.length === 1 ? [{}, given[0]] : given;
  return async (t) => {
    await using bed = await BuildBed.open(options);
    await bed.startArchway();
    await body(bed, t);
  };
}
