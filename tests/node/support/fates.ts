// What became of the pods of a namespace: whether their containers run, and what the kubelet says where they do not.
import type { V1ContainerStatus, V1Pod } from "@kubernetes/client-node";
import { waitUntil } from "../../cluster/support/wait.ts";
import type { OpenLab } from "./open_lab.ts";

export interface PodFate {
  readonly name: string;
  readonly workload: string;
  readonly node: string | undefined;
  /** Runs and is ready without a restart, or has succeeded. */
  readonly isGood: boolean;
  /** Reasons of waiting and ended containers, "exec format error" among them. */
  readonly faults: readonly string[];
}

export async function readFates(lab: OpenLab, namespace: string): Promise<readonly PodFate[]> {
  const body = await lab.get(`/api/v1/namespaces/${namespace}/pods`);
  return (body as { readonly items: readonly V1Pod[] }).items.map(toFate);
}

/** Waits until as many pods are there, and each has run or failed. */
export async function settle(
  lab: OpenLab,
  namespace: string,
  { count }: { readonly count: number },
): Promise<readonly PodFate[]> {
  let fates: readonly PodFate[] = [];
  try {
    return await waitUntil(`the pods of ${namespace} to run or fail`, async () => {
      fates = await readFates(lab, namespace);
      return fates.length >= count && fates.every(({ isGood, faults }) => isGood || faults.length > 0) && fates;
    }, { deadlineMs: 180_000, intervalMs: 500 });
  } catch (cause) {
    const others = fates.filter(({ isGood }) => !isGood);
    throw new Error(`${fates.length} of ${count} pods, not settled: ${JSON.stringify(others)}`, { cause });
  }
}

function toFate({ metadata, spec, status }: V1Pod): PodFate {
  const containers = status?.containerStatuses ?? [];
  const isRunning = status?.phase === "Running" && containers.length > 0 &&
    containers.every(({ ready, restartCount }) => ready && restartCount === 0);
  return {
    name: metadata?.name ?? "",
    workload: metadata?.labels?.["workload"] ?? "",
    node: spec?.nodeName,
    isGood: isRunning || status?.phase === "Succeeded",
    faults: [...(status?.initContainerStatuses ?? []), ...containers].flatMap(faultOf),
  };
}

function faultOf({ state, lastState }: V1ContainerStatus): readonly string[] {
  const ended = state?.terminated ?? lastState?.terminated;
  if (ended?.message?.includes("exec format error")) return ["exec format error"];
  if (ended !== undefined && ended.exitCode !== 0) return [`${ended.reason ?? "ended"} ${ended.exitCode}`];
  const waiting = state?.waiting?.reason;
  return waiting === undefined || ["ContainerCreating", "PodInitializing"].includes(waiting) ? [] : [waiting];
}
