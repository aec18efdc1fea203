import assert from "node:assert/strict";
import type { KubeObject } from "../../../../lib/k8s/types.ts";
import { parseRollout } from "../../../../lib/operator/decide/rollout.ts";

const READY = { observedGeneration: 4, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 };

function makeDeployment(status: Readonly<Record<string, unknown>>, metadata: object = {}): KubeObject {
  return { metadata: { name: "archway", generation: 4, ...metadata }, spec: { replicas: 2 }, status };
}

const ROWS: readonly (readonly [title: string, deployment: KubeObject, available: boolean, upToDate: boolean])[] = [
  ["93 all replicas are there", makeDeployment(READY), true, true],
  ["no replica counts", makeDeployment({}), false, false],
  [
    "96 one of two is there",
    makeDeployment({ ...READY, replicas: 1, availableReplicas: 1, unavailableReplicas: 1 }),
    true,
    false,
  ],
  ["the new generation was not seen yet", makeDeployment({ ...READY, observedGeneration: 3 }), true, false],
  ["more replicas are wanted than updated", makeDeployment({ ...READY, updatedReplicas: 1 }), true, false],
  ["the Deployment is deleted", makeDeployment(READY, { deletionTimestamp: "2026-01-01T00:00:00Z" }), false, false],
  ["the wanted number is unknown", { metadata: { name: "a", generation: 4 }, status: READY }, true, false],
];
for (const [title, deployment, available, upToDate] of ROWS) {
  const said = `${available ? "" : "not "}available, ${upToDate ? "" : "not "}up to date`;
  Deno.test(title.replace(/^(\d+ )?/, `$&parseRollout() says ${said} when `), () => {
    const { uniform: _uniform, ...rollout } = parseRollout(deployment);
    assert.deepEqual(rollout, { available, upToDate });
  });
}

Deno.test("parseRollout() says uniform when no replica of an older template is left", () => {
  const isUniform = (status: Readonly<Record<string, unknown>>): boolean =>
    parseRollout(makeDeployment(status)).uniform;
  assert.equal(isUniform(READY), true);
  // One that does not become ready is of the newest template all the same.
  assert.equal(isUniform({ ...READY, readyReplicas: 1, availableReplicas: 1, unavailableReplicas: 1 }), true);
  assert.equal(isUniform({ ...READY, replicas: 3 }), false);
  assert.equal(isUniform({ ...READY, observedGeneration: 3 }), false);
  assert.equal(isUniform({}), false);
});
