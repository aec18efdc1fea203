// Drives one reconcile: reads what it requests, carries out what it decides, writes the status it gives, in its order.
import { isDeepStrictEqual } from "node:util";
import { isConflict } from "../../lib/k8s/errors.ts";
import { Resource } from "../../lib/k8s/types.ts";
import { unreachable } from "../../lib/parsed.ts";
import { openClusterReader } from "../../lib/upgrades/cluster/cluster_reader.ts";
import type { OsImages } from "../../lib/upgrades/cluster/os_images.ts";
import { sinksOf, withDelivery } from "../../lib/upgrades/decide/notifications/notify.ts";
import type { Base } from "../../lib/upgrades/decide/types/observed.ts";
import {
  type Delivery,
  renderStatus,
  type UpgradeConfig,
  type UpgradeStatus,
} from "../../lib/upgrades/decide/types/plan.ts";
import type { Answer, Reconcile, ReconcileEnd, Request } from "../../lib/upgrades/decide/types/steps.ts";
import type { Beside, UpgradesDeps } from "./deps.ts";
import { applyEffects, CHANGES_MACHINES } from "./effects.ts";
import { readAll } from "./readings.ts";
import { reportChanges } from "./report.ts";

export interface DriveOptions extends Beside {
  readonly plan: UpgradeConfig | undefined;
  readonly base: Base | undefined;
  readonly osImages: OsImages;
  readonly nowMs: number;
  readonly signal: AbortSignal;
  readonly onWritten?: (status: UpgradeStatus) => void;
}

/** Drives it to its end. Rejects when the signal aborts, and when the plan was changed by another: nothing more is done then. */
export async function drive(run: Reconcile, deps: UpgradesDeps, options: DriveOptions): Promise<ReconcileEnd> {
  const driver = new Driver(deps, options);
  let next = run.next();
  while (!next.done) next = run.next(await driver.answer(next.value));
  return next.value;
}

class Driver {
  readonly #deps: UpgradesDeps;
  readonly #options: DriveOptions;
  #reader: ReturnType<typeof openClusterReader>;
  #resourceVersion: string;
  #status: UpgradeStatus;
  #deliveries: readonly Delivery[];

  constructor(deps: UpgradesDeps, options: DriveOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#reader = openClusterReader(deps.readApi, options.signal);
    this.#resourceVersion = options.plan?.resourceVersion ?? "";
    this.#status = options.plan?.status ?? { history: [], conditions: [] };
    this.#deliveries = options.plan?.deliveries ?? [];
  }

  async answer(request: Request): Promise<Answer> {
    switch (request.kind) {
      case "read":
        return { kind: "read", read: await readAll(request.readings, this.#deps, this.#scope()) };
      case "apply":
        return await this.#apply(request);
      case "save":
        await this.#save(request.status);
        return { kind: "saved" };
      default:
        return unreachable(request);
    }
  }

  async #apply({ effects }: Extract<Request, { readonly kind: "apply" }>): Promise<Answer> {
    const scope = {
      ...this.#scope(),
      setDesiredVersion: (version: string) => this.#setDesiredVersion(version),
      deliveries: {
        sinksOf: (id: string) => sinksOf(this.#deliveries, id),
        write: (id: string, sinks: readonly string[]) => this.#writeDelivery({ id, sinks }),
      },
    };
    const applied = await applyEffects(effects, this.#deps, scope);
    if (effects.some(({ kind }) => CHANGES_MACHINES.includes(kind))) {
      this.#reader = openClusterReader(this.#deps.readApi, this.#options.signal);
    }
    return applied;
  }

  async #save(status: UpgradeStatus): Promise<void> {
    const { plan } = this.#options;
    if (plan === undefined) return;
    const [before, rendered] = [renderStatus(this.#status), renderStatus(status)];
    if (isDeepStrictEqual(before, rendered)) return;
    const body = { kind: "merge", document: { metadata: this.#guard(), status: rendered } } as const;
    await this.#patch(body, "status");
    reportChanges(this.#deps, { plan, before: this.#status, after: status });
    this.#status = status;
    this.#options.onWritten?.(status);
  }

  /** Beside the history, which is written as a whole: neither write takes the other's away. */
  async #writeDelivery(delivery: Delivery): Promise<void> {
    const { plan } = this.#options;
    if (plan === undefined) return;
    const deliveries = withDelivery(this.#deliveries, delivery, { plan, status: this.#status });
    const document = { metadata: this.#guard(), status: { deliveries } };
    await this.#patch({ kind: "merge", document }, "status");
    this.#deliveries = deliveries;
  }

  async #setDesiredVersion(version: string): Promise<void> {
    const document = { metadata: this.#guard(), spec: { desired: { version } } };
    await this.#patch({ kind: "merge", document }, undefined);
  }

  async #patch(
    body: { readonly kind: "merge"; readonly document: unknown },
    subresource: "status" | undefined,
  ): Promise<void> {
    const { plan, signal } = this.#options;
    if (plan === undefined) return;
    const { namespace, name } = plan;
    const target = { namespace, name, ...subresource === undefined ? {} : { subresource } };
    try {
      const written = await this.#deps.api.patch(Resource.upgradeConfigs, target, { body, signal });
      this.#resourceVersion = written.metadata.resourceVersion ?? "";
    } catch (error) {
      if (!isConflict(error)) throw error;
      throw new Error("Cannot write the UpgradeConfig: another changed it meanwhile. It is looked at again.", {
        cause: error,
      });
    }
  }

  #guard(): { readonly resourceVersion: string } {
    return { resourceVersion: this.#resourceVersion };
  }

  #scope(): { readonly reader: ReturnType<typeof openClusterReader> } & DriveOptions {
    return { ...this.#options, reader: this.#reader };
  }
}
