import assert from "node:assert/strict";
import { judgeConfig, judgeDocument, judgeManifest } from "../../../../lib/publishing/decide/child.ts";
import { parseImageConfig, parseManifest } from "../../../../lib/oci/image/manifest.ts";
import { makeDocument, MediaType } from "../../../support/documents.ts";

const DIGEST = `sha256:${"ab".repeat(32)}`;
const OTHER = `sha256:${"cd".repeat(32)}`;
const OCI_CONFIG = { mediaType: MediaType.ociConfig, digest: DIGEST, size: 2 };

interface Entry {
  readonly digest: string;
  readonly platform?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly mediaType?: string;
}

function parsed(body: unknown): ReturnType<typeof parseManifest> {
  const { text, mediaType } = makeDocument(body, "");
  return parseManifest(text, mediaType);
}

function judge(body: unknown): ReturnType<typeof judgeDocument> {
  return judgeDocument(parsed(body));
}

function indexOf(...entries: readonly Entry[]): unknown {
  const manifests = entries.map((entry) => ({ mediaType: MediaType.ociManifest, size: 3, ...entry }));
  return { schemaVersion: 2, mediaType: MediaType.ociIndex, manifests };
}

const AMD64 = { digest: DIGEST, platform: { os: "linux", architecture: "amd64" } };
const ARM64 = { digest: OTHER, platform: { os: "linux", architecture: "arm64" } };
const ATTESTATION = { digest: OTHER, platform: { os: "unknown", architecture: "unknown" } };
const MARKED = { ...ARM64, annotations: { "vnd.docker.reference.type": "attestation-manifest" } };

Deno.test("judgeDocument() takes images of both forms, and gives the form", () => {
  const oci = { mediaType: MediaType.ociManifest, config: OCI_CONFIG, layers: [] };
  assert.deepEqual(judge(oci), { kind: "image", manifest: parsed(oci), form: "oci" });
  const docker = { mediaType: MediaType.dockerManifest, config: { ...OCI_CONFIG, mediaType: MediaType.dockerConfig } };
  assert.deepEqual(judge(docker), { kind: "image", manifest: parsed(docker), form: "docker" });
});

Deno.test("judgeDocument() takes the one image of an index, whatever attestations are beside it (P-139)", () => {
  const inner = { kind: "inner", digest: DIGEST };
  assert.deepEqual(judge(indexOf(AMD64)), inner);
  assert.deepEqual(judge(indexOf(ATTESTATION, AMD64)), inner);
  assert.deepEqual(judge(indexOf(AMD64, MARKED)), inner);
  assert.deepEqual(judge(indexOf({ digest: DIGEST })), inner);
});

const REFUSED: readonly (readonly [name: string, body: unknown, reason: string, state: RegExp])[] = [
  ["an index of several images", indexOf(AMD64, ARM64), "SeveralImages", /2 images \(linux\/amd64 sha256:ab.*digest$/],
  ["an index of attestations alone", indexOf(ATTESTATION), "NotAnImage", /index without an image/],
  ["an index that holds an index", indexOf({ digest: DIGEST, mediaType: MediaType.ociIndex }), "NestedIndex", /digest/],
  [
    "an artifact",
    { mediaType: MediaType.ociManifest, config: { ...OCI_CONFIG, mediaType: "application/vnd.helm+json" } },
    "NotAnImage",
    /type of its config is "application\/vnd\.helm\+json"/,
  ],
  [
    "schema 1",
    { schemaVersion: 1, mediaType: MediaType.schema1, architecture: "amd64", history: [] },
    "Schema1",
    /Build it anew/,
  ],
  ["what is no manifest", { mediaType: "text/plain" }, "Malformed", /media type is "text\/plain"/],
];

for (const [name, body, reason, state] of REFUSED) {
  Deno.test(`judgeDocument() refuses ${name}, and reports why`, () => {
    const judged = judge(body);
    assert.equal(judged.kind === "problem" ? judged.reason : judged.kind, reason);
    assert.match(judged.kind === "problem" ? judged.state : "", state);
  });
}

Deno.test("judgeManifest() follows no second index", () => {
  const judged = judgeManifest(parsed(indexOf(AMD64)));
  assert.equal(judged.kind === "problem" ? judged.reason : judged.kind, "NestedIndex");
});

Deno.test("judgeConfig() takes the whole platform from the config (P-140)", () => {
  const platformIn = (config: unknown): unknown => {
    const judged = judgeConfig(parseImageConfig(JSON.stringify(config)));
    return judged.kind === "config" ? judged.platform : judged.reason;
  };
  const arm = { os: "linux", architecture: "arm64", variant: "v8" };
  assert.deepEqual(platformIn({ ...arm, rootfs: {} }), arm);
  assert.deepEqual(
    platformIn({ os: "windows", architecture: "amd64", "os.version": "10.0.1", "os.features": ["win32k", "a", 1] }),
    { os: "windows", architecture: "amd64", osVersion: "10.0.1", osFeatures: ["a", "win32k"] },
  );
  assert.equal(platformIn({ architecture: "amd64" }), "NoPlatform");
  assert.equal(platformIn({ os: "linux" }), "NoPlatform");
  assert.equal(platformIn({ os: "unknown", architecture: "unknown" }), "NoPlatform");
  assert.equal(platformIn([]), "NoPlatform");
});
