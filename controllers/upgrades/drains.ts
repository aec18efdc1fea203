// Unblocks stuck drains during worker upgrades, as far as the plan allows, and reports slow drains.
import { nameSome } from "../../lib/vocabulary/condition.ts";
import type { Node } from "../../lib/vocabulary/node.ts";
import { errorText } from "../../lib/log.ts";
import { isForbidden } from "../../lib/k8s/api_error.ts";
import { eventObjectOf } from "../../lib/k8s/event_input.ts";
import { Resource } from "../../lib/k8s/types.ts";
import { openClusterReader } from "../../lib/upgrades/cluster/cluster_reader.ts";
import { adviseDrains, applyDrains, drainSettingsOf } from "../../lib/upgrades/cluster/drains.ts";
import type { DrainAdvice } from "../../lib/upgrades/decide/drain/types.ts";
import {
  CONTROL_PLANE_POOL,
  isUnderConfiguration,
  isWorkedOn,
  summarizePools,
} from "../../lib/upgrades/decide/pools.ts";
import type { NotReadyNode } from "../../lib/upgrades/decide/types/cluster.ts";
import type { UpgradeFacts } from "../../lib/upgrades/decide/types/observed.ts";
import type { UpgradesDeps } from "./deps.ts";

const MAX_PODS_NAMED = 5;
const METRIC = "upgradeoperator_node_drain_timeout";

export interface Drains {
  check(
    facts: Pick<UpgradeFacts, "plan" | "config">,
    options: { readonly nowMs: number; readonly signal: AbortSignal },
  ): Promise<void>;
  /** Whether all last attempts were forbidden (403): the account may not remove pods. */
  isForbidden(): boolean;
  /** Nodes that were not Ready at the last check, sorted by name. */
  notReady(): readonly NotReadyNode[];
  /** Forgets the results of checks. Call it when no upgrade is running. */
  forget(): void;
}

export function openDrains(deps: UpgradesDeps): Drains {
  const overdue = new Set<string>();
  const readMs = new Map<string, number>();
  let forbidden = false;
  let notReady: readonly NotReadyNode[] = [];
  return {
    isForbidden: () => forbidden,
    notReady: () => notReady,
    forget: () => {
      forbidden = false;
      notReady = [];
      if (overdue.size > 0) deps.gauges.clear(METRIC);
      overdue.clear();
      readMs.clear();
    },
    check: async ({ plan, config }, { nowMs, signal }) => {
      const reader = openClusterReader(deps.readApi, signal);
      const { updating } = summarizePools(await reader.pools());
      notReady = [];
      // Only the machine config operator drains control plane nodes.
      if (!updating.some(({ name }) => name !== CONTROL_PLANE_POOL)) return;
      const nodes = await reader.nodes();
      notReady = notReadyOf(nodes);
      const settings = drainSettingsOf(plan.spec, config);
      // Ignore nodes that a person cordoned: their pods stay, and they take no drained node's turn.
      const drained = nodes.filter(isUnderConfiguration);
      const advice = await adviseDrains(drained, { reader, settings, nowMs, readMs });
      reportOverdue(deps, { nodes, advice, overdue, plan, config });
      const actions = advice.flatMap((one) => one.kind === "draining" ? one.actions : []);
      if (actions.length === 0) return;
      const refused = await applyDrains(deps.api, actions, signal);
      forbidden = refused.length === actions.length && refused.every(({ error }) => isForbidden(error));
      deps.log.info("helped drains on", { pods: actions.length - refused.length, refused: refused.length });
      for (const { action: { pod }, error } of refused) {
        deps.log.warn("could not help a drain on", { pod: `${pod.namespace}/${pod.name}`, error: errorText(error) });
      }
    },
  };
}

function notReadyOf(nodes: readonly Node[]): readonly NotReadyNode[] {
  return nodes.filter(({ isReady }) => !isReady).map(({ name, readyMessage: message }) => ({ name, message }))
    .toSorted((one, other) => one.name < other.name ? -1 : 1);
}

function reportOverdue(
  { events, gauges }: UpgradesDeps,
  { nodes, advice, overdue, plan, config }: {
    readonly nodes: readonly Node[];
    readonly advice: readonly DrainAdvice[];
    readonly overdue: Set<string>;
    readonly plan: UpgradeFacts["plan"];
    readonly config: UpgradeFacts["config"];
  },
): void {
  const failed = new Map(advice.flatMap((one) => isOverdue(one, nodes) ? [[one.node, one] as const] : []));
  const unread = new Set(advice.flatMap((one) => one.kind === "unread" ? [one.node] : []));
  for (const node of overdue) {
    if (failed.has(node) || unread.has(node)) continue;
    overdue.delete(node);
    gauges.set(METRIC, { node_name: node }, 0);
  }
  const keeper = config.nodeDrain.disableDrainStrategies ? "nodeDrain.disableDrainStrategies" : "spec.drain.mode";
  for (const [node, { withheld }] of failed) {
    gauges.set(METRIC, { node_name: node }, 1);
    if (overdue.has(node)) continue;
    overdue.add(node);
    const { namespace, name, uid } = plan;
    const object = eventObjectOf(Resource.upgradeConfigs, { namespace, name, uid });
    events.record({
      object,
      type: "Warning",
      reason: "NodeDrainTimeout",
      message: describe(node, { withheld, keeper }),
    });
  }
}

type Draining = Extract<DrainAdvice, { readonly kind: "draining" }>;

/** Only for nodes that the machine config operator is updating. Degraded ones are reported by their pool. */
function isOverdue(advice: DrainAdvice, nodes: readonly Node[]): advice is Draining {
  return advice.kind === "draining" && advice.hasFailed &&
    nodes.some((node) => node.name === advice.node && isWorkedOn(node));
}

function describe(
  node: string,
  { withheld, keeper }: { readonly withheld: Draining["withheld"]; readonly keeper: string },
): string {
  const late = `Node ${node} is not drained in time.`;
  const pods = [...new Set(withheld.map(({ pod }) => `${pod.namespace}/${pod.name}`))];
  if (pods.length === 0) return late;
  return `${late} ${keeper} keeps pods from being removed: ${nameSome(pods, MAX_PODS_NAMED)}.`;
}
