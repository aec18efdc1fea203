// Keeps the UpgradeConfig as a policy source states it: at intervals, and once more right before an upgrade begins.
import { type Clock, jitter } from "../../../clock.ts";
import { type JsonObject, objectAt } from "../../../json.ts";
import { ignoring, type KubeApi, readOptional } from "../../../k8s/api.ts";
import { isNotFound } from "../../../k8s/api_error.ts";
import { apiVersionOf, type KubeObject, Resource } from "../../../k8s/types.ts";
import { errorText, type Logger } from "../../../log.ts";
import {
  decidePlanChange,
  isActionable,
  type LastSync,
  localPolicyOf,
  nextSyncMs,
  orderPolicies,
  type PlanChange,
  type PolicyResult,
  specOfPolicy,
} from "../../decide/policy/plan_change.ts";
import type { PolicyRefresh } from "../../decide/types/cluster.ts";
import type { OperatorConfig } from "../../decide/types/operator_config.ts";
import { Upgrades } from "../../names.ts";
import { UpstreamError } from "../http/upstream_error.ts";
import type { OcmClient } from "../ocm/ocm_client.ts";

export interface PolicySource {
  /** What becomes of the UpgradeConfig when the source has no policy. `keep`: users wrote it. */
  readonly onNone: "remove" | "keep";
  /** `current`: the UpgradeConfig as it was read a moment ago. */
  fetch(signal: AbortSignal, current: KubeObject | undefined): Promise<PolicyResult>;
}

interface PolicySyncDeps {
  readonly api: KubeApi;
  readonly namespace: string;
  /** The source by `config`, or by the current settings if absent. */
  readonly source: (signal: AbortSignal, config?: OperatorConfig) => Promise<PolicySource>;
  readonly watchIntervalMinutes: () => number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onSynced: (nowMs: number) => void;
}

/** How long a deleted UpgradeConfig may stay, and how often it is looked for (ms). */
const GONE_WITHIN_MS = 60_000;
const CHECK_MS = 5_000;

export class PolicySync {
  readonly #deps: PolicySyncDeps;

  constructor(deps: PolicySyncDeps) {
    this.#deps = deps;
  }

  /** Reads the source and brings the UpgradeConfig in line. Rejects when the source or API server does not answer. */
  async refresh(signal: AbortSignal, config?: OperatorConfig): Promise<PolicyRefresh> {
    const { clock, onSynced, source } = this.#deps;
    const current = await this.#read(signal);
    const asked = await source(signal, config);
    const result = await asked.fetch(signal, current);
    if (result.kind === "notConfigured") return { kind: "notConfigured" };
    const spec = current === undefined ? undefined : objectAt(current, "spec") ?? {};
    const isKept = result.kind === "none" && asked.onNone === "keep";
    const change: PlanChange = isKept ? { kind: "nothing" } : decidePlanChange(spec, result);
    await this.#apply(change, { current, signal });
    onSynced(clock.nowMs());
    return { kind: change.kind === "nothing" ? "unchanged" : "changed" };
  }

  /** Refreshes at intervals until the signal aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, watchIntervalMinutes } = this.#deps;
    let last: LastSync = { kind: "first" };
    while (!signal.aborted) {
      const pace = { watchIntervalMinutes: watchIntervalMinutes(), random: jitter(1, 0, 1) };
      await clock.sleep(nextSyncMs(last, pace), signal);
      if (signal.aborted) return;
      try {
        await this.refresh(signal);
        last = { kind: "synced" };
      } catch (error) {
        if (signal.aborted) return;
        last = { kind: "failed", failures: last.kind === "failed" ? last.failures + 1 : 1 };
        log.warn("cannot ask the policy source", { reason: errorText(error), failures: last.failures });
      }
    }
  }

  async #read(signal: AbortSignal): Promise<KubeObject | undefined> {
    const { api, namespace } = this.#deps;
    return await readOptional(api, { type: Resource.upgradeConfigs, namespace, name: Upgrades.config, signal });
  }

  async #apply(
    change: PlanChange,
    { current, signal }: { readonly current: KubeObject | undefined; readonly signal: AbortSignal },
  ): Promise<void> {
    const { log } = this.#deps;
    if (change.kind === "nothing") return;
    if (current !== undefined) await this.#remove(current, signal);
    if (change.kind !== "remove") await this.#create(change.spec, signal);
    log.info("changed the plan as the policy source says", { change: change.kind, name: Upgrades.config });
  }

  /** Deletes the object that was judged, but not one that was created since. */
  async #remove({ metadata: { uid } }: KubeObject, signal: AbortSignal): Promise<void> {
    const { api, namespace } = this.#deps;
    const target = { namespace, name: Upgrades.config };
    await ignoring(isNotFound, api.delete(Resource.upgradeConfigs, target, { uid, signal }));
    await this.#waitUntilGone(uid, signal);
  }

  async #waitUntilGone(uid: string | undefined, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    const endMs = clock.monotonicMs() + GONE_WITHIN_MS;
    for (;;) {
      const found = await this.#read(signal);
      if (found === undefined || found.metadata.uid !== uid) return;
      if (clock.monotonicMs() >= endMs) {
        throw new Error(
          `Cannot replace UpgradeConfig "${Upgrades.config}": it is still there a minute after it was deleted.`,
        );
      }
      await clock.sleep(CHECK_MS, signal);
      signal.throwIfAborted();
    }
  }

  async #create(spec: JsonObject, signal: AbortSignal): Promise<void> {
    const { api, namespace } = this.#deps;
    const type = Resource.upgradeConfigs;
    const metadata = { name: Upgrades.config, namespace };
    const object = { apiVersion: apiVersionOf(type), kind: type.kind, metadata, spec };
    await api.create(type, object, { namespace, signal });
  }
}

/** The source `LOCAL`: users write the UpgradeConfig, so it is never created, replaced or deleted. */
export const LOCAL_POLICY_SOURCE: PolicySource = {
  onNone: "keep",
  fetch: (_signal, current) => Promise.resolve(localPolicyOf(current)),
};

export function openOcmPolicySource(
  { client, type }: {
    readonly client: Pick<OcmClient, "cluster" | "policies" | "policyState">;
    readonly type: "OSD" | "ARO";
  },
): PolicySource {
  return {
    onNone: "remove",
    fetch: async (signal): Promise<PolicyResult> => {
      const cluster = await client.cluster(signal);
      const policies = orderPolicies(await client.policies(cluster.id, signal));
      for (const policy of policies) {
        const { value } = await client.policyState({ clusterId: cluster.id, policyId: policy.id }, signal);
        if (!isActionable(value)) continue;
        const spec = specOfPolicy(policy, { cluster, type });
        if (spec !== undefined) return { kind: "desired", spec };
        // This throws, since an answer of "none" would delete the plan.
        throw new UpstreamError("Cannot use the policy of the cluster manager: its version is no version.", {
          fault: "malformed",
        });
      }
      return { kind: "none" };
    },
  };
}
