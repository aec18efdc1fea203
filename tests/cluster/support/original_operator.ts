// The Managed Upgrade Operator as far as others see it: it holds its Lease as client-go does, and begins upgrades with the writes that
// it makes itself.
import { Upgrades } from "../../../lib/upgrades/names.ts";
import { originalConditions } from "../../lib/upgrades/decide/original_conditions.ts";
import { read } from "./cluster_access.ts";
import { CLUSTER_VERSION, MACHINE_SETS, machineSet, PLANS } from "./simulated_openshift.ts";
import type { UpgradeService } from "./upgrade_service.ts";
import { repeatedly } from "./wait.ts";

const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${Upgrades.namespace}/leases`;
/** As its election has them: how long the Lease lasts, and between two renewals. */
const LEASE_SECONDS = 15;
const RENEW_MS = 2_000;
export const ORIGINAL_HOLDER = "managed-upgrade-operator-6d9f7c9d5b-x2k4q_5f0c1f0e-8c3a-4a57-9c54-0f6b4d7a2e11";

/** When it began; all its times are this one. */
export const ORIGINAL_BEGAN = "2026-11-01T20:00:00Z";
export class OriginalOperator implements AsyncDisposable {
  readonly #bed: UpgradeService;
  readonly #renewing: AsyncDisposable;
  #nextMs = Date.now() + RENEW_MS;
  #fault: unknown;

  private constructor(bed: UpgradeService) {
    this.#bed = bed;
    this.#renewing = repeatedly(50, () => this.#renew());
  }

  static async start(bed: UpgradeService): Promise<OriginalOperator> {
    const now = microTime();
    const body = await bed.cluster.get(`${LEASES}/${Upgrades.lease}`);
    const leaseTransitions = Number(read(body, "spec", "leaseTransitions") ?? 0) + 1;
    const spec = { holderIdentity: ORIGINAL_HOLDER, leaseDurationSeconds: LEASE_SECONDS, leaseTransitions };
    await bed.cluster.patch(`${LEASES}/${Upgrades.lease}`, { spec: { ...spec, acquireTime: now, renewTime: now } });
    return new OriginalOperator(bed);
  }

  /** Begins the upgrade of the plan that is there: capacity, silence, request, status. */
  async begin(version: string, precedingVersion: string): Promise<void> {
    const { cluster, surroundings } = this.#bed;
    await cluster.create(MACHINE_SETS, cloneOf("workers-a"));
    surroundings.silence(`Silence for OSD control plane upgrade to version ${version}`);
    await this.#bed.cluster.patch(CLUSTER_VERSION, { spec: { desiredUpdate: { version, image: null } } });
    const conditions = originalConditions(ORIGINAL_BEGAN);
    const entry = { version, precedingVersion, phase: "Upgrading", startTime: ORIGINAL_BEGAN, conditions };
    await this.#bed.cluster.patch(`${PLANS}/${Upgrades.config}/status`, { status: { history: [entry] } });
  }

  /** Renews the Lease no more: it does not give it up either. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#renewing[Symbol.asyncDispose]();
    if (this.#fault !== undefined) throw new Error("Cannot renew the Lease", { cause: this.#fault });
  }

  async #renew(): Promise<void> {
    if (Date.now() < this.#nextMs) return;
    this.#nextMs += RENEW_MS;
    await this.#bed.cluster.patch(`${LEASES}/${Upgrades.lease}`, { spec: { renewTime: microTime() } })
      .catch((error: unknown) => {
        this.#fault = error;
      });
  }
}

function microTime(): string {
  return new Date().toISOString().replace("Z", "000Z");
}

/** With one machine, and with its label on the set, on what it selects, and on its machines. */
function cloneOf(source: string): unknown {
  const name = `${source}-upgrade`;
  const label = { "upgrade.managed.openshift.io": "true" };
  const matchLabels = { "machine.openshift.io/cluster-api-machineset": name, ...label };
  return {
    ...machineSet(name),
    metadata: { name, labels: label },
    spec: { replicas: 1, selector: { matchLabels }, template: { metadata: { labels: matchLabels }, spec: {} } },
  };
}
