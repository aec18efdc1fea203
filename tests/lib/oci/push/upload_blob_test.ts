// Uploads against a strict registry: every form, every place that an upload may have, what is lost on the way, and who gets
// to see a credential.
import assert from "node:assert/strict";
import { registryError } from "../../../../lib/oci/errors.ts";
import { IDLE_LIMITS } from "../../../../lib/oci/push/idle_guard.ts";
import { PushError } from "../../../../lib/oci/push/push_error.ts";
import { uploadBlob } from "../../../../lib/oci/push/upload_blob.ts";
import { MAX_WHOLE_BYTES } from "../../../../lib/oci/push/upload_form.ts";
import { type VerifiedStream, verifyStream } from "../../../../lib/oci/push/verified_stream.ts";
import { digestOf } from "../../../support/documents.ts";
import type { SeenRequest } from "../../../support/registry.ts";
import { openPushBed, type PushBed } from "./support.ts";

const { signal } = new AbortController();
const SMALL = "small";
const LARGE = "0123456789abcdef".repeat((MAX_WHOLE_BYTES + 16 * 1_024) / 16);

/** A blob whose bytes are those that are read, whatever its digest says. */
const given = (
  text: string,
  read: () => ReadableStream<Uint8Array<ArrayBuffer>> = () => new Blob([text]).stream(),
) => {
  const blob = { digest: digestOf(text), size: text.length };
  let opened = 0;
  const open = (): Promise<VerifiedStream> => {
    opened++;
    return Promise.resolve(verifyStream(read(), { blob, registry: "source.test", onBytes: () => {} }));
  };
  return { opened: () => opened, content: { blob, open } };
};

async function failureOf(work: Promise<unknown>): Promise<PushError["failure"]> {
  const error: unknown = await work.then(() => assert.fail("no failure"), (thrown) => thrown);
  assert.ok(error instanceof PushError, String(error));
  return error.failure;
}

async function upload(bed: PushBed, text: string, { content } = given(text)): Promise<void> {
  await uploadBlob(content, { target: bed.target, limits: IDLE_LIMITS, signal });
  assert.ok(bed.blobs.get(digestOf(text)) === text, "the blob is there, whole");
}

const LOCATIONS: readonly (readonly [name: string, location: (origin: string) => (id: string) => string])[] = [
  ["relative", () => (id) => `/v2/team/app/blobs/uploads/${id}?state=s3cret`],
  ["relative, without a query", () => (id) => `/v2/team/app/blobs/uploads/${id}`],
  ["absolute", (origin) => (id) => `${origin}/v2/team/app/blobs/uploads/${id}?state=s3cret`],
];

for (const [name, render] of LOCATIONS) {
  Deno.test(`uploadBlob() goes to an address that is ${name}, and keeps its query (P-110)`, async () => {
    let origin = "";
    await using bed = await openPushBed({ location: (id) => render(origin)(id) });
    origin = bed.registry.origin;
    await upload(bed, SMALL);
    await upload(bed, LARGE);
    assert.deepEqual(bed.asked(), ["POST uploads", "PUT uploads", "POST uploads", "PATCH uploads", "PUT uploads"]);
    const puts = bed.registry.requests.filter(({ method }) => method === "PUT").map(({ path }) => path);
    const hasQuery = render(origin)("1").includes("s3cret");
    assert.ok(puts.every((path) => path.includes("state=s3cret") === hasQuery), puts.join());
  });
}

const ELSEWHERE: readonly (readonly [name: string, location: string])[] = [
  ["another host", "https://storage.test/upload?sig=s3cret"],
  ["another port", "http://127.0.0.1:1/upload"],
  ["no address", ""],
  ["no web address", "ftp://127.0.0.1/upload"],
];

for (const [name, location] of ELSEWHERE) {
  Deno.test(`uploadBlob() sends nothing to ${name}, and repeats no secret of it`, async () => {
    await using bed = await openPushBed({ location: () => location, logsIn: true });
    const { message } = await failureOf(upload(bed, SMALL));
    assert.match(message, /^Cannot push to "127\.0\.0\.1:\d+\/team\/app": the registry wants the upload sent else/);
    assert.doesNotMatch(message, /s3cret/);
    assert.deepEqual(bed.asked(), ["GET v2", "POST uploads"]);
  });
}

Deno.test("uploadBlob() uses the upload that a refused mount has begun (P-109)", async () => {
  await using bed = await openPushBed();
  const mount = await bed.target.mount(digestOf(SMALL), "team/builds");
  assert.ok(mount.kind === "upload", mount.kind);
  await uploadBlob(given(SMALL).content, { target: bed.target, begun: mount.upload, limits: IDLE_LIMITS, signal });
  assert.deepEqual(bed.asked(), ["POST uploads", "PUT uploads"]);
  assert.match(bed.registry.requests[0]?.path ?? "", /\?mount=sha256%3A[0-9a-f]{64}&from=team%2Fbuilds$/);
});

Deno.test("mount() takes 201 for done and a refusal for no (P-108)", async () => {
  await using bed = await openPushBed();
  for (const [status, kind] of [[201, "mounted"], [404, "refused"], [405, "refused"], [403, "refused"]] as const) {
    bed.before = () => new Response(null, { status });
    assert.equal((await bed.target.mount(digestOf(SMALL), "team/builds")).kind, kind);
  }
});

const isPatch = ({ method }: SeenRequest): boolean => method === "PATCH";
const tooLarge = (): Response => new Response(null, { status: 413 });

Deno.test("uploadBlob() goes on with pieces where a stream is too much, and reads the source again (P-111)", async () => {
  await using bed = await openPushBed();
  const answers = [tooLarge];
  bed.before = (request) => isPatch(request) ? answers.shift()?.() : undefined;
  const sent = given(LARGE);
  await upload(bed, LARGE, sent);
  assert.equal(sent.opened(), 2);
  assert.deepEqual(bed.asked(), [
    "POST uploads",
    "PATCH uploads",
    "DELETE uploads",
    "POST uploads",
    "PATCH uploads",
    "PUT uploads",
  ]);
});

Deno.test("uploadBlob() sends a piece again from where the registry has it: after 416, after 5xx (P-111)", async () => {
  const [lost, piece] = [5_000, 3 * 1_024 * 1_024];
  for (const status of [416, 503]) {
    await using bed = await openPushBed({ leastPieceBytes: piece });
    let isLost = false;
    bed.before = (request) => {
      if (!isPatch(request)) return undefined;
      if (request.headers.get("content-range") === null || request.body.length > piece) return tooLarge();
      if (isLost) return undefined;
      isLost = true;
      // It keeps the beginning of the piece and fails.
      const [path = ""] = request.path.split("?");
      const headers = { "content-range": `0-${lost - 1}` };
      const kept = { method: "PATCH", body: request.body.slice(0, lost), headers };
      return answerWith(fetch(`${bed.registry.origin}${path}`, kept), status);
    };
    await upload(bed, LARGE);
    const ranges = bed.registry.requests.filter(isPatch).map(({ headers }) => headers.get("content-range"));
    assert.deepEqual(ranges.slice(-2), [`${lost}-${piece - 1}`, `${piece}-${LARGE.length - 1}`]);
  }
});

/** The status, once the other request is over. */
function answerWith(other: Promise<Response>, status: number): Response {
  const empty = new ReadableStream<Uint8Array>({
    start: async (controller) => {
      await (await other).body?.cancel();
      controller.close();
    },
  });
  return new Response(empty, { status });
}

Deno.test("uploadBlob() commits nothing that is not what it should be, small or large (P-112)", async () => {
  await using bed = await openPushBed();
  for (const text of [SMALL, LARGE]) {
    const wrong = given(text, () => new Blob([text.slice(1), "x"]).stream());
    const says = /Cannot copy "sha256:.*" from "source\.test": its content has the digest/;
    await assert.rejects(upload(bed, text, wrong), says);
  }
  assert.deepEqual([...bed.blobs], []);
  assert.ok(!bed.asked().includes("PUT uploads"), bed.asked().join());
  assert.equal(bed.asked().filter((line) => line === "DELETE uploads").length, 2);
});

Deno.test("uploadBlob() takes the registry's word that the digest is wrong for good (P-112)", async () => {
  await using bed = await openPushBed();
  bed.before = ({ method }) =>
    method === "PUT" ? Response.json({ errors: [{ code: "DIGEST_INVALID" }] }, { status: 400 }) : undefined;
  const { kind, reason } = await failureOf(upload(bed, SMALL));
  assert.deepEqual([kind, reason], ["permanent", "DigestMismatch"]);
});

Deno.test("uploadBlob() names the source when that is what breaks off", async () => {
  await using bed = await openPushBed();
  const gone = registryError("Unreachable", 'Cannot read "source.test": it is gone.');
  const broken = given(LARGE, () => new ReadableStream({ pull: (controller) => controller.error(gone) }));
  await assert.rejects(upload(bed, LARGE, broken), /Cannot read "source\.test"/);
});

Deno.test("uploadBlob() gives up an upload that does not move any more", async () => {
  await using bed = await openPushBed();
  const { content } = given(LARGE, () => new ReadableStream({ pull: () => new Promise(() => {}) }));
  const limits = { idleMs: 100, answerMs: 100 };
  await assert.rejects(uploadBlob(content, { target: bed.target, signal, limits }), /nothing has moved for/);
});

/** Tokens that the registry takes one after the other; the token server is its own. */
function withTokens(bed: PushBed, isRevoked: (request: SeenRequest) => boolean): { readonly scopes: string[] } {
  const scopes: string[] = [];
  let current = 0;
  bed.before = (request) => {
    const url = new URL(request.path, bed.registry.origin);
    if (url.pathname === "/token") {
      scopes.push(url.searchParams.getAll("scope").join(" "));
      current = scopes.length;
      return Response.json({ token: `token-${current}`, expires_in: 300 });
    }
    if (isRevoked(request)) current = -1;
    if (request.headers.get("authorization") === `Bearer token-${current}`) return undefined;
    const challenge = `Bearer realm="${bed.registry.origin}/token",service="s",scope="repository:team/app:pull,push"`;
    return new Response(null, { status: 401, headers: { "www-authenticate": challenge } });
  };
  return { scopes };
}

Deno.test("uploadBlob() asks for one token of the right to push, and for another when that ends in the middle (P-102 P-103)", async () => {
  await using bed = await openPushBed({ logsIn: true });
  let puts = 0;
  const { scopes } = withTokens(bed, ({ method }) => method === "PUT" && ++puts === 1);
  await upload(bed, SMALL);
  assert.deepEqual(new Set(scopes), new Set(["repository:team/app:pull,push"]));
  assert.equal(scopes.length, 2);
});

Deno.test("a token that allows less than was asked for is a refusal, and not asked for again and again (P-104)", async () => {
  await using bed = await openPushBed();
  const { scopes } = withTokens(bed, () => true);
  const { kind, reason } = await failureOf(upload(bed, SMALL));
  assert.deepEqual([kind, reason], ["permanent", "Unauthorized"]);
  assert.ok(scopes.length <= 2, scopes.join());
});

Deno.test("readDigest() reads and hashes where the registry states no digest, and recognises what is absent (P-116)", async () => {
  await using bed = await openPushBed();
  const text = JSON.stringify({ schemaVersion: 2 });
  bed.before = ({ method, path }) => {
    if (!path.endsWith("/manifests/v1")) return undefined;
    return new Response(method === "HEAD" ? null : text, { headers: { "content-type": "application/json" } });
  };
  assert.equal(await bed.target.readDigest("v1"), digestOf(text));
  assert.equal(await bed.target.readDigest("v2"), undefined);
});

Deno.test("uploadBlob() frees what it has sent before it reads on", async () => {
  await using bed = await openPushBed();
  const bytes = new TextEncoder().encode(LARGE);
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let most = 0;
  const parts = ReadableStream.from((function* (): Generator<Uint8Array<ArrayBuffer>> {
    for (let at = 0;; at += 65_536) {
      most = Math.max(most, chunks.filter(({ buffer }) => !buffer.detached).length);
      if (at >= bytes.length) return;
      const chunk = bytes.slice(at, at + 65_536);
      chunks.push(chunk);
      yield chunk;
    }
  })());
  await upload(bed, LARGE, given(LARGE, () => parts));
  assert.ok(chunks.length > 60 && most <= 1, `${most} of ${chunks.length} chunks at a time`);
});
