// Drives one reconcile in order: reads what it requests, applies what it decides, writes a changed status.
import { isDeepStrictEqual } from "node:util";
import { isConflict } from "../../lib/k8s/api_error.ts";
import { Resource } from "../../lib/k8s/types.ts";
import { assertNever } from "../../lib/parsed.ts";
import { openClusterReader } from "../../lib/upgrades/cluster/cluster_reader.ts";
import { sinksOf, withDelivery } from "../../lib/upgrades/decide/notifications/notify.ts";
import { STALE_AFTER } from "../../lib/upgrades/decide/steps/run.ts";
import { historyEntryOf } from "../../lib/upgrades/decide/status_changes.ts";
import {
  type Delivery,
  type HistoryEntry,
  renderStatus,
  type StepCondition,
  type UpgradeConfig,
  type UpgradeStatus,
} from "../../lib/upgrades/decide/types/plan.ts";
import {
  NO_ANSWER,
  type Reconcile,
  type ReconcileAnswer,
  type ReconcileEnd,
  type ReconcileRequest,
} from "../../lib/upgrades/decide/types/steps.ts";
import type { ReadContext, UpgradesDeps } from "./deps.ts";
import { applyEffects } from "./effects.ts";
import { readAll } from "./readings.ts";
import { type EventInput, type EventObject, eventObjectOf } from "../../lib/k8s/event_input.ts";

export interface DriveOptions extends Omit<ReadContext, "reader"> {
  readonly plan: UpgradeConfig | undefined;
  readonly onWritten: (status: UpgradeStatus) => void;
}

/** Drives a reconcile to its end. Stops and rejects when the signal aborts or the plan cannot be written. */
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

  async answer(request: ReconcileRequest): Promise<ReconcileAnswer> {
    switch (request.kind) {
      case "read":
        return { ...NO_ANSWER, read: await readAll(request.readings, this.#deps, this.#context()) };
      case "apply":
        return await this.#apply(request);
      case "save":
        await this.#save(request.status);
        return NO_ANSWER;
      default:
        return assertNever(request);
    }
  }

  async #apply({ effects }: Extract<ReconcileRequest, { readonly kind: "apply" }>): Promise<ReconcileAnswer> {
    const context = {
      ...this.#context(),
      setDesiredVersion: (version: string) => this.#patch({ spec: { desired: { version } } }),
      deliveries: {
        sinksOf: (id: string) => sinksOf(this.#deliveries, id),
        write: (id: string, sinks: readonly string[]) => this.#writeDelivery({ id, sinks }),
      },
    };
    const applied = await applyEffects(effects, this.#deps, context);
    // Silences are not in the cluster's API, so its readings stay valid.
    if (effects.some(({ kind }) => STALE_AFTER[kind]?.some((name) => name !== "silences"))) {
      this.#reader = openClusterReader(this.#deps.readApi, this.#options.signal);
    }
    return applied;
  }

  async #save(status: UpgradeStatus): Promise<void> {
    const { plan } = this.#options;
    if (plan === undefined) return;
    const [before, rendered] = [renderStatus(this.#status), renderStatus(status)];
    if (isDeepStrictEqual(before, rendered)) return;
    await this.#patch({ status: rendered }, "status");
    reportChanges(this.#deps, { plan, before: this.#status, after: status });
    this.#status = status;
    this.#options.onWritten(status);
  }

  /** Writes the deliveries apart from the history, which is replaced as a whole: neither overwrites the other. */
  async #writeDelivery(delivery: Delivery): Promise<void> {
    const { plan } = this.#options;
    if (plan === undefined) return;
    const deliveries = withDelivery(this.#deliveries, delivery, { plan, status: this.#status });
    await this.#patch({ status: { deliveries } }, "status");
    this.#deliveries = deliveries;
  }

  /** Patches the plan. The API server refuses that if the plan has changed since it was read. */
  async #patch(change: Readonly<Record<string, unknown>>, subresource?: "status"): Promise<void> {
    const { plan, signal } = this.#options;
    if (plan === undefined) return;
    const { namespace, name } = plan;
    const target = { namespace, name, ...subresource === undefined ? {} : { subresource } };
    const document = { metadata: { resourceVersion: this.#resourceVersion }, ...change };
    const body = { kind: "merge", document } as const;
    try {
      const written = await this.#deps.api.patch(Resource.upgradeConfigs, target, { body, signal });
      this.#resourceVersion = written.metadata.resourceVersion ?? "";
    } catch (error) {
      if (!isConflict(error)) throw error;
      throw new Error("Cannot write the UpgradeConfig: another client changed it. It will be retried.", {
        cause: error,
      });
    }
  }

  #context(): ReadContext {
    return { ...this.#options, reader: this.#reader };
  }
}

interface StatusChange {
  readonly plan: UpgradeConfig;
  readonly before: UpgradeStatus;
  readonly after: UpgradeStatus;
}

function reportChanges({ events, log }: Pick<UpgradesDeps, "events" | "log">, change: StatusChange): void {
  for (const event of changesOf(change)) events.record(event);
  const [newest] = change.after.history;
  const [earlier] = change.before.history;
  if (newest === undefined || newest.phase === earlier?.phase) return;
  const { phase, version, architecture } = newest;
  log.info("upgrade", { phase, version, ...architecture === "" ? {} : { architecture } });
}

function changesOf({ plan, before, after }: StatusChange): readonly EventInput[] {
  return after.history.flatMap((entry) => {
    const earlier = historyEntryOf(before, entry);
    return [
      ...entry.phase === earlier?.phase ? [] : [phaseEvent(plan, entry)],
      ...entry.conditions.toReversed().flatMap((condition) =>
        stepEvent(plan, condition, earlier?.conditions.find(({ type }) => type === condition.type))
      ),
    ];
  });
}

function phaseEvent(plan: UpgradeConfig, { phase, version, architecture }: HistoryEntry): EventInput {
  const target = architecture === "" ? version : `${version} (${architecture})`;
  const type = phase === "Failed" ? "Warning" : "Normal";
  return { object: objectOf(plan), type, reason: `Upgrade${phase}`, message: `The upgrade to ${target} is ${phase}.` };
}

function stepEvent(
  plan: UpgradeConfig,
  { type, status, message }: StepCondition,
  earlier: StepCondition | undefined,
): readonly EventInput[] {
  const object = objectOf(plan);
  if (status === "True") return earlier?.status === "True" ? [] : [{ object, type: "Normal", reason: type, message }];
  if (earlier?.message === message && earlier.status === status) return [];
  const isWaiting = (text: string | undefined): boolean => text?.startsWith(`${type} `) === true;
  // The reason to wait changes with every node. The condition shows it; events would be one per node.
  if (isWaiting(message) && earlier?.status === "False" && isWaiting(earlier.message)) return [];
  return [{ object, type: isWaiting(message) ? "Normal" : "Warning", reason: type, message }];
}

function objectOf({ namespace, name, uid }: UpgradeConfig): EventObject {
  return eventObjectOf(Resource.upgradeConfigs, { name, namespace, uid });
}
