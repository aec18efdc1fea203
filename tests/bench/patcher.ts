// The floor of B2: a plain patcher in a process of its own, as Archway is. It watches pods that were created gated and takes the
// gate off, so many at a time.
import pLimit from "p-limit";
import { SCHEDULING_GATE } from "../../lib/names.ts";
import type { ClusterAccess } from "../cluster/support/cluster_access.ts";
import { CONTROL_PLANE_VARIABLE, renderCoordinates } from "../cluster/support/coordinates.ts";
import { startScript } from "./child.ts";
import { followPods } from "./watch_burst.ts";

const REQUIREMENT = { key: "kubernetes.io/arch", operator: "In", values: ["amd64", "arm64"] };
const PATCH = [
  { op: "test", path: "/spec/schedulingGates/0/name", value: SCHEDULING_GATE },
  { op: "remove", path: "/spec/schedulingGates/0" },
  {
    op: "add",
    path: "/spec/affinity",
    value: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [REQUIREMENT] }] },
      },
    },
  },
];

export async function runPatcher(
  cluster: ClusterAccess,
  { workers, signal, onFollowing }: {
    readonly workers: number;
    readonly signal: AbortSignal;
    readonly onFollowing: () => void;
  },
): Promise<void> {
  const limit = pLimit(workers);
  const seen = new Set<string>();
  const patches: Promise<unknown>[] = [];
  const selection = { namespace: undefined, labelSelector: "bench/gated=yes" };
  await using pods = await followPods(cluster, selection, (name, holdsGate, namespace) => {
    const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
    if (!holdsGate || seen.has(path)) return;
    seen.add(path);
    const contentType = "application/json-patch+json";
    patches.push(limit(() => cluster.request("PATCH", path, PATCH, { contentType })));
  });
  const running = pods.run(signal);
  await pods.synced(signal);
  onFollowing();
  await running;
  await Promise.all(patches);
}

export async function startPatcher(cluster: ClusterAccess, workers: number): Promise<AsyncDisposable> {
  const env = { [CONTROL_PLANE_VARIABLE]: renderCoordinates(cluster) };
  const child = startScript("patcher_process.ts", [String(workers)], env);
  if (await child.readLine() === "") throw new Error("Cannot start the patcher: its process ended.");
  return child;
}
