import assert from "node:assert/strict";
import { KNOWN_ARCHITECTURES } from "../../../../lib/arch.ts";
import { silentLogger } from "../../../../lib/log.ts";
import { openTaintWatches } from "../../../../lib/taints/cluster/watches.ts";
import { PodAnnotation } from "../../../../lib/names.ts";
import { openScene, whileRunning } from "../../../controllers/make.ts";
import { rawNode, rawTaintPod, RULE } from "../decide/make.ts";

const OWN = { key: RULE.key, effect: RULE.effect };
const MANY = Array.from({ length: 97 }, (_, at) => ({ ...OWN, value: `${at}-`.padEnd(63, "x") }));

Deno.test("openTaintWatches() keeps little of a pod, however many tolerations and architectures its owner names", async () => {
  const architectures = Array.from({ length: 600 }, (_, at) => at.toString(36));
  const decision = JSON.stringify({ v: 1, d: "place", a: ["arm64", ...architectures] });
  const scene = openScene(
    rawNode({ name: "a", reported: "amd64" }),
    rawNode({ name: "r", reported: "riscv64" }),
    rawTaintPod({ name: "runs", node: "a", tolerations: [...MANY, { ...OWN, value: "arm64" }] }),
    rawTaintPod({ name: "safe", node: "r", tolerations: [...MANY, { ...OWN, value: "riscv64" }] }),
    rawTaintPod({ name: "gone", node: "x", tolerations: MANY }),
    rawTaintPod({ name: "waits", annotations: { [PodAnnotation.decision]: decision } }),
    rawTaintPod({
      name: "free",
      tolerations: [...MANY.slice(4), ...KNOWN_ARCHITECTURES.map((value) => ({ ...OWN, value }))],
    }),
  );
  const parts = { api: scene.cluster.api, clock: scene.clock, log: silentLogger, rule: RULE };
  const watches = openTaintWatches({ ...parts, onChange: () => {} });
  await whileRunning(scene, watches, () => {
    const needs = watches.survey()?.needs ?? [];
    assert.deepEqual(
      needs.map(({ pod, missing }) => [pod.key, missing.map(({ value }) => value).join(), pod.tolerations?.length]),
      [["team/waits", "arm64", undefined], ["team/free", "riscv64", 4], ["team/runs", "amd64", 1]],
    );
    for (const { pod } of needs) assert.ok(JSON.stringify(pod).length < 600, JSON.stringify(pod));
  });
});
