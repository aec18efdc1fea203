// Watches pods that were created gated and takes the gate off, so many at a time: `patcher_process.ts WORKERS`, with the coordinates
// of the control plane in the environment. Prints a line when it follows the pods, and ends when its standard input does.
import pLimit from "p-limit";
import { SCHEDULING_GATE } from "../../lib/names.ts";
import { AdminConnection } from "../cluster/support/cluster_access.ts";
import { CONTROL_PLANE_VARIABLE } from "../cluster/support/coordinates.ts";
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

using connection = new AdminConnection(JSON.parse(Deno.env.get(CONTROL_PLANE_VARIABLE) ?? "{}"));
const cluster = connection.access;
const limit = pLimit(Number(Deno.args[0]));
const seen = new Set<string>();
const patches: Promise<unknown>[] = [];
{
  await using _pods = await followPods(cluster, { labelSelector: "bench/gated=yes" }, (name, holdsGate, namespace) => {
    const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
    if (!holdsGate || seen.has(path)) return;
    seen.add(path);
    const contentType = "application/json-patch+json";
    patches.push(limit(() => cluster.request("PATCH", path, PATCH, { contentType })));
  });
  Deno.stdout.writeSync(new TextEncoder().encode("following\n"));
  await Deno.stdin.readable.pipeTo(new WritableStream());
}
await Promise.all(patches);
