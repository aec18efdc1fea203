// Invariant 2 (no pod where an image cannot run) against a cluster: the nodes that a placed pod's constraints let through are nodes on which each
// of its images runs, by operating system, architecture and instruction set level; at admission, at release and after both.
import assert from "node:assert/strict";
import fc from "fast-check";
import type { RuntimeClassRule, VariantLabel } from "../../../../lib/placement/decide/config/settings.ts";
import { parseRecord } from "../../../../lib/placement/decide/pod/record.ts";
import type { InspectedImage, Platform } from "../../../../lib/oci/inspection.ts";
import { admit, ARCH, at, endOf, type FactChanges, type Json, make, running, settle } from "./make.ts";

const OS = "kubernetes.io/os";
const LEVEL = "example.com/amd64-level";

/** Those of amd64 at levels 1 to 4. */
const NODES = ["linux", "windows"].flatMap((os) => [
  ...["arm64", "s390x"].map((architecture) => ({ os, architecture, level: 1 })),
  ...[1, 2, 3, 4].map((level) => ({ os, architecture: "amd64", level })),
]);
type Node = typeof NODES[number];
const LEVEL_LABELS: readonly VariantLabel[] = [2, 3, 4].map((level) => ({
  architecture: "amd64",
  variant: `v${level}`,
  key: LEVEL,
  values: [2, 3, 4].filter((other) => other >= level).map((other) => `v${other}`),
}));

const platform: fc.Arbitrary<Platform> = fc.oneof(
  fc.record({
    os: fc.constantFrom("linux", "linux", "", "windows"),
    architecture: fc.constantFrom("arm64", "s390x", "unknown"),
  }),
  fc.record({
    os: fc.constantFrom("linux", "linux", "windows"),
    architecture: fc.constant("amd64"),
    variant: fc.constantFrom("v1", "v2", "v3", "v4"),
  }),
  fc.constant({ os: "linux", architecture: "amd64" }),
);
/** What is known of an image: its platforms, that it runs anywhere, or that it could not be inspected. */
const image = fc.oneof(
  { weight: 8, arbitrary: fc.array(platform, { minLength: 1, maxLength: 5 }) },
  { weight: 1, arbitrary: fc.constantFrom("anywhere" as const, "failed" as const) },
);
const spec: fc.Arbitrary<Json> = fc.oneof(
  fc.constant({}),
  fc.constant({ nodeSelector: { [OS]: "windows" } }),
  fc.constant({ os: { name: "windows" } }),
  fc.constant({ affinity: make.nodeAffinity([make.term(["zone", "a"]), make.term([ARCH, "arm64"])]) }),
  fc.constant({ affinity: make.nodeAffinity([make.term([OS, "windows"])]) }),
  fc.constant({ runtimeClassName: "emulating" }),
);
const scenes = fc.record({
  images: fc.array(image, { minLength: 1, maxLength: 3 }),
  depth: fc.constantFrom("config" as const, "config" as const, "index" as const),
  spec,
  hasLevels: fc.boolean(),
  live: fc.option(fc.subarray(["amd64", "arm64", "s390x"]), { nil: undefined }),
});

type Scene = typeof scenes extends fc.Arbitrary<infer T> ? T : never;

const EMULATED = { kind: "add", architectures: ["s390x"] } as const satisfies RuntimeClassRule;

function imagesOf({ images, depth }: Scene): readonly InspectedImage[] {
  return images.map((known, index) => {
    const name = `image-${index}`;
    if (known === "anywhere") return make.bundle(name);
    if (known === "failed") return make.failedImage(name, { kind: "transient", reason: "ServerError" });
    return make.imageOf(name, known, { depth });
  });
}

function specOf(scene: Scene): Json {
  return { ...running(...imagesOf(scene).map(({ image }) => image)), ...scene.spec };
}

/** What holds at admission and at release alike. */
function around(scene: Scene): Pick<FactChanges, "settings" | "liveArchitectures"> {
  const variantLabels = scene.hasLevels ? LEVEL_LABELS : [];
  return {
    settings: make.settings({ operatorNamespace: "archway", variantLabels, runtimeClasses: { emulating: EMULATED } }),
    ...scene.live === undefined ? {} : { liveArchitectures: scene.live },
  };
}

function admitted(scene: Scene, raw: Json, { mayGate }: { readonly mayGate: boolean }): Json {
  return admit(raw, { ...around(scene), known: imagesOf(scene), mayGate }).after;
}

function released(scene: Scene, raw: Json): Json {
  return settle(raw, { ...around(scene), images: imagesOf(scene), gateAgeMs: 60_000 }).after;
}

function osOf(raw: Json): string {
  const pinned = JSON.stringify(endOf(raw).required ?? []).includes(`"${OS}"`);
  const asked = at(raw, "spec", "nodeSelector", OS) ?? at(raw, "spec", "os", "name");
  return pinned ? "windows" : String(asked ?? "linux");
}

/** Whether the required terms let the pod onto the node. A term with an architecture of the user's own is the user's. */
function admits(scene: Scene, raw: Json, { os, architecture, level }: Node): boolean {
  const labels: Readonly<Record<string, string>> = { [OS]: os, [ARCH]: architecture, [LEVEL]: `v${level}`, zone: "a" };
  const before = (endOf(make.pod(specOf(scene))).required ?? []) as readonly Json[];
  const isUsers = (index: number): boolean => JSON.stringify(before[index] ?? {}).includes(`"${ARCH}"`);
  const terms = (endOf(raw).required ?? [{ matchExpressions: [] }]) as readonly Json[];
  return terms.filter((_term, index) => !isUsers(index)).some((one) =>
    (one.matchExpressions as readonly Json[]).every(({ key, operator, values }) => {
      const value = labels[String(key)];
      return value !== undefined && (operator === "Exists" || (values as readonly string[]).includes(value));
    })
  );
}

function runsOn(known: Scene["images"][number], node: Node, { hasLevels }: Scene): boolean {
  if (typeof known === "string") return known === "anywhere";
  return known.some(({ os, architecture, variant }) => {
    const level = Number(variant?.slice(1) ?? 1);
    const isLevelMet = !hasLevels || architecture !== "amd64" || level <= node.level;
    return (os === "" ? "linux" : os) === node.os && architecture === node.architecture && isLevelMet;
  });
}

function decisionOf(raw: Json): string | undefined {
  return parseRecord(String(endOf(raw).annotations["archway.dev/decision"]))?.decision;
}

function isPlaced(raw: Json): boolean {
  return ["place", "nowhere"].includes(decisionOf(raw) ?? "");
}

function assertRunsWhereItMay(scene: Scene, raw: Json): void {
  const emulated: readonly string[] = scene.spec.runtimeClassName === undefined ? [] : EMULATED.architectures;
  const os = osOf(raw);
  for (const node of NODES.filter((one) => one.os === os && admits(scene, raw, one))) {
    if (emulated.includes(node.architecture)) continue;
    for (const known of scene.images) {
      assert.ok(runsOn(known, node, scene), JSON.stringify({ node, known, terms: endOf(raw).required }));
    }
  }
}

/** Of a pod that was not placed before: what was narrowed once is never widened. */
function assertNowhereIsNowhere(scene: Scene, raw: Json): void {
  if (decisionOf(raw) !== "nowhere") return;
  const os = osOf(raw);
  const all = NODES.filter((node) => node.os === os && scene.images.every((known) => runsOn(known, node, scene)));
  assert.deepEqual(all, [], "it could run somewhere");
}

Deno.test("invariant 2: whatever node a placed pod may go to, each of its images runs there; one for nowhere could run on none", () => {
  let placed = 0;
  let warmly = 0;
  fc.assert(
    fc.property(scenes, (scene) => {
      const warm = admitted(scene, make.pod(specOf(scene)), { mayGate: false });
      if (isPlaced(warm)) warmly++;
      const cold = released(scene, make.gatedPod(specOf(scene)));
      for (const pod of [warm, cold].filter(isPlaced)) {
        placed++;
        assertRunsWhereItMay(scene, pod);
        assertNowhereIsNowhere(scene, pod);
      }
    }),
    { numRuns: 1_000 },
  );
  assert.ok(placed > 200, `only ${placed} pods were placed`);
  assert.ok(warmly > 50, `only ${warmly} pods were placed at admission`);
});

Deno.test("invariant 2: a sidecar that comes after warm admission narrows the pod further", () => {
  fc.assert(
    fc.property(scenes, image, (scene, sidecar) => {
      const warm = admitted(scene, make.pod(specOf(scene)), { mayGate: false });
      if (!isPlaced(warm)) return;
      const later = { ...scene, images: [...scene.images, sidecar] };
      const injected = structuredClone(warm);
      (injected.spec as Json).containers = specOf(later).containers;
      const again = admitted(later, injected, { mayGate: true });
      if (endOf(again).gates.length === 0) return assertRunsWhereItMay(later, again);
      // What the known images do not settle is gated: then the release has the last word.
      const after = released(later, again);
      if (isPlaced(after)) assertRunsWhereItMay(later, after);
    }),
    { numRuns: 500 },
  );
});
