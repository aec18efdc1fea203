import type { InspectedImage } from "../../../../lib/oci/types.ts";
import assert from "node:assert/strict";
import batch from "../../../fixtures/pods/batch.json" with { type: "json" };
import daemon from "../../../fixtures/pods/daemon.json" with { type: "json" };
import deployment from "../../../fixtures/pods/deployment.json" with { type: "json" };
import missing from "../../../fixtures/pods/missing.json" with { type: "json" };
import pinned from "../../../fixtures/pods/pinned.json" with { type: "json" };
import sidecar from "../../../fixtures/pods/sidecar.json" with { type: "json" };
import { SCHEDULING_GATE } from "../../../../lib/names.ts";
import { admissionPatch } from "../../../../lib/placement/decide/patch/admission_patch.ts";
import { decide } from "../../../../lib/placement/decide/decide.ts";
import { judgeAdmission } from "../../../../lib/placement/decide/gate.ts";
import { imagesToInspect } from "../../../../lib/placement/decide/images.ts";
import { releasePatch } from "../../../../lib/placement/decide/patch/release_patch.ts";
import { makeSettings } from "../../../../lib/placement/decide/config/types.ts";
import { applied, gatesOf, type Json, make, NO_CONFIGS } from "./make.ts";

interface Fixture {
  readonly about: string;
  readonly known: Readonly<Record<string, readonly string[] | undefined>>;
  readonly fate: {
    readonly cold: string;
    readonly warm: string;
    readonly decision: string;
    readonly architectures: readonly string[];
  };
  readonly pod: Json;
}

const FIXTURES: readonly Fixture[] = [batch, daemon, deployment, missing, pinned, sidecar];

function inspected({ pod, known }: Fixture): readonly InspectedImage[] {
  return imagesToInspect(make.view(pod), makeSettings()).map(({ image }) => {
    const architectures = known[image];
    return architectures === undefined
      ? make.failedImage(image, { kind: "permanent", reason: "ManifestUnknown" })
      : make.imageOf(image, architectures.map((architecture) => ({ os: "linux", architecture })));
  });
}

function verdictOf(fixture: Fixture, known: readonly InspectedImage[] | undefined): string {
  const pod = make.view(fixture.pod);
  const verdict = judgeAdmission(
    make.admission(pod, { configs: NO_CONFIGS, settings: makeSettings(), known, mayGate: true }),
  );
  const after = applied(fixture.pod, admissionPatch(pod, verdict));
  assert.equal(gatesOf(after).includes(SCHEDULING_GATE), verdict.kind === "gate");
  return verdict.kind;
}

for (const fixture of FIXTURES) {
  Deno.test(`fate: ${fixture.about}`, () => {
    const images = inspected(fixture);
    assert.equal(verdictOf(fixture, undefined), fixture.fate.cold, "cold");
    assert.equal(verdictOf(fixture, images), fixture.fate.warm, "warm");
    const gated = make.gatedPod(fixture.pod.spec as Json, fixture.pod.metadata as Json);
    const spec = { ...(gated.spec as Json), schedulingGates: [{ name: SCHEDULING_GATE }] };
    const facts = make.facts({ ...gated, spec }, { images, failedAttempts: 1 });
    const decision = decide(facts);
    assert.equal(decision.kind, fixture.fate.decision);
    const architectures = decision.kind === "place" && decision.required.kind === "in"
      ? decision.required.architectures
      : [];
    assert.deepEqual(architectures, fixture.fate.architectures);
    assert.deepEqual(gatesOf(applied({ ...gated, spec }, releasePatch(facts.pod, decision))), []);
  });
}
