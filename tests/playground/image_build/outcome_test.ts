import assert from "node:assert/strict";
import { renderDocument } from "../../../lib/cli/output.ts";
import type { KubeObject } from "../../../lib/k8s/types.ts";
import {
  type BuildEvidence,
  isBuildOver,
  readBuildOutcome,
  renderBuildTable,
} from "../../../playground/image_build/outcome.ts";

const REFERENCE = "registry.test/demo/os@sha256:index";
const DIGEST = { amd64: `sha256:${"a".repeat(64)}`, arm64: `sha256:${"b".repeat(64)}` };

function config(currentImagePullSpec = REFERENCE): KubeObject {
  return { metadata: { name: "worker" }, status: { currentImagePullSpec } };
}

function build(type: string, archStatus: string, message = ""): KubeObject {
  const annotations = { "archway.dev/arch-status": archStatus };
  return { metadata: { name: "worker-1", annotations }, status: { conditions: [{ type, status: "True", message }] } };
}

function indexOf(children: Readonly<Record<string, string>>): string {
  const manifests = Object.entries(children).map(([architecture, digest]) => ({ digest, platform: { architecture } }));
  return JSON.stringify({ manifests });
}

const GOOD: BuildEvidence = {
  config: config(),
  builds: [build("Succeeded", "amd64=Succeeded,arm64=Succeeded")],
  simulated: [
    { architecture: "arm64", node: "arm64-1", digest: DIGEST.arm64 },
    { architecture: "amd64", node: "amd64-1", digest: DIGEST.amd64 },
  ],
  manifestOf: (reference) => reference === "demo/os@sha256:index" ? indexOf(DIGEST) : undefined,
  wanted: ["amd64", "arm64"],
};

const NOT_AS_EXPECTED: readonly (readonly [string, Partial<BuildEvidence>])[] = [
  ["nothing is published", { config: config("") }],
  ["the registry does not have what is published", { manifestOf: () => undefined }],
  ["the index has one architecture too many", { manifestOf: () => indexOf({ ...DIGEST, s390x: DIGEST.amd64 }) }],
  ["the index lacks one", { manifestOf: () => indexOf({ amd64: DIGEST.amd64 }) }],
  ["the index has another image", { manifestOf: () => indexOf({ ...DIGEST, arm64: DIGEST.amd64 }) }],
  ["one was built twice", { simulated: [...GOOD.simulated, ...GOOD.simulated.slice(0, 1)] }],
  ["one was not built", { simulated: GOOD.simulated.slice(0, 1) }],
  ["the MachineOSBuild says otherwise", { builds: [build("Building", "amd64=Succeeded,arm64=Building")] }],
];

Deno.test("readBuildOutcome() is as expected only when the index is of what was built once on each architecture", () => {
  assert.equal(readBuildOutcome(GOOD).ok, true);
  for (const [what, change] of NOT_AS_EXPECTED) assert.equal(readBuildOutcome({ ...GOOD, ...change }).ok, false, what);
});

Deno.test("isBuildOver() waits for the image and for what the build says of itself, not after a failure", () => {
  assert.equal(isBuildOver(GOOD), true);
  const rows: readonly (readonly [string, Partial<BuildEvidence>, boolean])[] = [
    ["nothing yet", { config: config(""), builds: [] }, false],
    ["not published", { config: config("") }, false],
    ["published, not said", { builds: [build("Building", "")] }, false],
    ["said of the build, not of an architecture", { builds: [build("Succeeded", "arm64=Building")] }, false],
    ["failed", { config: config(""), builds: [build("Failed", "arm64=Failed")] }, true],
    ["interrupted", { config: config(""), builds: [build("Interrupted", "")] }, true],
  ];
  for (const [what, change, wanted] of rows) assert.equal(isBuildOver({ ...GOOD, ...change }), wanted, what);
});

Deno.test("renderBuildTable() has a line for each architecture and reports what was published, or why not", () => {
  assert.deepEqual(renderBuildTable(readBuildOutcome(GOOD)).split("\n"), [
    "POOL     ARCHITECTURE   NODE      BUILD       IMAGE                 OK",
    "worker   amd64          amd64-1   Succeeded   sha256:aaaaaaaaaaaa   yes",
    "worker   arm64          arm64-1   Succeeded   sha256:bbbbbbbbbbbb   yes",
    "",
    `Published: ${REFERENCE}`,
    "",
  ]);
  const failed = { config: config(""), builds: [build("Failed", "arm64=Failed", "arm64: no.")], simulated: [] };
  assert.deepEqual(renderBuildTable(readBuildOutcome({ ...GOOD, ...failed })).split("\n").slice(2), [
    "worker   arm64          -      Failed   -       no",
    "",
    "Nothing is published.",
    "arm64: no.",
    "",
  ]);
  assert.equal(JSON.parse(renderDocument(readBuildOutcome(GOOD), "json")).published, REFERENCE);
  assert.match(renderDocument(readBuildOutcome(GOOD), "yaml"), /^ok: true$/m);
});
