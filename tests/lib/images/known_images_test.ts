import assert from "node:assert/strict";
import type { ImageUse } from "../../../lib/oci/types.ts";
import { type KnownImages, openKnownImages } from "../../../lib/images/known_images.ts";
import type { InspectionReport } from "../../../lib/oci/inspector.ts";
import { FakeClock } from "../../support/fake_clock.ts";

const TAG_TTL_MS = 300_000;
const PINNED = `example.com/app@sha256:${"a".repeat(64)}`;
const TEAM = { namespace: "team", pullSecrets: ["pull"] };

function reportOf(changes: Partial<InspectionReport> = {}): InspectionReport {
  return {
    inspection: {
      kind: "platforms",
      digest: `sha256:${"a".repeat(64)}`,
      mediaType: "application/vnd.oci.image.index.v1+json",
      platforms: [{ os: "linux", architecture: "arm64" }],
      depth: "index",
      findings: [],
    },
    resolved: "example.com/app:v1",
    verifiedAtMs: 0,
    source: "registry",
    access: "public",
    requests: { manifestGet: 1, manifestHead: 0, blobGet: 0, token: 0, other: 0 },
    trace: [],
    ...changes,
  };
}

function open(): { readonly clock: FakeClock; readonly known: KnownImages } {
  const clock = new FakeClock();
  return { clock, known: openKnownImages({ clock, maxEntries: 10, tagTtlMs: TAG_TTL_MS }) };
}

function use(image: string, always = false): ImageUse {
  return { image, always, pullPolicy: always ? "Always" : "IfNotPresent" };
}

Deno.test("recall() answers only when every image is known", () => {
  const { known } = open();
  known.remember("a:v1", reportOf(), TEAM);
  assert.equal(known.recall([use("a:v1")], TEAM)?.length, 1);
  assert.equal(known.recall([use("a:v1"), use("b:v1")], TEAM), undefined);
});

Deno.test("recall() believes a tag for its life, a digest for good", async () => {
  const { clock, known } = open();
  known.remember("a:v1", reportOf(), TEAM);
  known.remember(PINNED, reportOf(), TEAM);
  await clock.advance(TAG_TTL_MS + 1);
  assert.equal(known.recall([use("a:v1")], TEAM), undefined);
  assert.equal(known.recall([use(PINNED)], TEAM)?.length, 1);
});

Deno.test("recall() shares an answer with pods of the same second when the policy is Always", async () => {
  const { clock, known } = open();
  known.remember("a:v1", reportOf(), TEAM);
  assert.equal(known.recall([use("a:v1", true)], TEAM)?.length, 1);
  await clock.advance(1_001);
  assert.equal(known.recall([use("a:v1", true)], TEAM), undefined);
  assert.equal(known.recall([use("a:v1")], TEAM)?.length, 1);
});

Deno.test("recall() gives what was read with a pull secret only to the namespace and secrets that read it", () => {
  const { known } = open();
  known.remember("a:v1", reportOf({ access: "private" }), TEAM);
  assert.equal(known.recall([use("a:v1")], TEAM)?.length, 1);
  assert.equal(known.recall([use("a:v1")], { ...TEAM, namespace: "other" }), undefined);
  assert.equal(known.recall([use("a:v1")], { ...TEAM, pullSecrets: [] }), undefined);
});

Deno.test("forgetPrivate() drops what needed a credential and keeps what everybody may read", () => {
  const { known } = open();
  known.remember("a:v1", reportOf({ access: "private" }), TEAM);
  known.remember("b:v1", reportOf(), TEAM);
  known.forgetPrivate();
  assert.equal(known.recall([use("a:v1")], TEAM), undefined);
  assert.equal(known.recall([use("b:v1")], TEAM)?.length, 1);
});

Deno.test("remember() never keeps a failure", () => {
  const { known } = open();
  const failure = { kind: "transient", reason: "Timeout", message: "slow" } as const;
  known.remember("a:v1", reportOf({ inspection: { kind: "failed", failure } }), TEAM);
  assert.equal(known.recall([use("a:v1")], TEAM), undefined);
});

Deno.test("isAging() tells of tags past half of their life, never of digests", async () => {
  const { clock, known } = open();
  known.remember("a:v1", reportOf(), TEAM);
  known.remember(PINNED, reportOf(), TEAM);
  assert.equal(known.isAging([use("a:v1")], TEAM), false);
  await clock.advance(TAG_TTL_MS / 2 + 1);
  assert.equal(known.isAging([use("a:v1")], TEAM), true);
  assert.equal(known.isAging([use(PINNED)], TEAM), false);
});
