// `deno task bench:taints [NODES]`: how long it takes to taint the nodes of a large cluster, and at how many requests.
import { taintManyNodes } from "../cluster/support/taint_many_nodes.ts";
import { FILES } from "./figures.ts";
import { describeCluster, readMachineFacts } from "./machine.ts";
import { mergeResults } from "./results_file.ts";
import { atMost, isMet, NEVER, renderRows, rowOf } from "./table.ts";
import { print } from "../support/print.ts";

/** The size that the limits are for; runs of other sizes keep no results. */
const NODES = 5_000;

if (import.meta.main) {
  const wanted = Number(Deno.args[0] ?? NODES);
  const { nodes, seconds, writesByNode, busiestSecond, version } = await taintManyNodes(wanted);
  const repeated = [...writesByNode.values()].filter((writes) => writes !== 1).length;
  const rows = [
    rowOf("nodes without their taint", Math.max(0, wanted - nodes), NEVER),
    rowOf("nodes written more than once", repeated, NEVER),
    rowOf("first write to last, s", seconds, atMost(600)),
    rowOf("requests of Archway in the busiest second, after the first 3 s", busiestSecond.requests, atMost(20)),
  ];
  print(renderRows(rows));
  print(`In the busiest second, after the first 3 s: ${JSON.stringify(busiestSecond.kinds)}`);
  if (wanted === NODES) {
    const [machine, cluster] = [await readMachineFacts(), describeCluster(version)];
    const bed = "control plane without scheduler";
    await mergeResults(FILES.cluster, { taints: { machine, cluster, bed, pods: 0, rounds: 1, rows } });
  }
  Deno.exit(rows.every((row) => isMet(row) === true) ? 0 : 1);
}
