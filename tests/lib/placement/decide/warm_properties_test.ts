// Invariant 2 where pods are placed without a gate: at admission, from what is already known of their images,
// by operating system and architecture. The controller's half is in properties_test.ts.
import assert from "node:assert/strict";
import fc from "fast-check";
import type { InspectedImage, Platform } from "../../../../lib/oci/types.ts";
import { judgeAdmission } from "../../../../lib/placement/decide/gate.ts";
import { makeSettings } from "../../../../lib/placement/decide/config/types.ts";
import { make } from "./make.ts";

const platform: fc.Arbitrary<Platform> = fc.record({
  os: fc.constantFrom("linux", "linux", "windows"),
  architecture: fc.constantFrom("amd64", "arm64", "s390x"),
});
const SERVER_ERROR = { kind: "transient", reason: "ServerError" } as const;

function imageFacts(image: string): fc.Arbitrary<InspectedImage> {
  return fc.oneof(
    {
      weight: 8,
      arbitrary: fc.array(platform, { minLength: 1, maxLength: 4 }).map((all) => make.imageOf(image, all)),
    },
    { weight: 1, arbitrary: fc.constant(make.bundle(image)) },
    { weight: 1, arbitrary: fc.constant(make.failedImage(image, SERVER_ERROR)) },
  );
}

const scene = fc.record({
  known: fc.integer({ min: 1, max: 4 }).chain((count) =>
    fc.tuple(...Array.from({ length: count }, (_, number) => imageFacts(`image-${number}`)))
  ),
  os: fc.constantFrom(undefined, "linux", "windows"),
});

function runs({ inspection }: InspectedImage, on: { readonly os: string; readonly architecture: string }): boolean {
  if (inspection.kind === "anywhere") return true;
  if (inspection.kind === "failed") return false;
  return inspection.platforms.some(({ os, architecture }) => os === on.os && architecture === on.architecture);
}

Deno.test("invariant 2: a pod placed at admission may only go where each of its images runs, under its own system", () => {
  let placed = 0;
  fc.assert(
    fc.property(scene, ({ known, os }) => {
      const containers = known.map(({ image }) => make.container(image));
      const pod = make.view(make.pod({ containers, ...(os === undefined ? {} : { os: { name: os } }) }));
      const settings = makeSettings({ operatorNamespace: "archway" });
      const verdict = judgeAdmission(make.admission(pod, { configs: make.configs(), settings, known, mayGate: true }));
      if (verdict.kind !== "place") return;
      const { decision } = verdict;
      const everywhere = ["amd64", "arm64", "s390x"].filter((architecture) =>
        known.every((fact) => runs(fact, { os: os ?? "linux", architecture }))
      );
      if (decision.kind === "nowhere") return assert.deepEqual(everywhere, []);
      if (decision.required.kind !== "in") return;
      placed++;
      for (const architecture of decision.required.architectures) {
        assert.ok(known.every((fact) => runs(fact, { os: os ?? "linux", architecture })), architecture);
      }
    }),
    { numRuns: 1_000 },
  );
  assert.ok(placed > 50, `only ${placed} pods were placed`);
});
