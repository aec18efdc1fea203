// `--arch-taints=manage`: the controller of the leader, and what lifts the taints when there is no leader.
import type { Runnable } from "../controllers/controller.ts";
import { openTaints, type TaintsController } from "../controllers/taints/controller.ts";
import type { Operator } from "../controllers/operator/controller.ts";
import type { OperandTaints } from "../controllers/operator/deps.ts";
import { openTaintFailOpen } from "../controllers/taints/fail_open.ts";
import type { Configs } from "../lib/operator/cluster/configs.ts";
import { RestApi } from "../lib/k8s/rest_api.ts";
import { LEASE_NAME } from "../lib/names.ts";
import { liftTaints } from "../lib/taints/cluster/write.ts";
import { openRateLimiter, type RateLimiter } from "../lib/k8s/rate_limiter.ts";
import type { ServeDeps } from "./capability.ts";
import type { PlacementParts } from "./placement_parts.ts";

/** At the end of an uninstall seconds are left for all nodes: requests side by side, and no rate limit. */
const LEAVING_PARALLEL = 16;
const AT_ONCE: RateLimiter = { wait: () => Promise.resolve() };

export interface TaintParts {
  readonly controller: TaintsController;
  readonly failOpen: Runnable;
  /** For the operator, which uninstalls only when no node carries a taint. */
  readonly operand: OperandTaints;
}

/** undefined where Archway puts no taints on nodes. No request is sent to the API server before a part runs. */
export function openTaintParts(
  { config, settings, access, clock, log, userAgent }: ServeDeps,
  { capability: { clientMetrics, election, events, leaderApi, replicaApi, stack }, metrics: { taints: metrics } }:
    PlacementParts,
  { configs, operator }: {
    readonly configs: Pick<Configs, "presence" | "onChange">;
    readonly operator: Pick<Operator, "isUninstalling">;
  },
): TaintParts | undefined {
  const [rule] = settings.ownTaints;
  if (rule === undefined) return undefined;
  const ownLog = log.with({ controller: "taints" });
  const controller = openTaints({
    api: leaderApi,
    events,
    metrics,
    clock,
    log: ownLog,
    rule,
    limiter: openRateLimiter(clock),
    presence: () => operator.isUninstalling() ? "leaving" : configs.presence(),
    onPresence: configs.onChange,
    queueMetrics: clientMetrics.queue,
  });
  // The lifter has connections and a limiter of its own: it works when the rest of the process does not.
  const api = stack.use(new RestApi(access, { clock, log, userAgent, observe: clientMetrics.apiCall }));
  const lifter = { api, key: rule.key, limiter: openRateLimiter(clock) };
  const lease = { namespace: config.namespace, name: LEASE_NAME };
  const [view, afterMs] = [() => election.view(), config.taintsFailOpenAfter];
  const leaving = { api, key: rule.key, limiter: AT_ONCE, parallel: LEAVING_PARALLEL };
  const lift = async (signal: AbortSignal): Promise<number> => (await liftTaints(leaving, { signal })).left.length;
  return {
    controller,
    failOpen: openTaintFailOpen({ api: replicaApi, lifter, events, metrics, clock, log: ownLog, lease, view, afterMs }),
    operand: { carried: controller.carried, lift },
  };
}
