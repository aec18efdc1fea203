// Architecture taints of more nodes than tests otherwise have, by the time stamps of the audit log.
import assert from "node:assert/strict";
import { sizeOf } from "../support/form.ts";
import { taintManyNodes } from "./support/taint_many_nodes.ts";

const NODES = sizeOf({ short: 150, long: 500 });

Deno.test(`taints: ${NODES} nodes get theirs with one write a node and at most 20 requests a second`, async () => {
  const { nodes, seconds, writesByNode, busiestSecond } = await taintManyNodes(NODES);
  assert.equal(writesByNode.size, nodes);
  assert.deepEqual([...writesByNode.values()].filter((writes) => writes !== 1), []);
  assert.ok(busiestSecond.requests <= 20, JSON.stringify(busiestSecond));
  // 100 ms a node at the pace of the writes; the machine may be busy.
  assert.ok(seconds * 1_000 <= NODES * 240, `${seconds} s`);
});
