// `archway serve --only=upgrades` as it is installed: the arguments of its Deployment, its ServiceAccount as in a pod, the roles of
// the manifests, on a control plane with an audit log, before the scripted OpenShift and the servers beside it.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { type ManifestObject, renderComposition } from "../../../manifests/generate/kustomize.ts";
import { Upgrades } from "../../../lib/upgrades/names.ts";
import { EXTERNAL_ID } from "../../lib/upgrades/outside/ocm_double.ts";
import { archwayProgram } from "../../support/archway_program.ts";
import { lacks } from "../../support/needs.ts";
import { AuditTail } from "./audit_tail.ts";
import { type ClusterAccess, read } from "./cluster_access.ts";
import { argumentsOf, leadTo } from "./installation.ts";
import { canMountAccount, mountAccount } from "./mounted_account.ts";
import { CLUSTER_VERSION, PLANS, SimulatedOpenShift, type SimulationOptions, TO } from "./simulated_openshift.ts";
import { findFreePort } from "./ports.ts";
import { isOk, RunningProcess } from "./process.ts";
import type { Use } from "./rights.ts";
import { controlPlaneWith } from "./shared_control_plane.ts";
import { TcpBalancer } from "./tcp_balancer.ts";
import { planOf } from "./upgrade_bed.ts";
import { phaseOf, prepareUpgrades, UPGRADES_PLANE } from "./upgrade_plane.ts";
import { openSurroundings, type Surroundings } from "./upgrade_surroundings.ts";
import { waitUntil } from "./wait.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const NAMESPACE = Upgrades.namespace;
export const UPGRADE_ACCOUNT = `system:serviceaccount:${NAMESPACE}:archway-upgrades`;
export const PLAN_WEBHOOK = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/archway-upgrades";
const POOL = "/apis/machineconfiguration.openshift.io/v1/machineconfigpools/worker";
const LEASE = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/${Upgrades.lease}`;
const COMPONENTS = ["components/upgrades", "components/upgrades-drain"];
/** What is installed of the manifests: everything but what would run, and what others serve. */
const KINDS = ["Namespace", "ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"];
// After the account was mounted: names of Services are found as in a cluster.
const WITH_HOSTS = `set -e; mount --bind "$1" /etc/hosts; shift; exec setpriv --pdeathsig KILL -- "$@"`;

/** They need Go, by which OpenShift's definitions are got, and processes that find their account as in a pod. */
export const ignore: boolean = lacks("go") || !await canMountAccount();

export interface UpgradeReplica {
  readonly process: RunningProcess;
  readonly adminUrl: string;
}

export interface UpgradeLease {
  readonly holder: string;
  readonly durationMs: number;
  readonly acquiredMs: number;
  readonly renewedMs: number;
}

export interface UpgradeServiceOptions extends Partial<Pick<SimulationOptions, "pools" | "stepMs" | "failsBefore">> {
  /** As `WITHOUT_KUBELETS` says: of many nodes. Default: one that tests share. */
  readonly cluster?: ClusterAccess;
}

export class UpgradeService implements AsyncDisposable {
  readonly cluster: ClusterAccess;
  readonly openshift: SimulatedOpenShift;
  readonly surroundings: Surroundings;
  /** What the manifests of upgrades and of placement say. */
  readonly objects: readonly ManifestObject[];
  readonly #balancer: TcpBalancer;
  readonly #audit: AuditTail;
  #stack = new AsyncDisposableStack();
  #ports: readonly number[] = [];

  private constructor(
    parts: Pick<UpgradeService, "cluster" | "openshift" | "surroundings" | "objects">,
    balancer: TcpBalancer,
  ) {
    this.cluster = parts.cluster;
    this.openshift = parts.openshift;
    this.surroundings = parts.surroundings;
    this.objects = parts.objects;
    this.#balancer = balancer;
    this.#audit = new AuditTail(parts.cluster.auditLogFile ?? assert.fail("no audit log"), UPGRADE_ACCOUNT);
  }

  /** Opens it, with plans of the source LOCAL; no replica runs, and there is no plan. */
  static async open(
    { pools = { master: 1, worker: 2 }, stepMs = 100, cluster: given, ...options }: UpgradeServiceOptions = {},
  ): Promise<UpgradeService> {
    await using undo = new AsyncDisposableStack();
    const cluster = given ?? undo.use(await controlPlaneWith(UPGRADES_PLANE));
    if (given !== undefined) await prepareUpgrades(given);
    const openshift = undo.use(await SimulatedOpenShift.open(cluster, { pools, stepMs, ...options }));
    const surroundings = undo.use(await openSurroundings(cluster, TO));
    const balancer = undo.use(new TcpBalancer());
    const objects = await renderComposition("overlays/openshift", COMPONENTS);
    await cluster.apply(installed(objects, `https://127.0.0.1:${balancer.port}`));
    const bed = new UpgradeService({ cluster, openshift, surroundings, objects }, balancer);
    await cluster.patch(CLUSTER_VERSION, { spec: { clusterID: EXTERNAL_ID, upstream: surroundings.graphUrl } });
    await bed.configure("configManager: { source: LOCAL }\n");
    bed.#stack = undo.move();
    return bed;
  }

  async configure(text: string): Promise<void> {
    const metadata = { namespace: NAMESPACE, name: Upgrades.configMapName };
    const data = { [Upgrades.configMapKey]: text };
    await this.cluster.apply([{ apiVersion: "v1", kind: "ConfigMap", metadata, data }]);
  }

  async startReplica(identity: string): Promise<UpgradeReplica> {
    const { cluster, surroundings } = this;
    const directory = await Deno.makeTempDir({ prefix: `archway-upgrades-${identity}-` });
    this.#stack.defer(() => Deno.remove(directory, { recursive: true }));
    const kubeconfig = await cluster.serviceAccountKubeconfig({ namespace: NAMESPACE, name: "archway-upgrades" });
    const account = await mountAccount(kubeconfig, directory);
    await Deno.writeTextFile(`${directory}/hosts`, `127.0.0.1 localhost\n${surroundings.hosts}`);
    const [port, adminPort] = [findFreePort(), findFreePort()];
    const [command, ...leading] = account.prefix;
    const process = this.#stack.use(RunningProcess.start({
      name: `archway-${identity}`,
      command,
      args: [
        ...[...leading, "sh", "-c", WITH_HOSTS, "sh", `${directory}/hosts`],
        ...[...archwayProgram("serve"), ...argumentsOf(this.objects, directory, "archway-upgrades")],
        ...[`--listen=127.0.0.1:${port}`, `--admin-listen=127.0.0.1:${adminPort}`],
        `--webhook-url=https://127.0.0.1:${this.#balancer.port}`,
        `--insecure-registry=${surroundings.registry.host}`,
      ],
      directory,
      cwd: ROOT,
      // Nothing here is behind a proxy that this machine may have.
      env: {
        NO_COLOR: "1",
        NAMESPACE,
        POD_NAME: identity,
        NO_PROXY: "127.0.0.1,.svc",
        no_proxy: "127.0.0.1,.svc",
        ...account.env,
      },
    }));
    const adminUrl = `http://127.0.0.1:${adminPort}`;
    await process.waitReady(() => isOk(`${adminUrl}/readyz`));
    this.#ports = [...this.#ports, port];
    this.#balancer.setTargets(this.#ports);
    return { process, adminUrl };
  }

  /** Waits until a leader has written its CA, and calls of its webhook do not fail any more. Gives the CA. */
  async untilPlansAreChecked(): Promise<string> {
    return await waitUntil("the CA of the webhook", async () => {
      const caBundle = read(await this.cluster.get(PLAN_WEBHOOK), "webhooks", 0, "clientConfig", "caBundle");
      const { status } = await this.cluster.request("POST", `${PLANS}?dryRun=All`, planOf({}));
      return status !== 500 && typeof caBundle === "string" && caBundle !== "" && caBundle;
    });
  }

  createPlan(spec: Readonly<Record<string, unknown>> = {}): ReturnType<ClusterAccess["request"]> {
    return this.cluster.request("POST", PLANS, planOf(spec));
  }

  /** Creates it and expects that it is taken; the API server may use a new CA only a moment after it was written. */
  async storePlan(spec: Readonly<Record<string, unknown>> = {}): Promise<void> {
    await waitUntil("the plan to be stored", () => this.cluster.create(PLANS, planOf(spec)), { intervalMs: 500 });
  }

  async readPlan(): Promise<unknown> {
    const { status, body } = await this.cluster.request("GET", `${PLANS}/${Upgrades.config}`);
    return status === 404 ? undefined : body;
  }

  /** Looks again and again, and has the service look: what it waits for may be what it does not watch. */
  async until(
    what: string,
    probe: () => Promise<boolean>,
    { deadlineMs = 120_000 }: { readonly deadlineMs?: number } = {},
  ): Promise<void> {
    let looks = 0;
    await waitUntil(what, async () => {
      if (await probe()) return true;
      if (looks++ % 8 === 0) await this.cluster.patch(POOL, { metadata: { annotations: { looked: String(looks) } } });
      return false;
    }, { deadlineMs, intervalMs: 250 }).catch(async (cause: unknown) => {
      const fault = `operators: ${String(this.openshift.lastFault)}`;
      throw new Error(`${String(cause)}; ${fault}; ${JSON.stringify(read(await this.readPlan(), "status"))}`, {
        cause,
      });
    });
  }

  async untilPhase(phase: string, patience: { readonly deadlineMs?: number } = {}): Promise<void> {
    await this.until(`the phase ${phase}`, async () => phaseOf(await this.readPlan()) === phase, patience);
  }

  async lease(): Promise<UpgradeLease> {
    const body = await this.cluster.get(LEASE);
    const timeOf = (name: string): number => Date.parse(String(read(body, "spec", name)));
    return {
      holder: String(read(body, "spec", "holderIdentity") ?? ""),
      durationMs: Number(read(body, "spec", "leaseDurationSeconds")) * 1_000,
      acquiredMs: timeOf("acquireTime"),
      renewedMs: timeOf("renewTime"),
    };
  }

  uses(): Promise<readonly Use[]> {
    return this.#audit.uses();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

/** The function of a test that has a bed of its own. */
export function onService(
  body: (bed: UpgradeService, t: Deno.TestContext) => Promise<void>,
): (t: Deno.TestContext) => Promise<void> {
  return async (t) => {
    await using bed = await UpgradeService.open();
    await body(bed, t);
  };
}

/** Namespaces, accounts, roles, and the webhook of plans, which the API server reaches by URL here. */
function installed(objects: readonly ManifestObject[], baseUrl: string): readonly ManifestObject[] {
  return objects.flatMap((object) => {
    if (KINDS.includes(object.kind)) return [object];
    if (object.kind !== "ValidatingWebhookConfiguration" || object.metadata.name !== "archway-upgrades") return [];
    return [leadTo(baseUrl, object)];
  }).toSorted((one, other) => Number(one.kind !== "Namespace") - Number(other.kind !== "Namespace"));
}
