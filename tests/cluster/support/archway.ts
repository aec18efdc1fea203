// `archway serve` as a child process in front of a real control plane.
import type { ClusterAccess } from "./cluster_access.ts";
import { mountAccount } from "./mounted_account.ts";
import { clusterConfig, CONFIG, CONFIGS, POD_WEBHOOK } from "./objects.ts";
import { type CertificateAuthority, createAuthority } from "./pki.ts";
import { archwayProgram } from "../../support/archway_program.ts";
import { sumSamples } from "../../support/metric_samples.ts";
import { findFreePort } from "./ports.ts";
import { isOk, RunningProcess } from "./process.ts";
import { waitUntil } from "./wait.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;

export interface ArchwayOptions {
  /** A kubeconfig of its own ServiceAccount; see installArchway(). */
  readonly kubeconfigFile: string;
  /** Name in messages, of the log and on the Lease. Default `archway`. */
  readonly name?: string;
  readonly registries?: readonly { readonly host: string; readonly caFile?: string }[];
  /** More arguments of `serve`; a later flag wins over ours. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Replicas behind one balancer share its URL and an authority. Default: a URL and an authority of its own. */
  readonly front?: { readonly webhookUrl: string; readonly authority: CertificateAuthority };
  /** Keeps the image cache on disk (in a folder that goes with the process), so that it survives a restart. Default memory. */
  readonly persistCache?: boolean;
  /** Default archwayProgram("serve"). */
  readonly command?: readonly [string, ...string[]];
  /** `mounted`: it finds its ServiceAccount as in a pod, which needs canMountAccount(). Default `kubeconfig`. */
  readonly account?: "kubeconfig" | "mounted";
}

export type LogLine = Readonly<Record<string, unknown>>;

interface Place {
  readonly directory: string;
  readonly authority: CertificateAuthority;
  readonly adminPort: number;
}

/** A running service. Ports, certificate and cache survive {@link restart}. */
export class Archway implements AsyncDisposable {
  readonly name: string;
  readonly webhookUrl: string;
  readonly webhookPort: number = findFreePort();
  readonly adminUrl: string;
  readonly caFile: string;
  readonly caPem: string;
  readonly #options: ArchwayOptions;
  readonly #place: Place;
  #process: RunningProcess | undefined;

  private constructor(options: ArchwayOptions, place: Place) {
    this.#options = options;
    this.#place = place;
    this.name = options.name ?? "archway";
    this.webhookUrl = options.front?.webhookUrl ?? `https://127.0.0.1:${this.webhookPort}`;
    this.adminUrl = `http://127.0.0.1:${place.adminPort}`;
    this.caFile = `${place.directory}/tls/ca.crt`;
    this.caPem = place.authority.certificatePem;
  }

  static async start(options: ArchwayOptions): Promise<Archway> {
    const directory = await Deno.makeTempDir({ prefix: `${options.name ?? "archway"}-` });
    const authority = options.front?.authority ?? await createAuthority("archway test webhook");
    const archway = new Archway(options, { directory, authority, adminPort: findFreePort() });
    try {
      await Deno.mkdir(`${directory}/tls`);
      await Deno.writeTextFile(archway.caFile, authority.certificatePem);
      await archway.renewCertificate();
      await archway.restart();
      return archway;
    } catch (error) {
      await archway[Symbol.asyncDispose]();
      throw error;
    }
  }

  get #running(): RunningProcess {
    if (this.#process === undefined) throw new Error("Cannot look at the process: it was never started");
    return this.#process;
  }

  pid(): number {
    return this.#running.pid;
  }

  isAlive(): boolean {
    return this.#running.isAlive;
  }

  isReady(): Promise<boolean> {
    return isOk(`${this.adminUrl}/readyz`);
  }

  async metrics(): Promise<string> {
    return await (await fetch(`${this.adminUrl}/metrics`, { signal: AbortSignal.timeout(5_000) })).text();
  }

  /** Sum of the samples of a metric whose labels contain these; 0 when there are none. Rejects where no metric has that name. */
  async metric(metric: string, labels?: Readonly<Record<string, string>>): Promise<number> {
    return sumSamples(await this.metrics(), { metric, labels });
  }

  /** Everything it logged; lines that are not JSON come as `{ message }`. */
  async logs(): Promise<readonly LogLine[]> {
    return parseLog(await this.#running.readLog());
  }

  kill(signal: Deno.Signal): void {
    this.#running.kill(signal);
  }

  /** Ends it (SIGTERM) and gives the exit code. */
  async stop(): Promise<number> {
    return (await this.#running.stop({ graceMs: 15_000 })).code;
  }

  /** Puts a certificate of the same authority into the files that it serves with. */
  async renewCertificate(commonName = "archway"): Promise<void> {
    const { directory, authority } = this.#place;
    const { certificatePem, keyPem } = await authority.issue({ commonName, usage: "server" });
    await Deno.writeTextFile(`${directory}/tls/tls.crt`, certificatePem);
    await Deno.writeTextFile(`${directory}/tls/tls.key`, keyPem, { mode: 0o600 });
  }

  /** Starts it again after {@link kill} or {@link stop}; resolves when it is ready. */
  async restart(): Promise<void> {
    const [{ directory }, { name }, options] = [this.#place, this, this.#options];
    if (this.#process?.isAlive === true) throw new Error(`Cannot start ${name}: it is running`);
    await this.#process?.ended;
    const mounted = options.account === "mounted" ? await mountAccount(options.kubeconfigFile, directory) : undefined;
    const run = options.command ?? archwayProgram("serve");
    const [command, ...leading] = mounted === undefined ? run : [...mounted.prefix, ...run] as const;
    this.#process = RunningProcess.start({
      name,
      command,
      args: [...leading, "serve", ...this.#renderFlags(), ...(options.args ?? [])],
      directory,
      cwd: ROOT,
      env: { NO_COLOR: "1", POD_NAME: name, ...mounted?.env, ...options.env },
    });
    await this.#process.waitReady(() => this.isReady());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process?.stop({ graceMs: 15_000 });
    await Deno.remove(this.#place.directory, { recursive: true });
  }

  #renderFlags(): readonly string[] {
    const { directory, adminPort } = this.#place;
    const { account, kubeconfigFile, persistCache, registries = [] } = this.#options;
    return [
      ...(account === "mounted" ? [] : [`--kubeconfig=${kubeconfigFile}`]),
      "--namespace=archway-system",
      `--listen=127.0.0.1:${this.webhookPort}`,
      `--admin-listen=127.0.0.1:${adminPort}`,
      `--webhook-url=${this.webhookUrl}`,
      `--tls-cert=${directory}/tls/tls.crt`,
      `--tls-key=${directory}/tls/tls.key`,
      `--tls-ca=${directory}/tls/ca.crt`,
      ...(persistCache === true ? [`--cache-path=${directory}/images.kv`] : []),
      ...registries.flatMap(({ host, caFile }) => [
        `--registry=${host}`,
        ...(caFile === undefined ? [] : [`--registry-ca=${caFile}`]),
      ]),
    ];
  }
}

function parseLog(text: string): readonly LogLine[] {
  return text.split("\n").filter((line) => line !== "").map((line) => {
    try {
      const value: unknown = JSON.parse(line);
      return typeof value === "object" && value !== null ? { ...value } : { message: line };
    } catch {
      return { message: line };
    }
  });
}

/**
 * Applies the manifests that Archway needs in a cluster (namespace, CRDs, ServiceAccount, RBAC; not the Deployment) and
 * gives a kubeconfig of its ServiceAccount. May be called again.
 */
export async function installArchway(cluster: ClusterAccess): Promise<string> {
  const base = `${ROOT}manifests/base`;
  const parts = [["-f", "namespace.yaml"], ["-f", "service_account.yaml"], ["-k", "crds"], ["-k", "rbac"]] as const;
  for (const [flag, part] of parts) {
    await cluster.run(["apply", "--server-side", "--force-conflicts", flag, `${base}/${part}`]);
  }
  await cluster.run(["wait", "--for=condition=Established", "crd", "--all", "--timeout=30s"]);
  return await cluster.serviceAccountKubeconfig({ namespace: "archway-system", name: "archway" });
}

/** Creates the ClusterPodPlacementConfig `cluster` and waits until the webhook is registered. Archway must be running. */
export async function enablePlacement(cluster: ClusterAccess, spec: unknown = {}): Promise<void> {
  await cluster.create(CONFIGS, clusterConfig(spec));
  await waitUntil("the webhook to be registered", () => cluster.exists(POD_WEBHOOK));
}

export async function disablePlacement(cluster: ClusterAccess): Promise<void> {
  await cluster.request("DELETE", CONFIG);
  for (const path of [CONFIG, POD_WEBHOOK]) await waitUntil(`${path} to go`, async () => !await cluster.exists(path));
}
