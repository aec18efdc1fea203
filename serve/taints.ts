// `--arch-taints=manage`: the leader's controller, and the lifter for a missing leader.
import type { Runnable } from "../controllers/controller.ts";
import { openTaints, type TaintsController } from "../controllers/taints/controller.ts";
import type { Operator } from "../controllers/operator/controller.ts";
import type { OperandTaints } from "../controllers/operator/deps.ts";
import { openTaintFailOpen } from "../controllers/taints/fail_open.ts";
import type { Configs } from "../lib/operator/cluster/configs.ts";
import { RestApi } from "../lib/k8s/rest_api.ts";
import { LEASE_NAME } from "../lib/names.ts";
import { liftTaints } from "../lib/taints/cluster/write.ts";
import { openRateLimiter, type RateLimiter } from "../lib/k8s/write_limits.ts";
import type { ServeDeps } from "./capability.ts";
import type { PlacementResources } from "./placement_resources.ts";

/** An uninstall has only seconds for all nodes, so it writes in parallel and without a rate limit. */
const LEAVING_PARALLEL = 16;
const AT_ONCE: RateLimiter = { wait: () => Promise.resolve() };

export interface TaintComponents {
  readonly controller: TaintsController;
  readonly failOpen: Runnable;
  /** For the operator, whose uninstall waits until no node has the taint. */
  readonly operand: OperandTaints;
}

/** Undefined when Archway does not taint nodes. Sends no request to the API server before a part runs. */
export function openTaintComponents(
  { config, settings, access, clock, log: rootLog, userAgent }: ServeDeps,
  { shared: { clientMetrics, election, events, leaderApi, unfencedApi, stack }, metrics: { taints: metrics } }:
    PlacementResources,
  { configs, operator }: {
    readonly configs: Pick<Configs, "presence" | "onChange">;
    readonly operator: Pick<Operator, "isUninstalling">;
  },
): TaintComponents | undefined {
  const [rule] = settings.ownTaints;
  if (rule === undefined) return undefined;
  const log = rootLog.with({ controller: "taints" });
  const controller = openTaints({
    api: leaderApi,
    events,
    metrics,
    clock,
    log,
    rule,
    limiter: openRateLimiter(clock),
    presence: () => operator.isUninstalling() ? "deleting" : configs.presence(),
    onPresence: configs.onChange,
    queueMetrics: clientMetrics.queue,
  });
  // The lifter has its own connections and limiter, so it works even if the rest of the process hangs.
  const api = stack.use(new RestApi(access, { clock, log: rootLog, userAgent, observe: clientMetrics.apiCall }));
  const lifter = { api, key: rule.key, limiter: openRateLimiter(clock) };
  const lease = { namespace: config.namespace, name: LEASE_NAME };
  const [view, afterMs] = [() => election.view(), config.taintsFailOpenAfter];
  const leaving = { api, key: rule.key, limiter: AT_ONCE, parallel: LEAVING_PARALLEL };
  const lift = async (signal: AbortSignal): Promise<number> => (await liftTaints(leaving, { signal })).left.length;
  return {
    controller,
    failOpen: openTaintFailOpen({ api: unfencedApi, lifter, events, metrics, clock, log, lease, view, afterMs }),
    operand: { carried: controller.countTainted, lift },
  };
}
