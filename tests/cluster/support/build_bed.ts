// A cluster whose pools have their node image built: OpenShift's definitions on a real control plane with the real scheduler
// and Job controller, a real registry behind a relay that counts, nodes that are objects alone, and a player in the place of
// kubelets and builders.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import { BuildPlayer } from "./build_player.ts";
import { expectStatus, read } from "./cluster_access.ts";
import { type ControlPlane, startControlPlane } from "./control_plane.ts";
import { type PushRelay, startPushRelay } from "./indexing.ts";
import { applyDefinitions } from "./openshift_crds.ts";
import { findFreePort } from "./ports.ts";
import { RunningProcess } from "./process.ts";
import { type RealRegistry, startRegistry } from "./registry.ts";
import { readUses } from "./rights.ts";
import { type WaitOptions, waitUntil } from "./wait.ts";

const MAIN = fileURLToPath(new URL("../../../main.ts", import.meta.url));
const COMPONENT = fileURLToPath(new URL("../../../manifests/components/image-builds", import.meta.url));

/** Where Jobs and secrets are. */
export const BUILD_NAMESPACE = "openshift-machine-config-operator";
/** The account of the service. */
export const BUILD_ACCOUNT = "system:serviceaccount:archway-system:archway-image-builds";

const GROUP = "/apis/machineconfiguration.openshift.io/v1";
const ALL = ["amd64", "arm64", "ppc64le", "s390x"];

/** A MachineOSConfig as a test has it. */
export interface WantedConfig {
  readonly pool?: string;
  readonly containerFile?: readonly { readonly containerfileArch?: string; readonly content: string }[];
  readonly annotations?: Readonly<Record<string, string>>;
  readonly repository?: string;
  readonly tag?: string;
  readonly pushSecret?: string;
  readonly pullSecret?: string;
}

/** A rendered MachineConfig as a test has it. */
export interface WantedRendered {
  readonly kernelArguments?: readonly string[];
  readonly kernelType?: string;
  readonly extensions?: readonly string[];
  readonly osImageURL?: string;
  /** Anything else: a file, an SSH key. */
  readonly file?: string;
}

/** The last MachineOSBuild of a configuration, reduced. */
export interface SeenBuild {
  readonly name: string;
  readonly uid: string;
  /** Type of the condition that is True and counts: `Succeeded`, `Failed`, `Interrupted`, `Building`, `Prepared` or ``. */
  readonly state: string;
  readonly message: string;
  readonly archStatus: string;
  readonly digest: string;
}

/** A node as a test has it. */
export interface WantedNode {
  readonly name: string;
  readonly arch: string;
  readonly pool?: string;
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
  readonly unschedulable?: boolean;
}

/** How a bed is opened. */
export interface BuildBedOptions {
  readonly nodes?: readonly WantedNode[];
  /** `imageBuilds` of the configuration file. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** More flags of the API server. */
  readonly apiServer?: readonly string[];
}

/** The bed. */
export class BuildBed implements AsyncDisposable {
  readonly cluster: ControlPlane;
  readonly registry: RealRegistry;
  readonly relay: PushRelay;
  readonly player: BuildPlayer;
  readonly #stack: AsyncDisposableStack;
  readonly #settings: Readonly<Record<string, unknown>>;
  #kubeconfig = "";
  #base = "";
  #rendered = 0;
  #archway: RunningProcess | undefined;

  private constructor(
    parts: Pick<BuildBed, "cluster" | "registry" | "relay" | "player">,
    { stack, settings }: {
      readonly stack: AsyncDisposableStack;
      readonly settings: Readonly<Record<string, unknown>>;
    },
  ) {
    this.cluster = parts.cluster;
    this.registry = parts.registry;
    this.relay = parts.relay;
    this.player = parts.player;
    this.#stack = stack;
    this.#settings = settings;
  }

  /** Opens it: pool `worker`, its nodes, a base image of every architecture, secrets. No Archway and no configuration yet. */
  static async open({ nodes = [], settings = {}, apiServer = [] }: BuildBedOptions = {}): Promise<BuildBed> {
    await using undo = new AsyncDisposableStack();
    const cluster = undo.use(
      await startControlPlane({
        auditLog: true,
        without: ["kwok"],
        // Nodes have no kubelet whose heart beat could fail.
        flags: {
          "kube-controller-manager": ["--controllers=*,-node-lifecycle-controller,-taint-eviction-controller"],
          "kube-apiserver": apiServer,
        },
      }),
    );
    const registry = undo.use(await startRegistry({ tls: false, auth: "htpasswd" }));
    const relay = undo.use(startPushRelay(registry));
    const player = new BuildPlayer({ cluster, registry, host: relay.host, namespace: BUILD_NAMESPACE });
    undo.use(player);
    const bed = new BuildBed({ cluster, registry, relay, player }, { stack: undo.move(), settings });
    try {
      await bed.#prepare(nodes);
      return bed;
    } catch (error) {
      await bed[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #prepare(nodes: readonly WantedNode[]): Promise<void> {
    const { cluster, registry, relay } = this;
    await applyDefinitions(cluster, [
      ...["machineosconfigs", "machineosbuilds", "machineconfigpools", "machineconfigs"] as const,
      ...["controllerconfigs", "machinesets", "clusterversions"] as const,
    ]);
    for (const name of [BUILD_NAMESPACE, "archway-system"]) {
      await this.#create("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    }
    for (const file of ["service_account", "role", "build_role"]) {
      const { code, stderr } = await cluster.kubectl(["apply", "-f", `${COMPONENT}/${file}.yaml`]);
      assert.equal(code, 0, stderr);
    }
    const account = { namespace: "archway-system", name: "archway-image-builds" };
    this.#kubeconfig = await cluster.serviceAccountKubeconfig(account);
    const builder = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "machine-os-builder" } };
    await this.#create(`/api/v1/namespaces/${BUILD_NAMESPACE}/serviceaccounts`, builder);
    for (const name of ["push", "global-pull-secret-copy"]) await this.createSecret(name);
    const platforms = ALL.map((architecture) => ({ architecture }));
    const { digest } = await registry.push("base/os", "v1", { platforms });
    this.#base = `${relay.host}/base/os@${digest}`;
    await this.createPool("worker");
    for (const node of nodes) await this.addNode(node);
    this.player.start();
  }

  async #create(path: string, object: unknown): Promise<unknown> {
    const answer = await this.cluster.request("POST", path, object);
    expectStatus(`create at ${path}`, answer, [201]);
    return answer.body;
  }

  /** A registry secret with the rights to pull and to push. */
  async createSecret(name: string): Promise<void> {
    const [[username = "", password = ""] = []] = Object.entries(this.registry.users);
    const config = { auths: { [this.relay.host]: { username, password } } };
    await this.#create(`/api/v1/namespaces/${BUILD_NAMESPACE}/secrets`, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name },
      type: "kubernetes.io/dockerconfigjson",
      stringData: { ".dockerconfigjson": JSON.stringify(config) },
    });
  }

  /** A pool of the nodes with its role, and a rendered configuration for it. */
  async createPool(name: string): Promise<void> {
    const rendered = await this.#createRendered(name, {});
    await this.#create(`${GROUP}/machineconfigpools`, {
      apiVersion: "machineconfiguration.openshift.io/v1",
      kind: "MachineConfigPool",
      metadata: { name, labels: { [`pools.operator.machineconfiguration.openshift.io/${name}`]: "" } },
      spec: {
        configuration: { name: rendered, source: [] },
        machineConfigSelector: { matchLabels: { "machineconfiguration.openshift.io/role": name } },
        nodeSelector: { matchLabels: { [`node-role.kubernetes.io/${name}`]: "" } },
      },
    });
  }

  /** Gives the pool another rendered configuration. */
  async render(wanted: WantedRendered, pool = "worker"): Promise<string> {
    const name = await this.#createRendered(pool, wanted);
    await this.patch(`${GROUP}/machineconfigpools/${pool}`, { spec: { configuration: { name, source: [] } } });
    return name;
  }

  async #createRendered(pool: string, wanted: WantedRendered): Promise<string> {
    const { osImageURL = this.#base, kernelArguments = [], extensions = [], kernelType = "", file } = wanted;
    const name = `rendered-${pool}-${String(++this.#rendered).padStart(8, "0")}`;
    const source = `data:,${encodeURIComponent(file ?? "none")}`;
    await this.#create(`${GROUP}/machineconfigs`, {
      apiVersion: "machineconfiguration.openshift.io/v1",
      kind: "MachineConfig",
      metadata: {
        name,
        annotations: {
          "machineconfiguration.openshift.io/generated-by-controller-version": "1",
          "machineconfiguration.openshift.io/release-image-version": "4.20.0",
        },
      },
      spec: {
        osImageURL,
        kernelArguments,
        extensions,
        kernelType,
        config: { ignition: { version: "3.4.0" }, storage: { files: [{ path: "/etc/motd", contents: { source } }] } },
      },
    });
    return name;
  }

  /** The base image of every architecture. */
  get base(): string {
    return this.#base;
  }

  /** A node of a pool that can be scheduled at once. */
  async addNode({ name, arch, pool = "worker", taints = [], unschedulable = false }: WantedNode): Promise<void> {
    const resources = { cpu: "64", memory: "256Gi", pods: "200", "ephemeral-storage": "1Ti" };
    const labels = {
      "kubernetes.io/arch": arch,
      "kubernetes.io/os": "linux",
      "kubernetes.io/hostname": name,
      [`node-role.kubernetes.io/${pool}`]: "",
    };
    const lastHeartbeatTime = new Date().toISOString();
    await this.#create("/api/v1/nodes", {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, labels },
      status: {
        allocatable: resources,
        capacity: resources,
        nodeInfo: { architecture: arch, operatingSystem: "linux" },
        conditions: [{ type: "Ready", status: "True", reason: "KubeletReady", lastHeartbeatTime }],
      },
    });
    // Admission marks every new node as not ready; the controller that would take it off does not run.
    await this.patch(`/api/v1/nodes/${name}`, { spec: { taints, unschedulable } });
  }

  /** Removes a node. */
  async removeNode(name: string): Promise<void> {
    expectStatus("delete the node", await this.cluster.request("DELETE", `/api/v1/nodes/${name}`), [200]);
  }

  /** Where images are pushed. */
  repositoryOf({ repository = "team/os" }: Pick<WantedConfig, "repository"> = {}): string {
    return `${this.relay.host}/${repository}`;
  }

  /** Creates the MachineOSConfig of a pool. */
  async createConfig(wanted: WantedConfig = {}): Promise<void> {
    const { pool = "worker", annotations = {} } = wanted;
    await this.#create(`${GROUP}/machineosconfigs`, {
      apiVersion: "machineconfiguration.openshift.io/v1",
      kind: "MachineOSConfig",
      metadata: { name: pool, annotations },
      spec: this.#specOf(wanted),
    });
  }

  /** Gives it another spec as a whole. */
  async replaceConfig(wanted: WantedConfig = {}): Promise<void> {
    const path = `${GROUP}/machineosconfigs/${wanted.pool ?? "worker"}`;
    await waitUntil("the configuration to be replaced", async () => {
      const { body } = await this.cluster.request("GET", path);
      const next = { ...Object(body), spec: this.#specOf(wanted) };
      return (await this.cluster.request("PUT", path, next)).status === 200;
    });
  }

  #specOf(wanted: WantedConfig): unknown {
    const { pool = "worker", containerFile = [], tag = "latest", pushSecret = "push", pullSecret } = wanted;
    return {
      machineConfigPool: { name: pool },
      imageBuilder: { imageBuilderType: "Job" },
      renderedImagePushSecret: { name: pushSecret },
      ...(pullSecret === undefined ? {} : { baseImagePullSecret: { name: pullSecret } }),
      renderedImagePushSpec: `${this.repositoryOf(wanted)}:${tag}`,
      containerFile,
    };
  }

  /** Annotates the MachineOSConfig. */
  async annotate(annotations: Readonly<Record<string, string | null>>, pool = "worker"): Promise<void> {
    await this.patch(`${GROUP}/machineosconfigs/${pool}`, { metadata: { annotations } });
  }

  /** A merge patch by the admin. */
  async patch(path: string, document: unknown): Promise<void> {
    expectStatus(`patch ${path}`, await this.cluster.request("PATCH", path, document), [200]);
  }

  /** Starts the service; resolves when it is ready. */
  async startArchway(
    { identity = "one", args = [] }: { readonly identity?: string; readonly args?: readonly string[] } = {},
  ): Promise<RunningProcess> {
    const port = findFreePort();
    const config = `${this.cluster.directory}/image-builds-${identity}.yaml`;
    const imageBuilds = { builderImage: "builder.test/builder:v1", ...this.#settings };
    await Deno.writeTextFile(config, stringify({ imageBuilds, fallbackLogLevel: "debug" }));
    const archway = RunningProcess.start({
      name: `archway-${identity}`,
      command: Deno.execPath(),
      args: [
        ...["run", "-A", "--no-check", "--unstable-kv", "--quiet", MAIN, "serve", "--only=image-builds"],
        `--config=${config}`,
        `--kubeconfig=${this.#kubeconfig}`,
        "--namespace=archway-system",
        `--identity=${identity}`,
        `--admin-listen=127.0.0.1:${port}`,
        `--insecure-registry=${this.relay.host}`,
        ...args,
      ],
      directory: this.cluster.directory,
    });
    this.#stack.use(archway);
    this.#archway = archway;
    await archway.waitReady(async () => {
      const response = await fetch(`http://127.0.0.1:${port}/readyz`);
      await response.body?.cancel();
      return response.ok;
    }, { deadlineMs: 60_000 });
    return archway;
  }

  /** The MachineOSConfig as it is. */
  async config(pool = "worker"): Promise<unknown> {
    return (await this.cluster.request("GET", `${GROUP}/machineosconfigs/${pool}`)).body;
  }

  /** What its status says that nodes run; empty: nothing. */
  async published(pool = "worker"): Promise<string> {
    return String(read(await this.config(pool), "status", "currentImagePullSpec") ?? "");
  }

  /** Its MachineOSBuilds, the oldest first. */
  async builds(pool = "worker"): Promise<readonly SeenBuild[]> {
    const { body } = await this.cluster.request("GET", `${GROUP}/machineosbuilds`);
    return listOf(read(body, "items")).filter((item) => read(item, "spec", "machineOSConfig", "name") === pool)
      .toSorted((left, right) => createdOf(left) < createdOf(right) ? -1 : 1).map(seenBuild);
  }

  /** Waits until the configuration's build for what is wanted now has this state, and gives it. */
  async waitForBuild(
    state: string,
    { pool = "worker", other, ...options }: WaitOptions & {
      readonly pool?: string;
      /** Not one of this uid. */
      readonly other?: string;
    } = {},
  ): Promise<SeenBuild> {
    let last: readonly SeenBuild[] = [];
    try {
      return await waitUntil(`a build that is ${state}`, async () => {
        last = await this.builds(pool);
        return last.find((build) => build.state === state && build.uid !== other);
      }, { deadlineMs: 60_000, intervalMs: 100, ...options });
    } catch (cause) {
      throw new Error(`${String(cause)}; builds: ${JSON.stringify(last)}; log: ${await this.log()}`, { cause });
    }
  }

  /** Waits until what is published came from a build that has ended well, and gives its reference. */
  async waitForPublished(
    { pool = "worker", other = "", ...options }: WaitOptions & { readonly pool?: string; readonly other?: string } = {},
  ): Promise<string> {
    return await waitUntil("an image to be published", async () => {
      const now = await this.published(pool);
      const builds = await this.builds(pool);
      return now !== other && builds.some(({ digest, state }) => digest === now && state === "Succeeded") && now;
    }, { deadlineMs: 60_000, intervalMs: 100, ...options }).catch(async (cause: unknown) => {
      const builds = JSON.stringify(await this.builds(pool));
      throw new Error(`${String(cause)}; builds: ${builds}; log: ${await this.log()}`, { cause });
    });
  }

  /** Waits until Archway has had nothing to do for a while: no request that writes. */
  async settled(
    { forMs = 1_500, deadlineMs = 60_000 }: { readonly forMs?: number; readonly deadlineMs?: number } = {},
  ): Promise<void> {
    let seen = -1;
    let sinceMs = performance.now();
    await waitUntil("Archway to come to rest", async () => {
      const count = (await this.writes()).length;
      if (count !== seen || this.player.isBusy) [seen, sinceMs] = [count, performance.now()];
      return performance.now() - sinceMs >= forMs;
    }, { deadlineMs, intervalMs: 100 });
  }

  /** What Archway wrote to the API server, without its Lease and events: `create jobs.batch`. */
  async writes(): Promise<readonly string[]> {
    const log = await Deno.readTextFile(this.cluster.auditLogFile ?? "");
    return readUses(log, BUILD_ACCOUNT).filter(({ verb, resource }) =>
      !["get", "list", "watch"].includes(verb) && !resource.startsWith("leases") && resource !== "events"
    ).map(({ verb, resource, status }) => `${verb} ${resource}${status < 300 ? "" : ` ${status}`}`);
  }

  /** Jobs that Archway created so far. */
  async jobsCreated(): Promise<number> {
    return (await this.writes()).filter((write) => write === "create jobs.batch").length;
  }

  /** Manifests that Archway pushed so far, by tag or digest. */
  pushes(): readonly string[] {
    return this.relay.writes().filter((write) => /^PUT .*\/manifests\//.test(write));
  }

  /** What a reference of the registry is: its platforms with their digests; undefined: it is not there. */
  async platformsOf(reference: string): Promise<Readonly<Record<string, string>> | undefined> {
    const path = reference.slice(reference.indexOf("/") + 1);
    const [repository = "", identifier = ""] = path.includes("@") ? path.split("@") : splitTag(path);
    const document = await this.#manifest(repository, identifier);
    if (document === undefined) return undefined;
    const manifests = listOf(read(document.body, "manifests"));
    if (manifests.length > 0) {
      return Object.fromEntries(
        manifests.map((one) => [String(read(one, "platform", "architecture")), String(read(one, "digest"))]),
      );
    }
    const config = await this.#get(`/v2/${repository}/blobs/${String(read(document.body, "config", "digest"))}`);
    return { [String(read(JSON.parse(config.text), "architecture"))]: document.digest };
  }

  async #manifest(
    repository: string,
    identifier: string,
  ): Promise<{ readonly digest: string; readonly body: unknown } | undefined> {
    const answer = await this.#get(`/v2/${repository}/manifests/${identifier}`);
    if (answer.status === 404) return undefined;
    assert.equal(answer.status, 200, answer.text);
    return { digest: answer.digest, body: JSON.parse(answer.text) };
  }

  async #get(path: string): Promise<{ readonly status: number; readonly text: string; readonly digest: string }> {
    const [[username = "", password = ""] = []] = Object.entries(this.registry.users);
    const accept = [
      "application/vnd.oci.image.index.v1+json",
      "application/vnd.oci.image.manifest.v1+json",
      "application/vnd.docker.distribution.manifest.list.v2+json",
      "application/vnd.docker.distribution.manifest.v2+json",
    ].join(", ");
    const headers = { accept, authorization: `Basic ${btoa(`${username}:${password}`)}` };
    const response = await fetch(`${this.registry.url}${path}`, { headers });
    const digest = response.headers.get("docker-content-digest") ?? "";
    return { status: response.status, text: await response.text(), digest };
  }

  /** The end of the log of the service that was started last. */
  async log(): Promise<string> {
    return (await this.#archway?.readLog() ?? "").split("\n").slice(-40).join("\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

function splitTag(path: string): readonly [string, string] {
  const colon = path.lastIndexOf(":");
  return [path.slice(0, colon), path.slice(colon + 1)];
}

const STATES = ["Succeeded", "Failed", "Interrupted", "Building", "Prepared"];

function seenBuild(item: unknown): SeenBuild {
  const conditions = listOf(read(item, "status", "conditions"));
  const state =
    STATES.find((type) => conditions.some((one) => read(one, "type") === type && read(one, "status") === "True")) ?? "";
  const condition = conditions.find((one) => read(one, "type") === state);
  return {
    name: String(read(item, "metadata", "name")),
    uid: String(read(item, "metadata", "uid")),
    state,
    message: String(read(condition, "message") ?? ""),
    archStatus: String(read(item, "metadata", "annotations", "archway.dev/arch-status") ?? ""),
    digest: String(read(item, "status", "digestedImagePushSpec") ?? ""),
  };
}

function createdOf(item: unknown): string {
  return String(read(item, "metadata", "creationTimestamp"));
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
