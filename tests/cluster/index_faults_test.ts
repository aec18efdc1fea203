import assert from "node:assert/strict";
import { archwayProgram } from "../support/archway_program.ts";
import { lacks } from "../support/needs.ts";
import { buildImage, toBlob } from "./support/image_documents.ts";
import { archwayIndex, indexReport, type PushRelay, registryError, startPushRelay } from "./support/indexing.ts";
import { startFaultProxy } from "./support/fault_proxy.ts";
import { flagsFor, writeLogins, writeTemporaryFiles } from "./support/inspecting.ts";
import { type RealRegistry, startRegistry } from "./support/registry.ts";
import { askRegistry } from "./support/registry_platforms.ts";
import { at, skopeo } from "./support/skopeo.ts";
import { pause, waitUntil } from "./support/wait.ts";

const ignore = lacks("skopeo");
const MIB = 1024 * 1024;
const OCI_INDEX = "application/vnd.oci.image.index.v1+json";
const DOCKER_LIST = "application/vnd.docker.distribution.manifest.list.v2+json";

/** Two registries, a relay before each, images of two architectures in the first, one with a layer of so many bytes. */
interface Bed extends AsyncDisposable {
  readonly source: RealRegistry;
  readonly target: RealRegistry;
  readonly from: PushRelay;
  readonly into: PushRelay;
  readonly layer: string;
  readonly args: readonly string[];
}

async function openBed({ layerBytes = 1_000, format = "oci" }: {
  readonly layerBytes?: number;
  readonly format?: "oci" | "docker";
} = {}): Promise<Bed> {
  await using undo = new AsyncDisposableStack();
  const source = undo.use(await startRegistry());
  const target = undo.use(await startRegistry());
  const from = undo.use(startPushRelay(source));
  const into = undo.use(startPushRelay(target));
  const layer = await pushLarge(source, { layerBytes, format });
  await source.push("team/app", "v1-arm64", { single: { architecture: "arm64" }, format });
  const images = ["amd64", "arm64"].map((architecture) => `${from.host}/team/app:v1-${architecture}`);
  const hosts = `${from.host},${into.host}`;
  const args = ["assemble", "--to", `${into.host}/team/app:v1`, "--insecure-registry", hosts, ...images];
  const opened = undo.move();
  return { source, target, from, into, layer, args, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** An image with one layer of noise, which is no archive: it never runs. Returns the digest of the layer. */
async function pushLarge(
  registry: RealRegistry,
  { layerBytes, format }: { readonly layerBytes: number; readonly format: "oci" | "docker" },
): Promise<string> {
  const { blobs, top } = await buildImage("large", { single: { architecture: "amd64" }, format });
  const bytes = new Uint8Array(layerBytes);
  for (let at = 0; at < layerBytes; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  const layer = await toBlob(bytes);
  const manifest = JSON.parse(new TextDecoder().decode(top.bytes));
  const [{ mediaType }] = manifest.layers;
  manifest.layers = [{ mediaType, digest: layer.digest, size: layerBytes }];
  const changed = { ...await toBlob(new TextEncoder().encode(JSON.stringify(manifest))), mediaType: top.mediaType };
  await registry.pushDocuments("team/app", "v1-amd64", { blobs: [...blobs, layer], children: [], top: changed });
  return layer.digest;
}

async function published(target: RealRegistry, tag = "v1"): Promise<string | undefined> {
  const { status, digest } = await askRegistry(target, `/v2/team/app/manifests/${tag}`);
  return status === 200 ? digest : undefined;
}

/** The command does its work, and the tag has what it reports. */
async function assertPublishes(bed: Bed): ReturnType<typeof indexReport> {
  const made = await indexReport(bed.args);
  assert.equal(await published(bed.target), made.digest);
  return made;
}

/** The command ends with the code and says why, and there is no tag. */
async function assertPublishesNothing({ args, target }: Bed, wanted: 1 | 3, ...says: readonly RegExp[]): Promise<void> {
  const { code, stderr } = await archwayIndex(args);
  assert.equal(code, wanted);
  for (const what of says) assert.match(stderr, what);
  assert.equal(await published(target), undefined);
}

function isIndexPut({ method, path, headers }: PushRelay["requests"][number]): boolean {
  return method === "PUT" && path.includes("/manifests/") && headers.get("content-type") === OCI_INDEX;
}

/** From now on what is read of a path that ends so comes changed. What is put behind it makes it longer than was stated. */
function amendBody({ from }: Bed, ending: string, change: Transformer<Uint8Array, Uint8Array>): void {
  from.amend = ({ method, path }, response) => {
    if (method !== "GET" || !path.endsWith(ending) || response.body === null) return response;
    const headers = new Headers(response.headers);
    if (change.flush !== undefined) headers.delete("content-length");
    return new Response(response.body.pipeThrough(new TransformStream(change)), { headers });
  };
}

Deno.test("index assemble: where a registry refuses a Docker list, images of Docker's form become an OCI index", async () => {
  await using bed = await openBed({ format: "docker" });
  bed.into.intercept = ({ method, headers }) =>
    method === "PUT" && headers.get("content-type") === DOCKER_LIST
      ? registryError(415, "MANIFEST_INVALID")
      : undefined;
  assert.equal((await assertPublishes(bed)).mediaType, OCI_INDEX);
  // The form that it has is found again: nothing is written.
  assert.equal((await indexReport(bed.args)).outcome, "unchanged");
});

Deno.test("index assemble: images of Docker's form need no OCI index where that is refused (P-144)", async () => {
  await using bed = await openBed({ format: "docker" });
  bed.into.intercept = (request) => isIndexPut(request) ? registryError(400, "MANIFEST_INVALID") : undefined;
  assert.equal((await assertPublishes(bed)).mediaType, DOCKER_LIST);
});

Deno.test("index assemble: images of the OCI's form cannot be joined there, and what to do is said (P-145)", async () => {
  await using bed = await openBed();
  bed.into.intercept = (request) => isIndexPut(request) ? registryError(400, "MANIFEST_INVALID") : undefined;
  const why = /answered 400 MANIFEST_INVALID: manifest_invalid\. It takes no OCI index: push the images in/;
  await assertPublishesNothing(bed, 1, why, /Nothing was published/);
});

Deno.test("index assemble: a registry that names another digest is not believed (P-146)", async () => {
  await using bed = await openBed();
  const other = `sha256:${"ab".repeat(32)}`;
  bed.into.amend = (request, response) => {
    if (!isIndexPut(request) || response.status !== 201) return response;
    return new Response(response.body, { status: 201, headers: { "docker-content-digest": other } });
  };
  const why = new RegExp(`Cannot trust .* the registry says that what was pushed as sha256:.* is ${other}`);
  await assertPublishesNothing(bed, 1, why);
});

Deno.test("index assemble: 429, 5xx and cut connections are tried again, and end well (P-117)", async () => {
  await using bed = await openBed();
  const failed = new Set<string>();
  // Each request fails the first time that it is made, one way or the other.
  bed.into.intercept = ({ method, path }) => {
    const key = `${method} ${path.replace(/uploads\/.*/, "uploads/")}`;
    if (failed.has(key)) return undefined;
    failed.add(key);
    return failed.size % 2 === 0
      ? registryError(429, "TOOMANYREQUESTS", { "retry-after": "0" })
      : new Response(null, { status: 502 });
  };
  await assertPublishes(bed);
});

Deno.test("index assemble: a registry that stays busy ends it with code 3, and nothing is published (P-117)", async () => {
  await using bed = await openBed();
  bed.into.intercept = (request) =>
    isIndexPut(request) ? registryError(429, "TOOMANYREQUESTS", { "retry-after": "600" }) : undefined;
  const { code, stdout, stderr } = await archwayIndex([...bed.args, "-o", "json"]);
  assert.equal(code, 3);
  const [problem] = JSON.parse(stdout).problems;
  assert.deepEqual([problem.kind, problem.reason], ["transient", "RateLimited"]);
  assert.match(stderr, /answered 429 .* It wants to be left alone for 60 s\./);
  assert.equal(await published(bed.target), undefined);
});

Deno.test("index assemble: 403 is distinguished from 401, and is not asked again and again (P-104)", async () => {
  await using bed = await openBed();
  bed.into.intercept = ({ method }) => method === "POST" ? registryError(403, "DENIED") : undefined;
  const { code, stderr } = await archwayIndex(bed.args);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /answered 403 DENIED: denied\. The login must be allowed to push to "127\.0\.0\.1:\d+\/team\/app"/,
  );
  const posts = bed.into.requests.filter(({ method }) => method === "POST");
  assert.ok(posts.length <= 2, `${posts.length} of two blobs`);
});

Deno.test("index assemble: a tag that must not move stays as it is, and that is reported", async () => {
  await using bed = await openBed();
  assert.equal((await archwayIndex(bed.args)).code, 0);
  const before = await published(bed.target);
  await bed.source.push("team/app", "v1-arm64", { single: { architecture: "arm64" }, salt: "another build" });
  const isTagPut = ({ method, path }: { readonly method: string; readonly path: string }): boolean =>
    method === "PUT" && path.endsWith("/manifests/v1");
  bed.into.intercept = (request) => isTagPut(request) ? registryError(412, "PRECONDITION") : undefined;
  const refused = await archwayIndex(bed.args);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /Cannot push ".*\/team\/app:v1": the registry answered 412 PRECONDITION/);
  assert.match(refused.stderr, /Nothing was published: .* is as it was/);
  // No answer at all is another matter: the registry may have done it.
  bed.into.intercept = (request) => isTagPut(request) ? new Response(null, { status: 504 }) : undefined;
  const unknown = await archwayIndex(bed.args);
  assert.equal(unknown.code, 3);
  assert.match(unknown.stderr, /It is unknown whether .* was written: look with `archway index inspect/);
  assert.equal(await published(bed.target), before);
});

Deno.test("index assemble: two that make the same index at the same time both end with it", async () => {
  await using bed = await openBed({ layerBytes: 6 * MIB });
  const both = await Promise.all([indexReport(bed.args), indexReport(bed.args)]);
  assert.deepEqual([...new Set(both.map(({ digest }) => digest))], [await published(bed.target)]);
});

Deno.test("index assemble: content that was changed on its way is never committed (P-112 P-115)", async () => {
  await using bed = await openBed({ layerBytes: 6 * MIB });
  amendBody(bed, bed.layer, {
    transform: (part, controller) => controller.enqueue(part.map((byte, at) => at === 0 ? byte ^ 1 : byte)),
  });
  await assertPublishesNothing(bed, 3, /Cannot copy "sha256:.*": its content has the digest sha256:/);
  assert.ok(
    !bed.into.requests.some(({ method, path }) => method === "PUT" && path.includes(encodeURIComponent(bed.layer))),
  );
  amendBody(bed, "/manifests/v1-arm64", { flush: (rest) => rest.enqueue(new Uint8Array([32])) });
  await assertPublishesNothing(bed, 3, /v1-arm64.* digest/);
});

/** Refusals of requests, by how a registry or a proxy before it may be; how the layer gets there all the same. */
const REFUSALS: readonly {
  readonly name: string;
  readonly refuse: (bytes: number) => Response | undefined;
  readonly methods: RegExp;
}[] = [
  { name: "takes what engines send", refuse: () => undefined, methods: /^PATCH PUT$/ },
  {
    name: "takes 8 MiB in a request",
    refuse: (bytes) => bytes > 8 * MIB ? new Response(null, { status: 413 }) : undefined,
    methods: /^PATCH (DELETE )?(PATCH ){2}PUT$/,
  },
  {
    name: "takes 1 MiB in a request",
    refuse: (bytes) => bytes > MIB ? new Response(null, { status: 413 }) : undefined,
    methods: /^PATCH (DELETE )?PATCH (DELETE )?(PATCH ){10}PUT$/,
  },
];

for (const { name, refuse, methods } of REFUSALS) {
  Deno.test(`index assemble: a layer of 10 MiB gets to a registry that ${name} (P-110 P-111)`, async () => {
    await using bed = await openBed({ layerBytes: 10 * MIB });
    bed.into.intercept = async (request, body) => {
      if (!["PATCH", "PUT"].includes(request.method) || !request.path.includes("/uploads/")) return undefined;
      const stated = request.headers.get("content-length");
      // A stream says no length: what is left of it after the limit does not matter.
      const bytes = stated === null ? 10 * MIB : Number(stated);
      const refusal = refuse(bytes);
      if (refusal !== undefined && stated === null) await body?.pipeTo(new WritableStream());
      return refusal;
    };
    await assertPublishes(bed);
    assert.match(uploadsOf(bed), methods);
  });
}

function uploadsOf({ into }: Bed): string {
  const uploads = Map.groupBy(
    into.requests.filter(({ method, path }) => path.includes("/uploads/") && method !== "POST"),
    ({ path }) => /uploads\/([^?]+)/.exec(path)?.[1] ?? "",
  );
  return [...uploads.values()].filter(([first]) => first?.method === "PATCH")
    .flatMap((requests) => requests.map(({ method }) => method)).join(" ");
}

/** Runs the command as a process, whose layers come so slowly that it can be stopped in the middle. */
async function startSlow(bed: Bed): Promise<Deno.ChildProcess> {
  amendBody(bed, bed.layer, {
    transform: async (part, controller) => {
      await pause(20);
      controller.enqueue(part);
    },
  });
  const [command, ...leading] = archwayProgram("all");
  const child = new Deno.Command(command, {
    args: [...leading, "index", ...bed.args],
    env: { NO_COLOR: "1" },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  await waitUntil(
    "the upload of the layer",
    () => Promise.resolve(bed.into.requests.some(({ method }) => method === "PATCH") || undefined),
  );
  return child;
}

for (const signal of ["SIGKILL", "SIGINT"] as const) {
  Deno.test(`index assemble: ${signal} in the middle of a copy leaves no tag, and the next run ends it (P-135)`, async () => {
    await using bed = await openBed({ layerBytes: 24 * MIB });
    const child = await startSlow(bed);
    child.kill(signal);
    const { code, stderr } = await child.output();
    const said = new TextDecoder().decode(stderr);
    if (signal === "SIGINT") {
      assert.equal(code, 3);
      assert.match(said, /archway: Stopped\. Unless the last step had begun, the tag is as it was/);
    }
    assert.equal(await published(bed.target), undefined);
    bed.from.amend = (_, response) => response;
    await assertPublishes(bed);
  });
}

Deno.test("index assemble: each answer that has the tag while it moves is a whole index (P-149)", async () => {
  await using bed = await openBed();
  await bed.source.push("team/app", "v2-arm64", { single: { architecture: "arm64" } });
  const moved = bed.args.map((word) => word.replace("v1-arm64", "v2-arm64"));
  assert.equal((await archwayIndex(bed.args)).code, 0);
  const done = new AbortController();
  const reads = readAlways(bed.target, done.signal);
  const outcomes = [];
  for (const args of [moved, bed.args, moved]) {
    outcomes.push((await indexReport(args)).outcome);
  }
  done.abort();
  const { digests, missing } = await reads;
  assert.deepEqual([outcomes, missing], [["published", "published", "published"], []]);
  assert.ok(digests.size >= 2, "before and after it moved");
});

async function readAlways(target: RealRegistry, signal: AbortSignal): Promise<{
  readonly digests: ReadonlySet<string>;
  readonly missing: readonly string[];
}> {
  using client = Deno.createHttpClient({ caCerts: [target.caPem], http2: false });
  const headers = { accept: `${OCI_INDEX}, application/vnd.oci.image.manifest.v1+json` };
  const digests = new Set<string>();
  const missing: string[] = [];
  while (!signal.aborted) {
    const response = await fetch(`${target.url}/v2/team/app/manifests/v1`, { headers, client });
    const index = await response.json();
    // The registry's storage on disk replaces a tag in two steps: in between it says that there is none.
    if (response.status !== 200) continue;
    digests.add(response.headers.get("docker-content-digest") ?? "");
    for (const { digest } of index.manifests ?? [{ digest: "none" }]) {
      const child = await fetch(`${target.url}/v2/team/app/manifests/${digest}`, { method: "HEAD", headers, client });
      if (child.status !== 200) missing.push(digest);
    }
  }
  return { digests, missing };
}

Deno.test("index assemble: on a terminal the progress of a copy is shown, elsewhere it is not", async () => {
  await using bed = await openBed({ layerBytes: 6 * MIB });
  const quiet = await archwayIndex(bed.args);
  assert.equal(quiet.code, 0, quiet.stderr);
  assert.doesNotMatch(quiet.stderr, /Copying|\r/);
  const other = bed.args.map((word) =>
    word.replace("/team/app:v1", "/team/other:v1").replace("/team/other:v1-", "/team/app:v1-")
  );
  const shown = await archwayIndex(other, { showsProgress: true });
  assert.equal(shown.code, 0, shown.stderr);
  assert.ok(shown.stderr.startsWith("\r\x1b[KCopying "), shown.stderr);
  assert.match(shown.stderr, /Copying .*v1-amd64: \d+\.\d of 6\.0 MiB \(\d+ %\)/);
  const last = shown.stderr.split("\r\x1b[K").at(-1) ?? "";
  assert.match(last, /^(?:archway: .+\n)*$/, "the line is taken away before anything else is said");
});

Deno.test(
  "index assemble: images are read from a mirror, and the index goes to the registry itself",
  { ignore },
  async () => {
    await using bed = await openBed();
    const { source, target, from, into } = bed;
    const host = "registry.invalid";
    await using files = await writeTemporaryFiles({
      "registries.conf": `[[registry]]\nprefix = "${host}/builds"\nlocation = "${host}/builds"\n` +
        `[[registry.mirror]]\nlocation = "${from.host}/team"\ninsecure = true\n` +
        `[[registry]]\nlocation = "${into.host}"\ninsecure = true\n` +
        `[[registry.mirror]]\nlocation = "${from.host}"\ninsecure = true\n`,
    });
    const images = ["amd64", "arm64"].map((architecture) => `${host}/builds/app:v1-${architecture}`);
    await indexReport(["assemble", "--to", `${into.host}/team/app:v1`, files.flag, ...images]);
    const raw = await skopeo(["inspect", "--raw", "--tls-verify=false", at(target, "team/app:v1")]);
    assert.equal(JSON.parse(raw).manifests.length, 2);
    assert.equal(await published(source), undefined);
    assert.deepEqual(from.writes(), []);
  },
);

Deno.test("index assemble: layers that a registry redirects to its storage are followed there without a credential (P-113)", async () => {
  await using source = await startRegistry({ auth: "htpasswd" });
  await using target = await startRegistry();
  await using proxy = await startFaultProxy({ upstream: source });
  await using files = await writeLogins({ [proxy.host]: "puller:secret" });
  for (const architecture of ["amd64", "arm64"]) {
    await source.push("team/app", `v1-${architecture}`, { single: { architecture } });
  }
  proxy.setFaults([{ fault: { kind: "redirect" }, on: ["blobGet"] }]);
  const images = ["amd64", "arm64"].map((architecture) => `${proxy.host}/team/app:v1-${architecture}`);
  const flags = [...flagsFor(proxy), ...flagsFor(target), "--registry", proxy.storageHost, files.flag];
  const { digest } = await indexReport(["assemble", "--to", `${target.host}/team/app:v1`, ...flags, ...images]);
  assert.equal(await published(target), digest);
  assert.ok(proxy.storageRequests().length >= 3, "configs and a layer came from there");
  assert.deepEqual(proxy.storageRequests().filter(({ hadAuthorization }) => hadAuthorization), []);
});

Deno.test("index assemble: a registry that is blocked is not pushed to", async () => {
  await using bed = await openBed();
  await using files = await writeTemporaryFiles({
    "registries.conf": `[[registry]]\nlocation = "${bed.into.host}"\nblocked = true\n`,
  });
  const { code, stderr } = await archwayIndex([...bed.args, files.flag]);
  assert.equal(code, 1);
  assert.match(stderr, /registries\.conf blocks/);
  assert.deepEqual(bed.into.requests, []);
});

Deno.test("index inspect: who runs the command reads why a registry that no file declares cannot be reached", async () => {
  const { code, stdout, stderr } = await archwayIndex(["inspect", "registry.invalid/team/app:v1"]);
  assert.notEqual(code, 0);
  assert.match(stdout + stderr, /could not be found by its name/);
});
