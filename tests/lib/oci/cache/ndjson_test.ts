import assert from "node:assert/strict";
import fc from "fast-check";
import { seal } from "../../../../lib/kv/envelope.ts";
import { entryKey } from "../../../../lib/kv/keys.ts";
import { openMemoryStore } from "../../../support/memory_store.ts";
import { exportCache, importCache } from "../../../../lib/oci/cache/ndjson.ts";
import type { KeyValueStore } from "../../../../lib/kv/store.ts";
import { RECORD_VERSION } from "../../../../lib/oci/cache/records.ts";
import type { ImageRecord } from "../../../../lib/oci/inspection.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { makePlatforms } from "../../../support/reports.ts";

const clock = new FakeClock();

function record(at: number): ImageRecord {
  return makePlatforms({
    depth: at % 2 === 0 ? "index" : "config",
    digest: `sha256:${at.toString(16).padStart(64, "0")}`,
    platforms: [{ os: "linux", architecture: "arm64", variant: "v8" }, { os: "linux", architecture: "amd64" }],
  });
}

async function put(store: KeyValueStore, document: ImageRecord, scope = "public"): Promise<void> {
  const sealed = seal(document, { v: RECORD_VERSION, atMs: clock.nowMs() });
  await store.set(entryKey("digest", [document.digest, scope]), sealed);
}

async function* toLines(lines: readonly string[]): AsyncGenerator<string> {
  for (const line of lines) yield await Promise.resolve(line);
}

Deno.test("importCache() gives another store all that exportCache() took out of the first", async () => {
  const [from, to] = [openMemoryStore(), openMemoryStore()];
  for (let at = 0; at < 50; at++) await put(from, record(at));
  const lines = await Array.fromAsync(exportCache(from, { clock }));
  assert.equal(lines.length, 50);
  const counts = await importCache(toLines(lines), { store: to, clock });
  assert.deepEqual(counts, { imported: 50, older: 0, invalid: 0, lost: 0 });
  assert.deepEqual(await Array.fromAsync(exportCache(to, { clock })), lines);
});

const HOUR_MS = 3_600_000;

async function putTag(
  store: KeyValueStore,
  name: string,
  about: { readonly verifiedAtMs: number; readonly scope?: string; readonly expireAtMs?: number },
): Promise<void> {
  const { verifiedAtMs, scope = "public", ...expiry } = about;
  const value = { digest: record(1).digest, verifiedAtMs };
  await store.set(entryKey("tag", [name, scope]), seal(value, { v: RECORD_VERSION, atMs: clock.nowMs(), ...expiry }));
}

Deno.test("importCache() gives another store the tags too, with the age they had, but no younger one's place", async () => {
  const [from, to] = [openMemoryStore(), openMemoryStore()];
  const nowMs = clock.nowMs();
  for (const name of ["old", "same", "young"]) {
    await putTag(from, `registry.test:5000/team/app:${name}`, { verifiedAtMs: nowMs - HOUR_MS });
  }
  await putTag(to, "registry.test:5000/team/app:young", { verifiedAtMs: nowMs });
  const lines = await Array.fromAsync(exportCache(from, { clock }));
  const counts = await importCache(toLines(lines), { store: to, clock });
  assert.deepEqual(counts, { imported: 2, older: 1, invalid: 0, lost: 0 });
  const exported = (await Array.fromAsync(exportCache(to, { clock }))).map((line) => JSON.parse(line).tag);
  assert.deepEqual(
    exported.toSorted((left, right) => left.name < right.name ? -1 : 1),
    [["old", HOUR_MS], ["same", HOUR_MS], ["young", 0]].map(([name, ageMs]) => ({
      name: `registry.test:5000/team/app:${name}`,
      digest: record(1).digest,
      verifiedAtMs: nowMs - Number(ageMs),
    })),
  );
});

Deno.test("exportCache() leaves tags of secrets, of other sites' short names, and those past their end", async () => {
  const store = openMemoryStore();
  const verifiedAtMs = clock.nowMs();
  await putTag(store, "registry.test/team/secret:v1", { verifiedAtMs, scope: "private-0123" });
  await putTag(store, "short registry-1.docker.io/library/nginx:v1", { verifiedAtMs });
  await putTag(store, `registry.test/${"long/".repeat(70)}name:v1`, { verifiedAtMs });
  await putTag(store, "registry.test/team/app:ended", { verifiedAtMs, expireAtMs: verifiedAtMs });
  await putTag(store, "registry-1.docker.io/library/nginx:v1", { verifiedAtMs });
  const lines = await Array.fromAsync(exportCache(store, { clock }));
  assert.deepEqual(lines.map((line) => JSON.parse(line).tag.name), ["registry-1.docker.io/library/nginx:v1"]);
});

Deno.test("exportCache() leaves private knowledge, expired and foreign entries where they are", async () => {
  const store = openMemoryStore();
  await put(store, record(1), "private-0123");
  await store.set(entryKey("digest", ["x", "public"]), { v: RECORD_VERSION + 1, atMs: 0, value: record(2) });
  await store.set(entryKey("digest", ["y", "public"]), "nonsense");
  assert.deepEqual(await Array.fromAsync(exportCache(store, { clock })), []);
});

Deno.test("importCache() counts and leaves out what is not a line of ours, whatever it is", async () => {
  const good = JSON.stringify({ v: RECORD_VERSION, image: record(1) });
  const hostile = [
    "{",
    "null",
    "[]",
    JSON.stringify({ v: RECORD_VERSION + 1, image: record(1) }),
    JSON.stringify({ v: RECORD_VERSION, image: { ...record(1), digest: "sha256:../../etc/passwd" } }),
    JSON.stringify({ v: RECORD_VERSION, image: { ...record(1), platforms: [] } }),
    `{"v":${RECORD_VERSION},"__proto__":{"image":1}}`,
    JSON.stringify({ v: RECORD_VERSION, tag: { name: "nginx", digest: record(1).digest, verifiedAtMs: 1 } }),
    JSON.stringify({ v: RECORD_VERSION, tag: { name: "a.test/b:v1", digest: "v2", verifiedAtMs: 1 } }),
    JSON.stringify({ v: RECORD_VERSION, tag: { name: "a.test/b:v1", digest: record(1).digest } }),
    "x".repeat(200_000),
  ];
  await fc.assert(fc.asyncProperty(fc.array(fc.oneof(fc.json(), fc.constantFrom(...hostile))), async (noise) => {
    const store = openMemoryStore();
    const counts = await importCache(toLines([...noise, good, ""]), { store, clock });
    assert.equal(counts.imported, 1);
    assert.equal(counts.invalid, noise.filter((line) => line.trim() !== "").length);
    assert.equal((await Array.fromAsync(exportCache(store, { clock }))).length, 1);
  }));
});
