// Plays kubelets and builders: a pod of a build that the real scheduler has bound to a node "runs" as its fate says. It pushes
// an image of the node's architecture to the real registry, writes the digest's ConfigMap, and ends; the real Job controller
// makes the Job's status of it.
import { BUILD_NAMESPACE } from "./build_objects.ts";
import { type ClusterAccess, expectStatus, listAt, read } from "./cluster_access.ts";
import type { RealRegistry } from "./registry.ts";
import { repeatedly } from "./wait.ts";

export type Fate =
  | { readonly kind: "succeed" }
  | { readonly kind: "fail"; readonly exitCode?: number }
  | { readonly kind: "hang" }
  | { readonly kind: "evict" };

export interface PlayedPod {
  readonly arch: string;
  readonly node: string;
  /** `registry/repository:tag`. */
  readonly tag: string;
  readonly base: string;
  /** Of what was pushed; empty: nothing. */
  readonly digest: string;
}

const CORE = `/api/v1/namespaces/${BUILD_NAMESPACE}`;
const SUCCEED: Fate = { kind: "succeed" };

export class BuildPlayer implements AsyncDisposable {
  readonly #cluster: ClusterAccess;
  readonly #registry: RealRegistry;
  readonly #handled = new Set<string>();
  readonly #hanging = new Set<string>();
  readonly played: PlayedPod[] = [];
  fate: (arch: string, attempt: number) => Fate = () => SUCCEED;
  #running: AsyncDisposable | undefined;
  #busy = false;
  readonly #attempts = new Map<string, number>();

  constructor(cluster: ClusterAccess, registry: RealRegistry) {
    this.#cluster = cluster;
    this.#registry = registry;
  }

  /** Whether a pod waits or runs that is not to hang. */
  get isBusy(): boolean {
    return this.#busy;
  }

  start(): void {
    // Between two looks the API server may be restarted by a test.
    this.#running = repeatedly(200, () => this.#look().catch(() => {}));
  }

  built(from = 0): readonly string[] {
    return this.played.slice(from).filter(({ digest }) => digest !== "").map(({ arch }) => arch).sort();
  }

  /** Lets pods that hang go on, as their fate says now. */
  release(): void {
    for (const uid of this.#hanging) this.#handled.delete(uid);
    this.#hanging.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running?.[Symbol.asyncDispose]();
  }

  async #look(): Promise<void> {
    let busy = false;
    for (const pod of await this.#cluster.list(`${CORE}/pods?labelSelector=batch.kubernetes.io%2Fjob-name`)) {
      const uid = String(read(pod, "metadata", "uid"));
      if (read(pod, "metadata", "deletionTimestamp") !== undefined) await this.#bury(pod);
      else if (!this.#handled.has(uid) && String(read(pod, "spec", "nodeName") ?? "") !== "") {
        this.#handled.add(uid);
        // A look that fails half-way, as when a test restarts the API server, is repeated as a whole.
        await this.#play(pod).catch((cause: unknown) => {
          this.#handled.delete(uid);
          throw cause;
        });
        busy = true;
      }
    }
    this.#busy = busy;
  }

  async #bury(pod: unknown): Promise<void> {
    await this.#setStatus(pod, { phase: "Failed", containerStatuses: [] }).catch(() => {});
    const answer = await this.#cluster.request("DELETE", `${pathOf(pod)}?gracePeriodSeconds=0`);
    expectStatus("delete a pod for good", answer, [200, 404]);
  }

  async #play(pod: unknown): Promise<void> {
    const node = String(read(pod, "spec", "nodeName"));
    const arch = await this.#archOf(node);
    const job = String(read(pod, "metadata", "labels", "batch.kubernetes.io/job-name"));
    const attempt = (this.#attempts.get(job) ?? 0) + 1;
    this.#attempts.set(job, attempt);
    const fate = this.fate(arch, attempt);
    const env = envOf(pod);
    const played = { arch, node, tag: env["TAG"] ?? "", base: env["BASE_OS_IMAGE_PULLSPEC"] ?? "" };
    // Before the status is written: a release meanwhile counts for it, too.
    if (fate.kind === "hang") this.#hanging.add(String(read(pod, "metadata", "uid")));
    await this.#setStatus(pod, { phase: "Running", startTime: new Date().toISOString() });
    switch (fate.kind) {
      case "succeed": {
        const digest = await this.#build(pod, { arch, env });
        this.played.push({ ...played, digest });
        return await this.#end(pod, "Succeeded", 0);
      }
      case "fail":
        this.played.push({ ...played, digest: "" });
        return await this.#end(pod, "Failed", fate.exitCode ?? 1);
      case "hang":
        return;
      case "evict": {
        this.played.push({ ...played, digest: "" });
        const condition = { type: "DisruptionTarget", status: "True", reason: "EvictionByEvictionAPI" };
        await this.#setStatus(pod, { phase: "Failed", conditions: [condition] });
      }
    }
  }

  async #archOf(node: string): Promise<string> {
    return String(read(await this.#cluster.get(`/api/v1/nodes/${node}`), "status", "nodeInfo", "architecture"));
  }

  async #build(
    pod: unknown,
    { arch, env }: { readonly arch: string; readonly env: Readonly<Record<string, string>> },
  ): Promise<string> {
    const [, repository = "", tag = ""] = /^[^/]+\/(.*):(.*)$/.exec(env["TAG"] ?? "") ?? [];
    const key = env["BUILD_KEY"];
    const { digest } = await this.#registry.push(repository, tag, {
      single: { architecture: arch },
      ...(key === undefined ? {} : { labels: { "archway.dev.build-key": key } }),
      // No two builds give the same bytes, as with real ones.
      salt: String(read(pod, "metadata", "uid")),
    });
    await this.#handOver(pod, { env, digest });
    return digest;
  }

  async #handOver(
    pod: unknown,
    { env, digest }: { readonly env: Readonly<Record<string, string>>; readonly digest: string },
  ): Promise<void> {
    const pairs = (env["DIGEST_CONFIGMAP_LABELS"] ?? "").split(",").map((pair) => pair.split("="));
    const name = env["DIGEST_CONFIGMAP_NAME"] ?? "";
    const map = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name, labels: Object.fromEntries(pairs.map(([label = "", value = ""]) => [label, value])) },
      data: {
        digest,
        arch: env["ARCH"] ?? "",
        buildKey: env["BUILD_KEY"] ?? "",
        jobUID: String(read(pod, "metadata", "labels", "batch.kubernetes.io/controller-uid")),
      },
    };
    const created = await this.#cluster.request("POST", `${CORE}/configmaps`, map);
    if (created.status === 409) {
      expectStatus("replace a digest", await this.#cluster.request("PUT", `${CORE}/configmaps/${name}`, map), [200]);
    } else expectStatus("create a digest", created, [201]);
  }

  async #end(pod: unknown, phase: "Succeeded" | "Failed", exitCode: number): Promise<void> {
    const terminated = { exitCode, reason: exitCode === 0 ? "Completed" : "Error" };
    const statusOf = (container: unknown): unknown => ({
      name: read(container, "name"),
      image: read(container, "image"),
      imageID: "",
      ready: false,
      restartCount: 0,
      state: { terminated },
    });
    // The Job controller makes the next pod some time after this.
    const ended = { type: "Ready", status: "False", lastTransitionTime: new Date(0).toISOString() };
    await this.#setStatus(pod, {
      phase,
      initContainerStatuses: listAt(pod, "spec", "initContainers").map(statusOf),
      ...(phase === "Failed"
        ? { conditions: [ended] }
        : { containerStatuses: listAt(pod, "spec", "containers").map(statusOf) }),
    });
  }

  async #setStatus(pod: unknown, status: unknown): Promise<void> {
    const answer = await this.#cluster.request("PATCH", `${pathOf(pod)}/status`, { status });
    expectStatus("write a pod's status", answer, [200, 404, 409]);
  }
}

function pathOf(pod: unknown): string {
  return `${CORE}/pods/${String(read(pod, "metadata", "name"))}`;
}

function envOf(pod: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(
    listAt(pod, "spec", "initContainers", 0, "env").flatMap((one) => {
      const value = read(one, "value");
      return typeof value === "string" ? [[String(read(one, "name")), value]] : [];
    }),
  );
}
