// Drain help on the cluster: reads the pods of cordoned nodes, and applies what was advised.
import { cordonOf } from "../decide/pools.ts";
import type { Node } from "../../vocabulary/node.ts";
import type { KubeApi } from "../../k8s/api.ts";
import { isGoneOrReplaced } from "../../k8s/api_error.ts";
import { Resource } from "../../k8s/types.ts";
import { adviseDrain, drainModeOf, needsPods } from "../decide/drain/advise.ts";
import type { DrainAction, DrainAdvice, DrainSettings } from "../decide/drain/types.ts";
import { MINUTE_MS } from "../../vocabulary/time.ts";
import type { OperatorConfig } from "../decide/types/operator_config.ts";
import type { UpgradeSpec } from "../decide/types/plan.ts";
import type { ClusterReader } from "./cluster_reader.ts";

/** Nodes whose pods are read in one round, a request each. With pools, nodes and budgets that makes ten requests. */
export const NODES_A_ROUND = 7;

export function drainSettingsOf(spec: UpgradeSpec, config: OperatorConfig): DrainSettings {
  const { nodeDrain } = config;
  return {
    mode: drainModeOf(spec, config),
    timeoutMs: nodeDrain.timeoutMinutes * MINUTE_MS,
    expectedMs: nodeDrain.expectedMinutes * MINUTE_MS,
    protectedTimeoutMs: spec.pdbForceDrainTimeoutMinutes * MINUTE_MS,
    ignoredNamespaces: nodeDrain.ignoredNamespacePatterns.map((pattern) => new RegExp(pattern)),
  };
}

/** Reads pods of late nodes in turns: first those not read for longest (`readMs`), then those cordoned for longest. */
export async function adviseDrains(
  nodes: readonly Node[],
  { reader, settings, nowMs, readMs = new Map() }: {
    readonly reader: Pick<ClusterReader, "drainPods">;
    readonly settings: DrainSettings;
    readonly nowMs: number;
    readonly readMs?: Map<string, number>;
  },
): Promise<readonly DrainAdvice[]> {
  const { late = [], inTime = [] } = Object.groupBy(
    nodes,
    (one) => needsPods(one, settings, nowMs) ? "late" : "inTime",
  );
  const turnMs = ({ name }: Node): number => readMs.get(name) ?? 0;
  late.sort((one, other) => turnMs(one) - turnMs(other) || cordonedAtMs(one) - cordonedAtMs(other));
  const advice = inTime.map((node) => adviseDrain(node, settings, { pods: [], nowMs }));
  for (const node of late.slice(0, NODES_A_ROUND)) {
    const pods = await reader.drainPods(node.name, settings);
    readMs.set(node.name, nowMs);
    advice.push(adviseDrain(node, settings, { pods, nowMs }));
  }
  return [...advice, ...late.slice(NODES_A_ROUND).map(({ name: node }) => ({ kind: "unread", node }) as const)];
}

function cordonedAtMs(node: Node): number {
  const cordon = cordonOf(node);
  return cordon.kind === "since" ? cordon.sinceMs : Infinity;
}

interface RefusedAction {
  readonly action: DrainAction;
  readonly error: unknown;
}

/** Applies every action, even after one is refused. Returns those that were refused. */
export async function applyDrains(
  api: KubeApi,
  actions: readonly DrainAction[],
  signal: AbortSignal,
): Promise<readonly RefusedAction[]> {
  const refused: RefusedAction[] = [];
  for (const action of actions) {
    try {
      await applyDrain(api, action, signal);
    } catch (error) {
      signal.throwIfAborted();
      // Gone, or replaced by another pod of the same name: nothing is left to do.
      if (!isGoneOrReplaced(error)) refused.push({ action, error });
    }
  }
  return refused;
}

async function applyDrain(api: KubeApi, { kind, pod }: DrainAction, signal: AbortSignal): Promise<void> {
  const { namespace, name, uid } = pod;
  if (kind === "delete") {
    return await api.delete(Resource.pods, { namespace, name }, { uid, gracePeriodSeconds: 0, signal });
  }
  const document = { metadata: { uid, finalizers: null } };
  await api.patch(Resource.pods, { namespace, name }, { body: { kind: "merge", document }, signal });
}
