import assert from "node:assert/strict";
import { checkEntry, kindOfEntry } from "../../../../lib/publishing/decide/child.ts";
import { type Descriptor, MANIFEST_MEDIA_TYPES } from "../../../../lib/oci/image/manifest.ts";
import type { Platform } from "../../../../lib/oci/inspection.ts";

const [OCI_INDEX, , OCI_MANIFEST] = MANIFEST_MEDIA_TYPES;
const ARM64 = { os: "linux", architecture: "arm64" };

function entry(more: Partial<Descriptor> = {}): Descriptor {
  const digest = `sha256:${"ab".repeat(32)}`;
  return { mediaType: OCI_MANIFEST, digest, size: 1, annotations: {}, isArtifact: false, ...more };
}

Deno.test("kindOfEntry() distinguishes images, attestations and everything else", () => {
  const unknown = { os: "unknown", architecture: "unknown" };
  const rows: readonly (readonly [Partial<Descriptor>, string])[] = [
    [{ platform: ARM64 }, "image"],
    [{}, "image"],
    [{ platform: unknown }, "attestation"],
    [{ platform: ARM64, annotations: { "vnd.docker.reference.type": "attestation-manifest" } }, "attestation"],
    [{ isArtifact: true }, "other"],
    [{ mediaType: OCI_INDEX }, "other"],
  ];
  for (const [more, kind] of rows) assert.equal(kindOfEntry(entry(more)), kind, JSON.stringify(more));
});

Deno.test("checkEntry() finds another platform, and none", () => {
  const kinds = (platform: Platform | undefined, own: Platform): readonly string[] =>
    checkEntry(entry({ platform }), own).map(({ kind }) => kind);
  assert.deepEqual(kinds(ARM64, ARM64), []);
  assert.deepEqual(kinds({ ...ARM64, variant: "v8" }, ARM64), []);
  assert.deepEqual(kinds(ARM64, { ...ARM64, variant: "v8" }), []);
  assert.deepEqual(kinds({ ...ARM64, variant: "v8" }, { ...ARM64, variant: "v9" }), ["PlatformMismatch"]);
  assert.deepEqual(kinds(ARM64, { os: "linux", architecture: "amd64" }), ["PlatformMismatch"]);
  assert.deepEqual(kinds(ARM64, { os: "windows", architecture: "arm64" }), ["PlatformMismatch"]);
  assert.deepEqual(kinds(undefined, ARM64), ["NoPlatform"]);
});
