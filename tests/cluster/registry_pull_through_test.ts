import assert from "node:assert/strict";
import { type FaultProxy, startFaultProxy } from "./support/fault_proxy.ts";
import { failureIn, openImages, platformsIn, type TestImages, writeTemporaryFiles } from "./support/inspecting.ts";
import { type RealRegistry, startRegistry } from "./support/registry.ts";

const IMAGE = { platforms: [{ architecture: "amd64" }, { architecture: "arm64" }] };
const SAID = "linux/amd64,linux/arm64";
const SECRET = { kind: "basic", username: "puller", password: "secret" } as const;

interface Bed extends AsyncDisposable {
  readonly origin: RealRegistry;
  readonly cache: RealRegistry;
  readonly mirror: FaultProxy;
  readonly digest: string;
}

async function openBed(): Promise<Bed> {
  await using undo = new AsyncDisposableStack();
  const origin = undo.use(await startRegistry());
  const { digest } = await origin.push("team/app", "v1", IMAGE);
  const cache = undo.use(await startRegistry({ proxy: { remoteUrl: origin.url, caFile: origin.caFile } }));
  const mirror = undo.use(await startFaultProxy({ upstream: cache }));
  const opened = undo.move();
  return { origin, cache, mirror, digest, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

const CONFIGURATIONS: readonly {
  readonly name: string;
  readonly files: (bed: Bed) => Readonly<Record<string, string>>;
}[] = [
  {
    name: "registries.conf",
    files: ({ origin, mirror }) => ({
      "registries.conf": `[[registry]]\nlocation = "${origin.host}"\n` +
        `[[registry.mirror]]\nlocation = "${mirror.host}"\n`,
      [`certs/${origin.host}/ca.crt`]: origin.caPem,
      [`certs/${mirror.host}/ca.crt`]: mirror.caPem,
    }),
  },
  {
    name: "hosts.toml",
    files: ({ origin, mirror }) => ({
      [`hosts/${origin.host}/hosts.toml`]: `server = "${origin.url}"\nca = "origin.crt"\n` +
        `[host."${mirror.url}"]\ncapabilities = ["pull", "resolve"]\nca = "mirror.crt"\n`,
      [`hosts/${origin.host}/origin.crt`]: origin.caPem,
      [`hosts/${origin.host}/mirror.crt`]: mirror.caPem,
    }),
  },
  {
    name: "registries.yaml",
    files: ({ origin, mirror }) => ({
      "registries.yaml": JSON.stringify({
        mirrors: { [origin.host]: { endpoint: [mirror.url] } },
        configs: {
          [origin.host]: { tls: { ca_file: "origin.crt" } },
          [mirror.host]: { tls: { ca_file: "mirror.crt" } },
        },
      }),
      "origin.crt": origin.caPem,
      "mirror.crt": mirror.caPem,
    }),
  },
];

async function openConfigured(
  bed: Bed,
  { files }: Pick<(typeof CONFIGURATIONS)[number], "files">,
): Promise<TestImages> {
  await using undo = new AsyncDisposableStack();
  const { flag } = undo.use(await writeTemporaryFiles(files(bed)));
  const images = undo.use(await openImages([flag]));
  const opened = undo.move();
  return { ...images, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

for (const configuration of CONFIGURATIONS) {
  Deno.test(`registry pull-through (${configuration.name}): the cache answers for the origin; when it is down the origin does`, async () => {
    await using bed = await openBed();
    const { origin, cache, mirror, digest } = bed;
    await using images = await openConfigured(bed, configuration);
    const image = `${origin.host}/team/app:v1`;
    const through = await images.inspect(image);
    assert.equal(platformsIn(through), SAID);
    assert.deepEqual([through.mirror, through.resolved], [mirror.host, `${mirror.host}/team/app:v1`]);
    assert.deepEqual([through.requests.manifestGet, mirror.counts().manifestGet], [1, 1]);

    // What the cache has fetched it serves without the origin.
    await origin.stop();
    await using later = await openConfigured(bed, configuration);
    assert.equal(platformsIn(await later.inspect(`${origin.host}/team/app@${digest}`)), SAID);

    await origin.start();
    await cache.stop();
    await using direct = await openConfigured(bed, configuration);
    const report = await direct.inspect(image);
    assert.equal(platformsIn(report), SAID);
    assert.deepEqual([report.mirror, report.resolved], [undefined, image]);
  });
}

const [CONF] = CONFIGURATIONS;

/** Faults of a mirror that must lead to the origin, and how long at most that takes: the limits of a request (ms). */
const FAULTS = [
  { fault: { kind: "status", status: 503 }, withinMs: 3_000 },
  { fault: { kind: "status", status: 429, retryAfterSeconds: 30 }, withinMs: 3_000 },
  { fault: { kind: "status", status: 404 }, withinMs: 3_000 },
  { fault: { kind: "status", status: 401 }, withinMs: 3_000 },
  { fault: { kind: "reset" }, withinMs: 3_000 },
  { fault: { kind: "truncateBody" }, withinMs: 3_000 },
  { fault: { kind: "tamperBody" }, withinMs: 3_000 },
  { fault: { kind: "blackHole" }, withinMs: 8_000 },
] as const;

for (const { fault, withinMs } of FAULTS) {
  const what = "status" in fault ? `answers ${fault.status}` : `does a ${fault.kind}`;
  Deno.test(`registry pull-through: a mirror that ${what} leads to the origin in time, and sees no secret of it`, async () => {
    assert.ok(CONF !== undefined);
    await using bed = await openBed();
    bed.mirror.setFaults([{ fault }]);
    await using images = await openConfigured(bed, CONF);
    const begin = performance.now();
    const credentials = [{ scope: bed.origin.host, source: "secret team/pull", secret: SECRET }];
    const report = await images.inspect(`${bed.origin.host}/team/app:v1`, { credentials });
    assert.deepEqual([platformsIn(report), report.mirror], [SAID, undefined]);
    const ms = performance.now() - begin;
    assert.ok(ms < withinMs, `${Math.round(ms)} ms`);
    assert.ok(bed.mirror.requests().length > 0, "the mirror was not asked");
    assert.deepEqual(bed.mirror.requests().filter(({ hadAuthorization }) => hadAuthorization), []);
  });
}

Deno.test("registry pull-through: a blocked origin gets no request, its mirror is", async () => {
  await using bed = await openBed();
  await using asked = await startFaultProxy({ upstream: bed.origin });
  const { mirror } = bed;
  const conf = `[[registry]]\nlocation = "${asked.host}"\nblocked = true\n` +
    `[[registry.mirror]]\nlocation = "${mirror.host}"\npull-from-mirror = "digest-only"\n`;
  await using images = await openConfigured(bed, {
    files: () => ({ "registries.conf": conf, [`certs/${mirror.host}/ca.crt`]: mirror.caPem }),
  });
  const byDigest = await images.inspect(`${asked.host}/team/app@${bed.digest}`);
  assert.deepEqual([platformsIn(byDigest), byDigest.mirror], [SAID, mirror.host]);
  const byTag = failureIn(await images.inspect(`${asked.host}/team/app:v1`));
  assert.deepEqual([byTag.kind, byTag.reason], ["permanent", "Blocked"]);
  assert.equal(asked.requests().length, 0);
});
