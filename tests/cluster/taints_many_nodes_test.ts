// Architecture taints of more nodes than tests otherwise have, by the time stamps of the audit log.
import assert from "node:assert/strict";
import { taintManyNodes } from "./support/taint_many_nodes.ts";

Deno.test("taints: 500 nodes get theirs with one write a node and at most 20 requests a second", async () => {
  const { nodes, seconds, writesByNode, busiestSecond } = await taintManyNodes(500);
  assert.equal(writesByNode.size, nodes);
  assert.deepEqual([...writesByNode.values()].filter((writes) => writes !== 1), []);
  assert.ok(busiestSecond.requests <= 20, JSON.stringify(busiestSecond));
  // 50 s at the pace of the writes; the machine may be busy.
  assert.ok(seconds <= 120, `${seconds} s`);
});
