import assert from "node:assert/strict";
import { systemClock } from "../../../../lib/clock.ts";
import { publishImages, publishOutcomeOf } from "../../../../lib/builds/cluster/apply.ts";
import type { PublishOutcome } from "../../../../lib/builds/decide/effects.ts";
import type { AssembleProblem } from "../../../../lib/publishing/assemble/problem.ts";
import { withPublishOutcome } from "../../../../lib/builds/decide/status/publish_outcome.ts";
import { EMPTY_INDEX } from "../../../../lib/builds/decide/status/record.ts";
import type { BuildRecord } from "../../../../lib/builds/decide/types.ts";
import { ImageLabel } from "../../../../lib/builds/decide/names.ts";
import { REGISTRY_USER } from "../../../../playground/sample_cluster.ts";
import { openPushRegistry } from "./push_registry.ts";

const REPOSITORY = "team/os";
const TAG = "worker-1";
const ARCHS = ["amd64", "arm64"] as const;
const clock = { ...systemClock, sleep: () => Promise.resolve() };
const { signal } = new AbortController();

/** A registry with an image of each architecture in repository `built`, and what publishes them as one build. */
const openBed = async ({ built = REPOSITORY } = {}) => {
  const opened = await openPushRegistry();
  const { registry, repositories } = opened;
  const digests = new Map<string, string>();
  const bed = Object.assign(opened, {
    build: async (arch: typeof ARCHS[number], salt: string) => {
      const labels = { [ImageLabel.buildKey]: `key of ${arch}`, salt };
      const image = { repository: built, tag: arch, architectures: [arch], form: "oci-manifest", labels } as const;
      digests.set(arch, await registry.push(image));
    },
    lose: async (arch: typeof ARCHS[number]) => {
      const authorization = `Basic ${btoa(`${REGISTRY_USER.name}:${REGISTRY_USER.password}`)}`;
      const path = `${registry.origin}/v2/${built}/manifests/${digests.get(arch)}`;
      const { status, body } = await fetch(path, { method: "DELETE", headers: { authorization } });
      await body?.cancel();
      assert.equal(status, 202);
    },
    attempt: async (record: BuildRecord, stop = signal) => {
      const tag = record.index.kind === "retry" ? record.index.tag ?? TAG : TAG;
      const repository = `${registry.host}/${REPOSITORY}`;
      const children = ARCHS.map((arch) => {
        const reference = `${registry.host}/${built}@${digests.get(arch) ?? ""}`;
        return { arch, reference, buildKey: `key of ${arch}`, isUnlabelled: false };
      });
      const request = { to: `${repository}:${tag}`, children, mode: "index" } as const;
      const outcome = await publishImages(request, { repositories, clock, signal: stop });
      return withPublishOutcome(record, outcome, { tag, nowMs: clock.nowMs(), pushVersion: "1" });
    },
  });
  for (const arch of ARCHS) await bed.build(arch, "first");
  return bed;
};

const BUILT: BuildRecord = {
  archs: ARCHS.map((arch) => ({ arch, buildKey: `key of ${arch}`, state: "Succeeded", attempts: 1 })),
  index: EMPTY_INDEX,
};

Deno.test("where every second request fails, one attempt publishes, and reads each image once", async () => {
  await using bed = await openBed();
  const read: string[] = [];
  let asked = 0;
  bed.before = ({ method, url }) => {
    if (asked++ % 2 === 0) return new Response(null, { status: 500 });
    const [, document] = /\/(?:manifests|blobs)\/(sha256:.*)$/.exec(url) ?? [];
    if (method === "GET" && document !== undefined) read.push(document);
    return undefined;
  };
  assert.equal((await bed.attempt(BUILT)).index.kind, "published");
  assert.deepEqual([read.length, new Set(read).size], [4, 4], "manifest and config of both");
});

Deno.test("P-136 an image that is lost before the index is made is built once more; lost again, its architecture fails", async () => {
  await using bed = await openBed();
  await bed.lose("arm64");
  const once = await bed.attempt(BUILT);
  assert.deepEqual(once.archs.map(({ state }) => state), ["Succeeded", "Pending"]);
  const again = { ...once, archs: once.archs.map((one) => ({ ...one, state: "Succeeded" as const })) };
  await bed.build("arm64", "second");
  assert.equal((await bed.attempt(again)).index.kind, "published");
  await bed.lose("arm64");
  const twice = await bed.attempt(again);
  assert.deepEqual(twice.archs.map(({ state, reason }) => [state, reason]), [
    ["Succeeded", undefined],
    ["Failed", "ImageLost"],
  ]);
});

Deno.test("P-088 where a tag cannot be moved the index gets the next one, and what had the tag keeps it", async () => {
  await using bed = await openBed();
  bed.before = ({ method, url, headers }) => {
    const tag = url.split("/").at(-1) ?? "";
    const isIndexPush = method === "PUT" && (headers.get("content-type") ?? "").includes("index");
    const isTaken = !tag.startsWith("sha256") && bed.registry.digestOf(REPOSITORY, tag) !== undefined;
    if (!isIndexPush || !isTaken) return undefined;
    const message =
      `The image tag '${tag}' already exists and cannot be overwritten because the repository is immutable.`;
    return Response.json({ errors: [{ code: "TAG_INVALID", message }] }, { status: 400 });
  };
  assert.equal((await bed.attempt(BUILT)).index.kind, "published");
  const kept = bed.registry.digestOf(REPOSITORY, TAG);
  await bed.build("arm64", "second");
  const retry = await bed.attempt(BUILT);
  assert.ok(retry.index.kind === "retry" && retry.index.tag === `${TAG}-r1`, JSON.stringify(retry.index));
  const { index } = await bed.attempt(retry);
  assert.ok(index.kind === "published" && index.tag === `${TAG}-r1`);
  assert.equal(bed.registry.digestOf(REPOSITORY, TAG), kept);
  assert.ok(index.reference.endsWith(bed.registry.digestOf(REPOSITORY, `${TAG}-r1`) ?? "none"));
});

Deno.test("P-135 a publication that ends at any request, taken or not, is ended by the next one: one index, the same", async () => {
  const requests: string[] = [];
  await using undisturbed = await openBed({ built: "team/builds" });
  undisturbed.before = ({ method, url }) => {
    requests.push(`${method} ${new URL(url).pathname}`);
    return undefined;
  };
  assert.equal((await undisturbed.attempt(BUILT)).index.kind, "published");
  const digest = undisturbed.registry.digestOf(REPOSITORY, TAG) ?? assert.fail("no index");
  const copied = requests.filter((request) => request.startsWith(`PUT /v2/${REPOSITORY}/manifests/`)).length;
  assert.equal(copied, ARCHS.length + 2, "both images, the index by its digest, the tag");
  // The last: it ends when everything is published, before the record is written.
  for (let last = 0; last <= requests.length; last++) {
    for (const isTaken of [true, false]) {
      await using bed = await openBed({ built: "team/builds" });
      const stop = new AbortController();
      let asked = 0;
      bed.before = () => {
        if (asked++ !== last) return undefined;
        stop.abort();
        return isTaken ? undefined : new Response(null, { status: 503 });
      };
      const what = `${isTaken ? "after" : "before"} ${requests[last] ?? "the record"}`;
      const [{ status }] = await Promise.allSettled([bed.attempt(BUILT, stop.signal)]);
      // After the answer to the last request there is nothing left that could be stopped.
      assert.ok(status === "rejected" || last >= requests.length - 1, what);
      bed.before = () => undefined;
      const { index } = await bed.attempt(BUILT);
      assert.ok(index.kind === "published" && index.reference.endsWith(`@${digest}`), what);
      assert.equal(bed.registry.digestOf(REPOSITORY, TAG), digest, what);
      assert.deepEqual(bed.registry.architecturesOf(`${REPOSITORY}:${TAG}`), ARCHS, what);
    }
  }
});

const ROWS: readonly (readonly [reason: string, given: Partial<AssembleProblem>, outcome: string])[] = [
  ["RateLimited", { kind: "transient" }, "retry"],
  ["ServerError", { kind: "transient" }, "retry"],
  ["Unauthorized", {}, "failed PushDenied"],
  ["PushDenied", {}, "failed PushDenied"],
  ["MediaTypeRefused", {}, "failed IndexUnsupported"],
  ["DigestMismatch", {}, "failed DigestMismatch"],
  ["PartsMissing", {}, "retry"],
  ["Refused", { message: "the registry answered 409: the tag is immutable." }, "tag immutable"],
  ["Refused", { message: "the registry answered 400 TAG_INVALID: cannot be overwritten." }, "tag immutable"],
  ["Refused", { message: "the registry answered 400." }, "retry"],
  ["ManifestUnknown", { image: "arm64" }, "lost arm64"],
  ["OtherImage", { image: "arm64" }, "failed ArchMismatch arm64"],
  ["Unauthorized", { image: "arm64" }, "failed PushDenied"],
];

Deno.test("publishOutcomeOf() reports what each problem of publishing means", () => {
  for (const [reason, given, expected] of ROWS) {
    const problem: AssembleProblem = { kind: "permanent", reason, message: "the registry answered.", ...given };
    const outcome: PublishOutcome = publishOutcomeOf(problem, given.image === undefined ? undefined : "arm64");
    const words = [outcome.kind, "reason" in outcome ? outcome.reason : "", "arch" in outcome ? outcome.arch : ""];
    assert.equal(words.filter(Boolean).join(" "), expected, reason);
  }
});

Deno.test("publishOutcomeOf() passes on the pause that a registry requests", () => {
  const outcome = publishOutcomeOf({ kind: "transient", reason: "", message: "busy", retryAfterMs: 7_000 }, undefined);
  assert.deepEqual(outcome, { kind: "retry", message: "busy", retryAfterMs: 7_000 });
});
