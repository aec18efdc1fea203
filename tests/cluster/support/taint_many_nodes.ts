// Many nodes, none of which has a kubelet: how many requests and how long it takes to taint them all.
import { enablePlacement } from "./archway.ts";
import type { AuditedRequest } from "./audit_log.ts";
import { type ClusterAccess } from "./cluster_access.ts";
import { SHARED_NODES } from "./shared_nodes.ts";
import { archwayRequests, MANAGE, openTaintBed, taintsByNode } from "./taint_bed.ts";
import { waitUntil } from "./wait.ts";

export interface ManyNodesTainted {
  readonly nodes: number;
  /** From the first write of a node to the last. */
  readonly seconds: number;
  readonly writesByNode: ReadonlyMap<string, number>;
  /** The second with the most requests of Archway while it tainted, after the operator's first work: how many, of what. */
  readonly busiestSecond: { readonly requests: number; readonly kinds: Readonly<Record<string, number>> };
  readonly version: unknown;
}

/** The config is new: beside the first writes the operator registers the webhook and takes its finalizers (ms). */
const SETTLING_MS = 3_000;

/** Creates as many nodes as are wanted with those of the bed, then starts an Archway that taints them. Throws when it takes longer than ten minutes. */
export async function taintManyNodes(count: number): Promise<ManyNodesTainted> {
  await using bed = await openTaintBed({ without: ["kube-scheduler"] });
  const { controlPlane } = bed;
  await createNodes(controlPlane, count - SHARED_NODES.length);
  await bed.startReplica({ args: [...MANAGE] });
  await enablePlacement(controlPlane);
  await waitUntil("every node to be tainted", async () => {
    const taints = Object.values(await taintsByNode(controlPlane));
    return taints.length >= count && taints.every((taint) => taint !== "");
  }, { deadlineMs: 600_000, intervalMs: 2_000 });
  const version = await controlPlane.get("/version");
  return { ...summaryOf(await archwayRequests(controlPlane)), version };
}

async function createNodes(cluster: ClusterAccess, count: number): Promise<void> {
  const numbers = Array.from({ length: count }, (_, number) => number).values();
  const worker = async (): Promise<void> => {
    for (const number of numbers) {
      const architecture = number % 2 === 0 ? "amd64" : "arm64";
      const node = {
        apiVersion: "v1",
        kind: "Node",
        metadata: {
          name: `many-${number}`,
          annotations: { "kwok.x-k8s.io/node": "fake" },
          labels: { "kubernetes.io/arch": architecture, "kubernetes.io/os": "linux" },
        },
        status: { nodeInfo: { architecture, operatingSystem: "linux" } },
      };
      await cluster.create("/api/v1/nodes", node);
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

function summaryOf(requests: readonly AuditedRequest[]): Omit<ManyNodesTainted, "version"> {
  const isNodeWrite = ({ resource, verb }: AuditedRequest): boolean => resource === "nodes" && verb === "patch";
  const writes = requests.filter((request) => isNodeWrite(request) && request.status === 200);
  const [firstMs, lastMs] = [
    Math.min(...writes.map(({ receivedMs }) => receivedMs)),
    Math.max(...writes.map(({ receivedMs }) => receivedMs)),
  ];
  const during = requests.filter(({ receivedMs }) => receivedMs >= firstMs + SETTLING_MS && receivedMs <= lastMs);
  const perSecond = Map.groupBy(during, ({ receivedMs }) => Math.floor((receivedMs - firstMs) / 1_000));
  const byNode = Map.groupBy(writes, ({ name }) => name);
  return {
    nodes: byNode.size,
    seconds: (lastMs - firstMs) / 1_000,
    writesByNode: new Map([...byNode].map(([name, all]) => [name, all.length])),
    busiestSecond: busiest([...perSecond.values()]),
  };
}

function busiest(seconds: readonly (readonly AuditedRequest[])[]): ManyNodesTainted["busiestSecond"] {
  const most = seconds.toSorted((a, b) => b.length - a.length)[0] ?? [];
  const kinds = Map.groupBy(most, ({ verb, resource, status }) => `${verb} ${resource} ${status}`);
  return { requests: most.length, kinds: Object.fromEntries([...kinds].map(([kind, all]) => [kind, all.length])) };
}
