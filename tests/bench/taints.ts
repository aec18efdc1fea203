// `deno task bench:taints [NODES]`: how long it takes to taint the nodes of a large cluster, and at how many requests.
import { taintManyNodes } from "../cluster/support/taint_many_nodes.ts";
import { FILES } from "./figures.ts";
import { describeCluster, readMachineFacts } from "./machine.ts";
import { mergeResults } from "./results_file.ts";
import { isMet, renderRows, type Row } from "./table.ts";
import { print } from "../support/print.ts";

/** The size that the limits are for; runs of other sizes keep no results. */
const NODES = 5_000;

if (import.meta.main) {
  const wanted = Number(Deno.args[0] ?? NODES);
  const { nodes, seconds, writesByNode, busiestSecond, version } = await taintManyNodes(wanted);
  const repeated = [...writesByNode.values()].filter((writes) => writes !== 1).length;
  const rows: readonly Row[] = [
    {
      measure: "nodes without their taint",
      archway: Math.max(0, wanted - nodes),
      target: { kind: "exactly", value: 0 },
    },
    { measure: "nodes written more than once", archway: repeated, target: { kind: "exactly", value: 0 } },
    { measure: "first write to last, s", archway: seconds, target: { kind: "atMost", limit: 600 } },
    {
      measure: "requests of Archway in the busiest second, after the first 3 s",
      archway: busiestSecond.requests,
      target: { kind: "atMost", limit: 20 },
    },
  ];
  print(renderRows(rows));
  print(`In the busiest second, after the first 3 s: ${JSON.stringify(busiestSecond.kinds)}`);
  if (wanted === NODES) {
    const entry = {
      cluster: describeCluster(version),
      bed: "control plane without scheduler",
      pods: 0,
      rounds: 1,
      rows,
    };
    await mergeResults(FILES.cluster, { taints: { machine: await readMachineFacts(), ...entry } });
  }
  Deno.exit(rows.every((row) => isMet(row) === true) ? 0 : 1);
}
