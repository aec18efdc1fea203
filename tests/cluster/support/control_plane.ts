// A real control plane on loopback: etcd, kube-apiserver with RBAC, controller-manager, scheduler, and kwok as the kubelets.
// Started by run.ts for tests to lease, and by tests that restart or kill parts of it, set flags or read its audit log.
import { type Binaries, ensureBinaries } from "./binaries.ts";
import { AdminConnection, type ClusterAccess, type Coordinates, renderKubeconfig } from "./cluster_access.ts";
import {
  type RealNodes,
  renderFlags,
  type ServerFlags,
  type ServerPlan,
  writeServerFiles,
} from "./control_plane_files.ts";
import { findFreePort, isPortFree } from "./ports.ts";
import { RunningProcess } from "./process.ts";
import { waitUntil } from "./wait.ts";

export interface ControlPlaneOptions {
  /** Writes `audit.log` at level Metadata. */
  readonly auditLog?: boolean;
  /** More flags, by server; a later flag wins over ours. */
  readonly flags?: ServerFlags;
  /** Servers to leave out: where nothing is to be scheduled, they would only take CPU. addNodes() needs kwok. */
  readonly without?: readonly ("kube-scheduler" | "kwok")[];
  /** For kubelets that are no simulation: kwok plays only nodes with the annotation `kwok.x-k8s.io/node: fake`. */
  readonly realNodes?: RealNodes;
}

/**
 * For every test that leaves the servers alone: with an audit log, nodes that count as well though nothing renews them, calls to
 * endpoints of Services, and OpenShift's check of whoever makes an object the owner of another.
 */
export const SHAREABLE: ControlPlaneOptions = {
  auditLog: true,
  flags: {
    "kube-apiserver": [
      "--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
      // It calls the endpoints of a Service itself: nothing here routes the addresses of Services.
      "--enable-aggregator-routing=true",
    ],
    "kube-controller-manager": ["--node-monitor-grace-period=1h"],
  },
};

/** For nodes that are objects alone, where no pod is to be scheduled. */
export const WITHOUT_KUBELETS: ControlPlaneOptions = {
  auditLog: true,
  without: ["kube-scheduler", "kwok"],
  flags: { "kube-controller-manager": ["--controllers=*,-node-lifecycle-controller,-taint-eviction-controller"] },
};

/** How a server is ended: asked to (SIGTERM), or killed (SIGKILL). */
export type StopManner = "orderly" | "killed";

/** A running control plane. Ports, keys and data survive the restart of a part. Dispose it to stop all and remove its files. */
export interface ControlPlane extends ClusterAccess, AsyncDisposable {
  readonly etcdUrl: string;
  stopApiServer(manner?: StopManner): Promise<void>;
  /** Resolves when `/readyz` says ok. */
  startApiServer(): Promise<void>;
  restartApiServer(manner?: StopManner): Promise<void>;
  restartEtcd(manner?: StopManner): Promise<void>;
  stopEtcd(manner?: StopManner): Promise<void>;
  /** Resolves when it answers. */
  startEtcd(): Promise<void>;
}

/** Starts one in a temporary folder. Throws, with the end of the log, when a part does not come up. */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const binaries = await ensureBinaries();
  const directory = await Deno.makeTempDir({ prefix: "archway-control-plane-" });
  await using undo = new AsyncDisposableStack();
  undo.defer(() => removeDirectory(directory));
  const ports = {
    etcd: findFreePort(),
    etcdPeer: findFreePort(),
    apiServer: findFreePort(),
    controllerManager: findFreePort(),
    scheduler: findFreePort(),
    kwok: findFreePort(),
  };
  const plan = await writeServerFiles(directory, { ports, realNodes: options.realNodes });
  const url = `https://127.0.0.1:${plan.ports.apiServer}`;
  const coordinates: Coordinates = {
    url,
    caFile: plan.caFile,
    caPem: plan.caPem,
    adminToken: plan.adminToken,
    kubeconfigFile: plan.kubeconfigFile,
    directory,
    kubectlFile: binaries.kubectl,
    ...(options.auditLog === true ? { auditLogFile: `${directory}/audit.log` } : {}),
  };
  await Deno.writeTextFile(plan.kubeconfigFile, renderKubeconfig(coordinates, { token: plan.adminToken }));
  const connection = undo.use(new AdminConnection(coordinates));
  const { flags = {}, without = [] } = options;
  const servers = undo.use(new Servers({ plan, coordinates, binaries, flags, without }));
  await servers.startAll();
  const opened = undo.move();
  return {
    ...connection.access,
    etcdUrl: `http://127.0.0.1:${plan.ports.etcd}`,
    stopApiServer: (manner) => servers.stop("kube-apiserver", manner),
    startApiServer: () => servers.startApiServer(),
    restartApiServer: async (manner) => {
      await servers.stop("kube-apiserver", manner);
      await servers.startApiServer();
    },
    restartEtcd: (manner) => servers.restartEtcd(manner),
    stopEtcd: (manner) => servers.stop("etcd", manner),
    startEtcd: () => servers.startEtcd(),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

async function removeDirectory(directory: string): Promise<void> {
  if (Deno.env.get("ARCHWAY_TEST_KEEP") === undefined) await Deno.remove(directory, { recursive: true });
}

type ServerName = Exclude<keyof Binaries, "kubectl">;

interface ServersOptions {
  readonly plan: ServerPlan;
  readonly coordinates: Coordinates;
  readonly binaries: Binaries;
  readonly flags: ServerFlags;
  readonly without: readonly ServerName[];
}

class Servers implements AsyncDisposable {
  readonly #options: ServersOptions;
  readonly #running = new Map<ServerName, RunningProcess>();
  readonly #client: Deno.HttpClient;

  constructor(options: ServersOptions) {
    this.#options = options;
    this.#client = Deno.createHttpClient({ caCerts: [options.coordinates.caPem], http2: false, poolMaxIdlePerHost: 0 });
  }

  async startAll(): Promise<void> {
    const { controllerManager, scheduler, kwok } = this.#options.plan.ports;
    await this.startEtcd();
    await this.startApiServer();
    await Promise.all([
      this.#start("kube-controller-manager", `https://127.0.0.1:${controllerManager}/healthz`),
      this.#start("kube-scheduler", `https://127.0.0.1:${scheduler}/healthz`),
      this.#start("kwok", `http://127.0.0.1:${kwok}/healthz`),
    ]);
    await this.#waitForControllers();
  }

  async startApiServer(): Promise<void> {
    await this.#start("kube-apiserver", `${this.#options.coordinates.url}/readyz`);
  }

  async startEtcd(): Promise<void> {
    await this.#start("etcd", `http://127.0.0.1:${this.#options.plan.ports.etcd}/readyz`);
  }

  async stop(name: ServerName, manner: StopManner = "orderly"): Promise<void> {
    const running = this.#running.get(name);
    if (running === undefined) return;
    if (manner === "killed") running.kill("SIGKILL");
    await running.stop({ graceMs: 10_000 });
    this.#running.delete(name);
  }

  async restartEtcd(manner: StopManner = "orderly"): Promise<void> {
    await this.stop("etcd", manner);
    await this.startEtcd();
    await waitUntil("the API server to be ready again", () => this.#isOk(`${this.#options.coordinates.url}/readyz`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // kwok, scheduler and controller-manager have nothing to save and would spend seconds on farewells.
    for (const name of ["kwok", "kube-scheduler", "kube-controller-manager"] as const) {
      this.#running.get(name)?.kill("SIGKILL");
    }
    for (const name of [...this.#running.keys()].reverse()) await this.stop(name, "killed");
    this.#client.close();
  }

  /** A left-over of an earlier run must never answer for us: the port was free, and our child runs when it answers. */
  async #start(name: ServerName, readyUrl: string): Promise<void> {
    if (this.#options.without.includes(name)) return;
    if (this.#running.has(name)) throw new Error(`Cannot start ${name}: it is running`);
    const port = Number(new URL(readyUrl).port);
    if (!isPortFree(port)) throw new Error(`Cannot start ${name}: port ${port} is taken`);
    const { plan, coordinates, binaries, flags } = this.#options;
    const running = RunningProcess.start({
      name,
      command: binaries[name],
      args: [...renderFlags(name, plan, coordinates), ...(flags[name] ?? [])],
      directory: plan.directory,
      // kwok and etcd look for configuration in the home folder. Garbage is collected less often: processors are what tests lack.
      env: { HOME: plan.directory, GOGC: "400", GOMEMLIMIT: "1GiB" },
    });
    this.#running.set(name, running);
    await running.waitReady(() => this.#isOk(readyUrl), { deadlineMs: 60_000 });
  }

  async #isOk(url: string): Promise<boolean> {
    const headers: Record<string, string> = url.startsWith(`${this.#options.coordinates.url}/`)
      ? { authorization: `Bearer ${this.#options.coordinates.adminToken}` }
      : {};
    const response = await fetch(url, { client: this.#client, headers, signal: AbortSignal.timeout(2_000) });
    await response.body?.cancel();
    return response.ok;
  }

  /** The controllers run when they have made what every namespace gets. */
  async #waitForControllers(): Promise<void> {
    const account = `${this.#options.coordinates.url}/api/v1/namespaces/default/serviceaccounts/default`;
    await waitUntil("the controller-manager to work", () => this.#isOk(account));
  }
}
