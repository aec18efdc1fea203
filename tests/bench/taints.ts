// `deno task bench:taints [NODES]`: how long it takes to taint the nodes of a large cluster, and at how many requests.
import { taintManyNodes } from "../cluster/support/taint_many_nodes.ts";

/** The size that the limits are for. */
const NODES = 5_000;
const MAX_SECONDS = 600;
const MAX_REQUESTS_A_SECOND = 20;

if (import.meta.main) {
  const wanted = Number(Deno.args[0] ?? NODES);
  const { nodes, seconds, writesByNode, busiestSecond } = await taintManyNodes(wanted);
  const repeated = [...writesByNode.values()].filter((writes) => writes !== 1).length;
  const isMet = nodes === wanted && repeated === 0 && seconds <= MAX_SECONDS &&
    busiestSecond.requests <= MAX_REQUESTS_A_SECOND;
  const result = { nodes, seconds: Math.round(seconds), writtenMoreThanOnce: repeated, busiestSecond, isMet };
  Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify(result, null, 2)}\n`));
  Deno.exit(isMet ? 0 : 1);
}
