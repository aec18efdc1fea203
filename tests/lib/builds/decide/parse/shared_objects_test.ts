import assert from "node:assert/strict";
import { isRunningDeployment } from "../../../../../lib/builds/decide/parse/shared_objects.ts";

Deno.test("isRunningDeployment() counts replicas that are there, ready or not, and none that is only wanted", () => {
  const object = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "builder" }, spec: { replicas: 1 } };
  const deployment = (status: Readonly<Record<string, unknown>>): boolean => isRunningDeployment({ ...object, status });
  assert.equal(deployment({ replicas: 1, readyReplicas: 1 }), true);
  assert.equal(deployment({ replicas: 1 }), true);
  assert.equal(deployment({ observedGeneration: 2, unavailableReplicas: 1 }), false);
  assert.equal(deployment({}), false);
});
