import assert from "node:assert/strict";
import { podContainers } from "../../../../lib/exec_format/decide/container.ts";
import {
  buildFailedImage,
  FAILED_TTL_MS,
  failedArchitectures,
  type FailedImage,
  failedImageOf,
  type FailedStart,
  isFailedImage,
  isWithinLimits,
  MAX_FAILED_IMAGES,
  MAX_FAILED_IMAGES_OF_NAMESPACE,
  parseFailedImage,
  renewFailedImage,
} from "../../../../lib/exec_format/decide/failed_image.ts";
import { ended, idOf, makeFailedImage, makeFailedPod } from "./make.ts";

const DIGEST = `sha256:${"ab".repeat(32)}`;
const NOW_MS = Date.parse("2026-11-21T12:00:00Z");
const FAILED = makeFailedImage({ nodes: ["n1", "n2"] });

Deno.test("buildFailedImage() and parseFailedImage() are each other's inverse, one object a digest, architecture and scope", () => {
  for (const failed of [FAILED, { ...FAILED, nodes: [] }]) {
    const object = buildFailedImage(failed, "archway-system") ?? assert.fail("no object");
    assert.ok(isFailedImage(object));
    assert.match(object.metadata.name, /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);
    assert.deepEqual(parseFailedImage(object), failed);
  }
  const names = [FAILED, { ...FAILED, namespace: "other" }, { ...FAILED, architecture: "s390x" }]
    .map((failed) => buildFailedImage(failed, "n")?.metadata.name);
  assert.equal(new Set(names).size, 3);
});

Deno.test("buildFailedImage() makes nothing of a digest or an architecture that no name can hold", () => {
  assert.equal(buildFailedImage({ ...FAILED, digest: "sha512:00" }, "n"), undefined);
  assert.equal(buildFailedImage({ ...FAILED, architecture: "Odd_Name" }, "n"), undefined);
});

Deno.test("parseFailedImage() takes a report for none", () => {
  assert.equal(parseFailedImage({ metadata: { name: "x" } }), undefined);
});

const WITNESSES: readonly (readonly [title: string, records: readonly Partial<FailedImage>[], counts: boolean])[] = [
  ["two namespaces on two nodes", [{ nodes: ["n1"] }, { namespace: "other", nodes: ["n2"] }], true],
  ["one namespace on two nodes", [{ nodes: ["n1", "n2"] }], false],
  ["two namespaces on one node", [{ nodes: ["n1"] }, { namespace: "other", nodes: ["n1"] }], false],
  ["a namespace that is not certain", [{ nodes: ["n1", "n2"] }, { namespace: "other", nodes: [] }], false],
  ["another architecture", [{}, { namespace: "other", architecture: "s390x" }], false],
  ["another digest", [{}, { namespace: "other", digest: "sha256:other" }], false],
  ["a record of its own for another digest", [{ namespace: "third", digest: "sha256:other" }], false],
  ["a record that has decayed", [{}, { namespace: "other", atMs: NOW_MS - FAILED_TTL_MS }], false],
];
for (const [title, records, counts] of WITNESSES) {
  Deno.test(`failedArchitectures() of a third namespace ${counts ? "takes" : "does not take"} the word of ${title}`, () => {
    const all = records.map((record) => ({ ...FAILED, ...record }));
    const found = failedArchitectures(all, { digest: DIGEST, namespace: "third", nowMs: NOW_MS });
    assert.equal(found.includes("arm64"), counts);
  });
}

Deno.test("renewFailedImage() keeps the latest two nodes", () => {
  const renewed = (node: readonly string[], before?: FailedImage): readonly string[] =>
    renewFailedImage({ ...FAILED, nodes: node }, before).nodes;
  const all = [renewed(["n3"], FAILED), renewed([], FAILED), renewed(["n3"])];
  assert.deepEqual(all, [["n3", "n1"], ["n1", "n2"], ["n3"]]);
});

Deno.test("isWithinLimits() leaves places for other namespaces when one has filled its own, and for renewals always", () => {
  const records = (count: number, by: (at: number) => string): { name: string; namespace: string }[] =>
    Array.from({ length: count }, (_, at) => ({ name: `failed-${at}`, namespace: by(at) }));
  const hostile = records(MAX_FAILED_IMAGES_OF_NAMESPACE, () => "hostile");
  assert.equal(isWithinLimits({ name: "new", namespace: "hostile" }, hostile), false);
  assert.equal(isWithinLimits({ name: "new", namespace: "hostile" }, hostile.slice(1)), true);
  assert.equal(isWithinLimits({ name: "failed-1", namespace: "hostile" }, hostile), true);
  assert.equal(isWithinLimits({ name: "new", namespace: "shop" }, hostile), true);
  assert.equal(isWithinLimits({ name: "new", namespace: "shop" }, records(MAX_FAILED_IMAGES, String)), false);
});

function start(overrides: Partial<FailedStart> = {}, pod: Parameters<typeof makeFailedPod>[0] = {}): FailedStart {
  const status = { state: ended(255), imageID: `r/app@${DIGEST}` };
  const [container] = podContainers(makeFailedPod({ status, ...pod }));
  return {
    container: container ?? assert.fail("no container"),
    isEntryPoint: true,
    podNamespace: "shop",
    nodeName: "n1",
    architecture: "arm64",
    inspected: { digest: DIGEST, architectures: ["amd64", "arm64"] },
    runtimeClassName: "",
    nowMs: NOW_MS,
    ...overrides,
  };
}

const SAYS: readonly (readonly [title: string, facts: FailedStart, scope: string])[] = [
  ["remembers for everybody what the image itself starts", start(), "n1"],
  ["remembers for the namespace where the pod changes what starts", start({}, { container: { command: ["/x"] } }), ""],
  [
    "remembers for the namespace where the tag may have moved",
    start({}, { status: { state: ended(1), imageID: "r/app@sha256:00" } }),
    "",
  ],
  [
    "remembers for the namespace where the pod was given this image after another one had failed",
    start({}, { container: { image: `r/app@${DIGEST}` }, status: { state: ended(255), imageID: "r/evil@sha256:00" } }),
    "",
  ],
  [
    "remembers for the namespace where another container, maybe of another image, has failed before",
    start({}, {
      status: { state: { running: {} }, lastState: ended(255, { id: idOf("b") }), imageID: `r/app@${DIGEST}` },
    }),
    "",
  ],
  ["says nothing of an image that does not claim the architecture", start({ architecture: "s390x" }), "nothing"],
  ["says nothing of a container that goes on running", start({}, { status: { state: { running: {} } } }), "nothing"],
  ["says nothing of an image that could not be inspected", start({ inspected: undefined }), "nothing"],
  ["remembers for the namespace where something may have run there before", start({ isEntryPoint: false }), ""],
  ["says nothing under a RuntimeClass", start({ runtimeClassName: "kata" }), "nothing"],
];
for (const [title, facts, nodes] of SAYS) {
  Deno.test(`failedImageOf() ${title}`, () => {
    const failed = failedImageOf(facts);
    assert.equal(failed === undefined ? "nothing" : failed.nodes.join(), nodes);
  });
}
