// What the checks count as seen: words of Archway, not those that anybody else may have written about a pod.
import assert from "node:assert/strict";
import { runChecks } from "./checks.ts";
import { makeDeps } from "./make_deps.ts";
import { DEFAULT_IMAGE } from "./options.ts";

/** Every pod is bound at once. */
async function resultOf(check: string, events: readonly string[]): Promise<string | undefined> {
  const pod = { metadata: { name: "any" }, spec: { nodeName: "n1" } };
  const outcomes = await runChecks(makeDeps({ pod, events }));
  return outcomes.find((outcome) => outcome.check === check)?.result;
}

Deno.test("an unknown image is reported by what Archway says of the image, not by another Warning", async () => {
  const kubelet = 'Warning Failed Failed to pull image "registry.k8s.io/archway-e2e/no-such-image:v1": not found';
  const own = "Warning ArchAwareInspectionError Cannot inspect image";
  const check = "unknown image is reported";
  const missed = "Warning ArchAwareAdmissionMissed The webhook did not see this pod";
  assert.equal(await resultOf(check, [kubelet, missed]), "failed");
  assert.equal(await resultOf(check, [kubelet, own]), "passed");
});

Deno.test("a pod that is bound without the webhook's label was not placed, and text that is no metric is not Archway's", async () => {
  assert.equal(await resultOf(`${DEFAULT_IMAGE} is placed`, []), "failed");
  assert.equal(await resultOf("pinned pod is left alone", []), "failed");
  assert.equal(await resultOf("config is Available", []), "failed");
  assert.equal(await resultOf("metrics", []), "failed");
});
