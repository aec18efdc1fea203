import assert from "node:assert/strict";
import fc from "fast-check";
import type { Descriptor } from "../../../../lib/oci/image/manifest.ts";
import { isBundle, isPlatformEntry, platformsOf, renderPlatform } from "../../../../lib/oci/image/platforms.ts";
import type { Platform } from "../../../../lib/oci/inspection.ts";
import { digestOf } from "../../../support/documents.ts";

const TYPE = { "vnd.docker.reference.type": "attestation-manifest" };
const SUBJECT = { "vnd.docker.reference.digest": digestOf("subject") };
const UNKNOWN = { os: "unknown", architecture: "unknown" };

function linux(architecture: string): Platform {
  return { os: "linux", architecture };
}

function entry(platform: Platform | undefined, annotations: Readonly<Record<string, string>> = {}): Descriptor {
  const digest = digestOf(JSON.stringify([platform, annotations]));
  return {
    mediaType: "",
    digest,
    size: 1,
    annotations,
    isArtifact: false,
    ...(platform === undefined ? {} : { platform }),
  };
}

const ENTRIES: readonly (readonly [id: string, what: string, candidate: Descriptor, kept: boolean])[] = [
  ["MF-01", "linux/amd64", entry(linux("amd64")), true],
  ["MF-02", "linux/arm64", entry(linux("arm64")), true],
  ["MF-03", "an attestation of unknown/unknown", entry(UNKNOWN, TYPE), false],
  ["MF-04", "linux/unknown", entry(linux("unknown")), false],
  ["MF-05", "unknown/unknown", entry(UNKNOWN), false],
  ["MF-06", "an attestation that says linux/amd64", entry(linux("amd64"), TYPE), false],
  ["MF-07", "an entry about another one", entry(linux("amd64"), SUBJECT), false],
  ["MF-08", "both annotations", entry(UNKNOWN, { ...TYPE, ...SUBJECT }), false],
  ["MF-09", "an unrelated annotation", entry(linux("amd64"), { "org.example": "x" }), true],
  ["MF-10", "no platform", entry(undefined), false],
];

for (const [id, what, candidate, kept] of ENTRIES) {
  Deno.test(`${id} isPlatformEntry() is ${kept} for ${what}`, () => {
    assert.equal(isPlatformEntry(candidate), kept);
  });
}

const attestation = entry(UNKNOWN, { ...TYPE, ...SUBJECT });
const [amd64, arm64, ppc64le] = ["amd64", "arm64", "ppc64le"].map((name) => entry(linux(name)));
assert.ok(amd64 !== undefined && arm64 !== undefined && ppc64le !== undefined);

const INDEXES:
  readonly (readonly [string, string, readonly Descriptor[], readonly string[], Descriptor | undefined])[] = [
    ["MF-11", "amd64 and an attestation", [amd64, attestation], ["amd64"], amd64],
    ["MF-12", "three architectures", [amd64, arm64, ppc64le], ["amd64", "arm64", "ppc64le"], amd64],
    ["MF-13", "attestations alone", [attestation], [], undefined],
    ["MF-14", "an attestation first", [attestation, arm64], ["arm64"], arm64],
    ["MF-15", "an unknown architecture", [amd64, entry(linux("unknown"))], ["amd64"], amd64],
    ["MF-16", "a malformed attestation", [arm64, entry(linux("amd64"), SUBJECT)], ["arm64"], arm64],
    ["MF-17", "an attestation last", [amd64, attestation], ["amd64"], amd64],
  ];

for (const [id, what, entries, architectures, first] of INDEXES) {
  Deno.test(`${id} platformsOf() reads an index with ${what}`, () => {
    assert.deepEqual(platformsOf(entries).map(({ architecture }) => architecture), architectures);
    assert.equal(entries.find(isPlatformEntry)?.digest, first?.digest);
  });
}

Deno.test("MF-18 platformsOf() never contains unknown", () => {
  const platform = fc.record({
    os: fc.constantFrom("linux", "unknown", "windows"),
    architecture: fc.constantFrom("amd64", "arm64", "unknown", ""),
  });
  const annotations = fc.constantFrom({}, TYPE, SUBJECT, { other: "x" });
  const entries = fc.array(fc.tuple(fc.option(platform, { nil: undefined }), annotations));
  fc.assert(fc.property(entries, (list) => {
    const architectures = platformsOf(list.map(([at, about]) => entry(at, about))).map(({ architecture }) =>
      architecture
    );
    assert.ok(architectures.every((name) => name !== "unknown" && name !== ""));
  }));
});

Deno.test("DV-87 platformsOf() keeps the operating system of each entry", () => {
  const windows = { os: "windows", architecture: "amd64" };
  assert.deepEqual(platformsOf([entry(windows), arm64]), [windows, linux("arm64")]);
});

Deno.test("DV-88 platformsOf() keeps variants apart and drops repetitions", () => {
  const [v6, v7] = ["v6", "v7"].map((variant) => entry({ ...linux("arm"), variant }));
  assert.ok(v6 !== undefined && v7 !== undefined);
  assert.deepEqual(platformsOf([v6, v7, v7]).map(renderPlatform), ["linux/arm/v6", "linux/arm/v7"]);
});

const BUNDLE = "operators.operatorframework.io";
const KEYS = ["mediatype.v1", "manifests.v1", "metadata.v1", "package.v1", "channels.v1", "channel.default.v1"];

for (const key of [`${BUNDLE}.metrics.builder`, ...KEYS.map((name) => `${BUNDLE}.bundle.${name}`)]) {
  Deno.test(`DV-91 isBundle() sees ${key}, also when empty`, () => {
    assert.equal(isBundle({ [key]: "" }), true);
  });
}
