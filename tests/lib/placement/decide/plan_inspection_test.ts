import assert from "node:assert/strict";
import { MAX_IMAGES } from "../../../../lib/placement/decide/images_to_inspect.ts";
import { planInspection } from "../../../../lib/placement/decide/plan_inspection.ts";
import { podEventsOf } from "../../../../lib/placement/decide/events/pod_events.ts";
import { admit, ARM64, make, settle } from "./make.ts";

const settings = make.settings({ operatorNamespace: "archway" });

function containers(count: number): { readonly containers: readonly unknown[] } {
  return { containers: Array.from({ length: count }, (_, index) => make.container(`image-${index}`)) };
}

Deno.test("planInspection() lists the images of any other pod, as many as are inspected at most", () => {
  const plan = planInspection(make.view(make.pod(containers(MAX_IMAGES))), make.configs(), settings);
  assert.equal(plan.kind === "inspect" && plan.images.length, MAX_IMAGES);
});

Deno.test("decide() inspects no image of a pod with too many, and the event says how many are inspected", () => {
  const { pod, decision } = settle(make.gatedPod(containers(MAX_IMAGES + 1)), { images: [] });
  assert.ok(decision.kind === "release");
  assert.deepEqual([decision.failed.failure.reason, decision.attempt], ["TooManyImages", 0]);
  const [report] = podEventsOf(pod, { kind: "applied", decision });
  assert.match(report?.message ?? "", /the pod names 201 images, and at most 200 of one pod are inspected/);
  assert.match(report?.message ?? "", /No image was inspected; released without an architecture constraint\./);
});

Deno.test("decide() falls back for a pod with too many images where a config names a fallback", () => {
  const configs = make.configs(make.clusterConfig({ fallback: ARM64 }));
  const { decision } = settle(make.gatedPod(containers(MAX_IMAGES + 1)), { images: [], configs });
  assert.equal(decision.kind === "fallback" && decision.architecture, ARM64);
});

Deno.test("judgeAdmission() gates a pod with too many images, so that its event can be posted", () => {
  const raw = make.pod(containers(MAX_IMAGES + 1));
  assert.equal(admit(raw).verdict.kind, "gate");
  assert.equal(admit(raw, { mayGate: false }).verdict.kind, "pass");
});
