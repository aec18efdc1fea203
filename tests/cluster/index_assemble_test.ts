import assert from "node:assert/strict";
import { lacks } from "../support/needs.ts";
import { buildImage } from "./support/image_documents.ts";
import { archwayIndex, indexReport, type PushRelay, startPushRelay } from "./support/indexing.ts";
import { flagsFor, writeLogins, writeTemporaryFiles } from "./support/inspecting.ts";
import { type RealRegistry, startRegistry } from "./support/registry.ts";
import { askRegistry } from "./support/registry_platforms.ts";
import { at, skopeo } from "./support/skopeo.ts";
import { runCommand } from "../support/commands.ts";

const OCI_INDEX = "application/vnd.oci.image.index.v1+json";
const DOCKER_LIST = "application/vnd.docker.distribution.manifest.list.v2+json";

async function pushEach(
  registry: RealRegistry,
  architectures: readonly string[],
  { repository = "team/app", format = "oci" }: {
    readonly repository?: string;
    readonly format?: "oci" | "docker";
  } = {},
): Promise<readonly string[]> {
  for (const architecture of architectures) {
    await registry.push(repository, `v1-${architecture}`, { single: { architecture }, format });
  }
  return architectures.map((architecture) => `${registry.host}/${repository}:v1-${architecture}`);
}

/** The same, by the name of a relay before the registry. */
async function pushBehind(relay: PushRelay, ...args: Parameters<typeof pushEach>): Promise<readonly string[]> {
  return (await pushEach(...args)).map((image) => image.replace(args[0].host, relay.host));
}

async function rawIndex(registry: RealRegistry, name: string): Promise<{
  readonly mediaType: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly manifests: readonly { readonly digest: string; readonly platform: { readonly architecture: string } }[];
}> {
  return JSON.parse(await skopeo(["inspect", "--raw", "--tls-verify=false", at(registry, name)]));
}

async function architecturesBySkopeo(
  registry: RealRegistry,
  name: string,
  wanted: readonly string[],
): Promise<unknown> {
  const got = [];
  for (const architecture of wanted) {
    const args = [`--override-arch=${architecture}`, "inspect", "--tls-verify=false", at(registry, name)];
    got.push(JSON.parse(await skopeo(args)).Architecture);
  }
  return got;
}

async function tagsOf(registry: RealRegistry, repository: string): Promise<readonly string[]> {
  return JSON.parse((await askRegistry(registry, `/v2/${repository}/tags/list`)).text).tags ?? [];
}

const ignore = lacks("skopeo");

for (const architectures of [["amd64", "arm64"], ["amd64", "arm64", "s390x"], ["amd64", "arm64", "ppc64le", "s390x"]]) {
  Deno.test(
    `index assemble: ${architectures.length} images of the target's repository become an index that skopeo reads for each platform (P-130)`,
    { ignore },
    async () => {
      await using registry = await startRegistry();
      const images = await pushEach(registry, architectures);
      const to = `${registry.host}/team/app:v1`;
      const made = await indexReport(["assemble", "--to", to, ...flagsFor(registry), ...images]);
      assert.deepEqual([made.outcome, made.mediaType], ["published", OCI_INDEX]);
      // Two for each image, the tag, two pushes, the tag read back.
      assert.equal(made.requests, 2 * architectures.length + 4);
      const { mediaType, manifests } = await rawIndex(registry, "team/app:v1");
      assert.equal(mediaType, OCI_INDEX);
      assert.deepEqual(manifests.map(({ platform }) => platform.architecture), architectures);
      assert.deepEqual(await architecturesBySkopeo(registry, "team/app:v1", architectures), architectures);
      assert.equal((await indexReport(["inspect", ...flagsFor(registry), to])).digest, made.digest);
    },
  );
}

Deno.test("index assemble: any order gives the same index, and once it is there nothing is written (P-133 P-134)", async () => {
  await using registry = await startRegistry();
  await using relay = startPushRelay(registry);
  const images = await pushBehind(relay, registry, ["amd64", "arm64", "s390x"]);
  const to = `${relay.host}/team/app:v1`;
  const orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
  const seen = new Set<string>();
  for (const order of orders) {
    const words = order.map((which) => images[which] ?? "");
    const args = ["assemble", "--to", to, "--insecure-registry", relay.host, ...words];
    const { outcome, digest } = await indexReport(args);
    assert.equal(outcome, seen.size === 0 ? "published" : "unchanged");
    seen.add(digest);
  }
  assert.equal(seen.size, 1);
  const [digest] = seen;
  assert.deepEqual(relay.writes(), [`PUT /v2/team/app/manifests/${digest}`, "PUT /v2/team/app/manifests/v1"]);
});

Deno.test("index assemble: with several --to the images are read once, and each tag has the same index with its annotations", async () => {
  await using registry = await startRegistry();
  await using relay = startPushRelay(registry);
  const images = await pushBehind(relay, registry, ["amd64", "arm64"]);
  const names = ["team/app:v1", "team/app:latest", "team/mirror:v1"];
  const targets = names.flatMap((name) => ["--to", `${relay.host}/${name}`]);
  const notes = ["--annotation", "b=two, three", "--annotation", "a=one"];
  const args = ["assemble", ...targets, ...notes, "-o", "json", "--insecure-registry", relay.host, ...images];
  const { code, stdout, stderr } = await archwayIndex(args);
  assert.equal(code, 0, stderr);
  const made: readonly { readonly outcome: string; readonly digest: string }[] = JSON.parse(stdout);
  assert.deepEqual(made.map(({ outcome }) => outcome), ["published", "published", "published"]);
  assert.equal(new Set(made.map(({ digest }) => digest)).size, 1);
  const reads = relay.requests.filter(({ method, path }) => method === "GET" && /manifests|blobs/.test(path));
  assert.equal(reads.length, 4, "manifest and config of both");
  assert.deepEqual(relay.writes().slice(0, 4), [
    `PUT /v2/team/app/manifests/${made[0]?.digest}`,
    "PUT /v2/team/app/manifests/v1",
    `PUT /v2/team/app/manifests/${made[0]?.digest}`,
    "PUT /v2/team/app/manifests/latest",
  ]);
  for (const name of names) {
    assert.deepEqual((await rawIndex(registry, name)).annotations, { a: "one", b: "two, three" }, name);
  }
});

Deno.test("index append and remove: a platform comes, is replaced and goes; the others and the annotations stay", async () => {
  await using registry = await startRegistry();
  await using relay = startPushRelay(registry);
  const [amd64 = "", arm64 = "", s390x = ""] = await pushBehind(relay, registry, ["amd64", "arm64", "s390x"]);
  const index = `${relay.host}/team/app:v1`;
  const run = (...args: readonly string[]) => archwayIndex([...args, "-o", "json", "--insecure-registry", relay.host]);
  await run("assemble", "--to", index, "--annotation", "a=one", amd64, arm64);
  const before = await rawIndex(registry, "team/app:v1");
  await registry.push("team/app", "v2-arm64", { single: { architecture: "arm64" }, salt: "other" });
  relay.requests.length = 0;
  const appended = await run("append", index, "--annotation", "b=two", s390x, `${relay.host}/team/app:v2-arm64`);
  assert.equal(appended.code, 0, appended.stderr);
  // The index, manifest and config of four images; then the tag, the index by digest and by tag, and the tag again.
  assert.equal(relay.requests.filter(({ path }) => path !== "/v2/").length, 1 + 4 * 2 + 4);
  const after = await rawIndex(registry, "team/app:v1");
  assert.deepEqual(after.manifests.map(({ platform }) => platform.architecture), ["amd64", "arm64", "s390x"]);
  assert.equal(after.manifests[0]?.digest, before.manifests[0]?.digest);
  assert.notEqual(after.manifests[1]?.digest, before.manifests[1]?.digest);
  const removed = await run("remove", "--to", `${relay.host}/team/app:small`, index, "linux/arm64", "linux/s390x");
  assert.equal(removed.code, 0, removed.stderr);
  const small = await rawIndex(registry, "team/app:small");
  assert.deepEqual([small.manifests.length, small.annotations], [1, { a: "one", b: "two" }]);
  assert.deepEqual(await rawIndex(registry, "team/app:v1"), after, "what --to does not name stays");
  for (
    const [platforms, says] of [[["linux/ppc64le"], /it has linux\/amd64, /], [["linux"], /delete the tag/]] as const
  ) {
    const { code, stderr } = await run("remove", index, ...platforms);
    assert.equal(code, 1);
    assert.match(stderr, says);
  }
});

Deno.test("index append: what an index has beside its images is not in the new one, which is said", async () => {
  await using registry = await startRegistry();
  const [s390x = ""] = await pushEach(registry, ["s390x"]);
  await registry.push("team/app", "v1", { platforms: [{ architecture: "amd64" }], attestations: true });
  const { code, stderr } = await archwayIndex(["append", `${registry.host}/team/app:v1`, ...flagsFor(registry), s390x]);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /does not hold what ".*\/team\/app:v1" has beside its image: attestation sha256:/);
});

Deno.test("index assemble: a dry run reports what would be done, and writes nothing", async () => {
  await using registry = await startRegistry();
  await using relay = startPushRelay(registry);
  const [one = "", two = ""] = await pushEach(registry, ["amd64", "arm64"]);
  const flags = [...flagsFor(registry), "--insecure-registry", relay.host];
  const args = ["assemble", "--dry-run", "--to", `${relay.host}/team/new:v1`, ...flags, one, two];
  const { outcome, images, replaced } = await indexReport(args);
  assert.deepEqual([outcome, replaced], ["planned", undefined]);
  assert.deepEqual(images.map(({ copy }) => copy.kind), ["to be copied", "to be copied"]);
  assert.deepEqual(relay.writes(), []);
});

Deno.test(
  "index assemble: images with Docker's manifests become a Docker list, of both forms an OCI index (P-131 P-132)",
  { ignore },
  async () => {
    await using registry = await startRegistry();
    const docker = await pushEach(registry, ["amd64", "arm64"], { format: "docker" });
    const oci = await pushEach(registry, ["s390x"]);
    const flags = flagsFor(registry);
    await indexReport(["assemble", "--to", `${registry.host}/team/app:list`, ...flags, ...docker]);
    await indexReport(["assemble", "--to", `${registry.host}/team/app:mixed`, ...flags, ...docker, ...oci]);
    assert.equal((await rawIndex(registry, "team/app:list")).mediaType, DOCKER_LIST);
    assert.equal((await rawIndex(registry, "team/app:mixed")).mediaType, OCI_INDEX);
    assert.deepEqual(await architecturesBySkopeo(registry, "team/app:list", ["amd64", "arm64"]), ["amd64", "arm64"]);
  },
);

Deno.test("index assemble: a neighbour's blobs are mounted, and its manifests are the same bytes (P-108 P-141)", async () => {
  await using registry = await startRegistry();
  await using relay = startPushRelay(registry);
  const images = await pushBehind(relay, registry, ["amd64", "arm64"], { repository: "team/builds" });
  const to = `${relay.host}/team/app:v1`;
  const insecure = ["--insecure-registry", relay.host];
  const { images: joined } = await indexReport(["assemble", "--to", to, ...insecure, ...images]);
  const copies = joined.map(({ copy }) => [copy.kind, copy.mounted, copy.copied, copy.bytes]);
  // Both have the same empty layer: the second finds it in place.
  assert.deepEqual(copies, [["copied", 2, 0, 0], ["copied", 1, 0, 0]]);
  assert.ok(relay.requests.every(({ method }) => method !== "PATCH"), "no blob is sent");
  const { entries } = await indexReport(["inspect", ...insecure, to]);
  assert.deepEqual(entries.map(({ digest }) => digest), joined.map(({ digest }) => digest));
});

for (const auth of ["htpasswd", "token"] as const) {
  Deno.test(
    `index assemble: images are streamed from one registry with ${auth} to another, and skopeo copies the result whole (P-101 P-142)`,
    { ignore },
    async () => {
      await using source = await startRegistry({ auth });
      await using target = await startRegistry({ auth, users: { pusher: "other-secret" } });
      await using files = await writeLogins({ [source.host]: "puller:secret", [target.host]: "pusher:other-secret" });
      const images = await pushEach(source, ["amd64", "arm64"]);
      const flags = [...flagsFor(source), ...flagsFor(target), files.flag, "-o", "json"];
      const args = ["assemble", "--to", `${target.host}/team/app:v1`, ...flags, ...images];
      const { code, stdout, stderr } = await archwayIndex(args);
      assert.equal(code, 0, stderr + stdout);
      const copied = JSON.parse(stdout).images.map(({ copy }: { copy: { copied: number } }) => copy.copied);
      assert.deepEqual(copied, [2, 1]);
      const credentials = ["--src-creds", "pusher:other-secret", "--src-tls-verify=false"];
      await skopeo(["copy", "--all", ...credentials, at(target, "team/app:v1"), `dir:${files.path}/copy`]);
      const kept = [...Deno.readDirSync(`${files.path}/copy`)].filter(({ name }) => name.endsWith("manifest.json"));
      assert.equal(kept.length, 3);
      assert.doesNotMatch(stdout + stderr, /secret/);
    },
  );
}

Deno.test("index assemble: the token of a push is for the target alone, and for pulling from the source of a mount (P-102)", async () => {
  await using registry = await startRegistry({ auth: "token" });
  await using files = await writeLogins({ [registry.host]: "puller:secret" });
  const images = await pushEach(registry, ["amd64", "arm64"], { repository: "team/builds" });
  const to = `${registry.host}/team/app:v1`;
  await indexReport(["assemble", "--to", to, ...flagsFor(registry), files.flag, ...images]);
  // Mounts that begin together may each ask for the token that the first of them learns of.
  const asked = new Set(registry.tokenServer?.requests.map(({ scopes, status }) => [...scopes, status].join(" ")));
  assert.deepEqual([...asked], [
    "repository:team/builds:pull 200",
    "repository:team/app:pull,push 200",
    "repository:team/app:pull,push repository:team/builds:pull 200",
  ]);
});

for (const auth of ["htpasswd", "token"] as const) {
  Deno.test(`index assemble: without the right ${auth} credential nothing is published, and what to do is said (P-101)`, async () => {
    await using source = await startRegistry();
    await using target = await startRegistry({ auth });
    await using files = await writeLogins({ [target.host]: "puller:wr0ng-pa55" });
    const images = await pushEach(source, ["amd64", "arm64"]);
    const flags = [...flagsFor(source), ...flagsFor(target)];
    const args = ["assemble", "--to", `${target.host}/team/app:v1`, ...flags, ...images];
    const none = await archwayIndex(args);
    assert.equal(none.code, 1);
    assert.match(none.stderr, /answered 401.* No credential matches it: name a docker config that has one/);
    assert.match(none.stderr, /Nothing was published/);
    const wrong = await archwayIndex([...args, files.flag]);
    assert.equal(wrong.code, 1);
    assert.match(wrong.stderr, /answered 401.* Refused: config\.json, anonymous/);
    assert.doesNotMatch(wrong.stderr, /wr0ng/);
  });
}

Deno.test("index assemble: every image that is not well is named, and nothing is written (P-136 P-137 P-138)", async () => {
  await using registry = await startRegistry();
  const [amd64 = ""] = await pushEach(registry, ["amd64"]);
  await registry.push("team/app", "again", { single: { architecture: "amd64" } });
  await registry.push("team/app", "both", { platforms: [{ architecture: "amd64" }, { architecture: "arm64" }] });
  await registry.push("team/app", "nowhere", { single: { os: "unknown", architecture: "unknown" } });
  const image = (tag: string): string => `${registry.host}/team/app:${tag}`;
  const words = [amd64, image("again"), image("both"), image("nowhere"), image("missing")];
  const args = ["assemble", "--to", image("v1"), ...flagsFor(registry), ...words, "-o", "json"];
  const { code, stdout, stderr } = await archwayIndex(args);
  assert.equal(code, 1);
  const { outcome, problems } = JSON.parse(stdout);
  assert.equal(outcome, "failed");
  assert.deepEqual(problems.map(({ image: of, reason }: { image: string; reason: string }) => [of, reason]), [
    [image("both"), "SeveralImages"],
    [image("nowhere"), "NoPlatform"],
    [image("missing"), "ManifestUnknown"],
    [amd64, "DuplicatePlatform"],
  ]);
  assert.match(stderr, /Nothing was published/);
  assert.ok(!(await tagsOf(registry, "team/app")).includes("v1"));
});

Deno.test("index assemble: of an index with attestations its one image is taken (P-139)", async () => {
  await using registry = await startRegistry();
  const { children } = await registry.push("team/app", "v1-amd64", {
    platforms: [{ architecture: "amd64" }],
    attestations: true,
  });
  const [arm64 = ""] = await pushEach(registry, ["arm64"]);
  const words = [`${registry.host}/team/app:v1-amd64`, arm64];
  const args = ["assemble", "--to", `${registry.host}/team/app:v1`, ...flagsFor(registry), "-o", "json", ...words];
  const { code, stdout, stderr } = await archwayIndex(args);
  assert.equal(code, 0, stderr);
  const [{ digest, leftOut }] = JSON.parse(stdout).images;
  assert.deepEqual([digest, leftOut], [children[0], [{ kind: "attestation", digest: children[1] }]]);
  assert.match(stderr, new RegExp(`^archway: The index does not hold what .*: attestation ${children[1]}\\.\n$`));
});

async function buildah(folder: string, args: readonly string[]): Promise<string> {
  const own = ["--root", `${folder}/root`, "--runroot", `${folder}/run`];
  const env = { STORAGE_DRIVER: "vfs", BUILDAH_ISOLATION: "chroot" };
  return (await runCommand("buildah", [...own, ...args], { env })).trim();
}

for (const [format, mediaType] of [["oci", OCI_INDEX], ["docker", DOCKER_LIST]] as const) {
  Deno.test({
    name: `index assemble: images that buildah builds and pushes as ${format} become an index of which it pulls the ` +
      "right one",
    ignore: lacks("buildah") || lacks("root"),
    fn: async () => {
      await using registry = await startRegistry();
      await using files = await writeTemporaryFiles({ amd64: "for amd64", arm64: "for arm64" });
      const images = [];
      for (const architecture of ["amd64", "arm64"]) {
        const image = `${registry.host}/team/app:v1-${architecture}`;
        const container = await buildah(files.path, ["from", "--arch", architecture, "scratch"]);
        await buildah(files.path, ["copy", container, `${files.path}/${architecture}`, "/word"]);
        await buildah(files.path, ["commit", "--tls-verify=false", "--format", format, container, `docker://${image}`]);
        images.push(image);
      }
      const to = `${registry.host}/team/app:v1`;
      await indexReport(["assemble", "--to", to, ...flagsFor(registry), ...images]);
      assert.equal((await rawIndex(registry, "team/app:v1")).mediaType, mediaType);
      for (const architecture of ["amd64", "arm64"]) {
        const args = ["from", "--arch", architecture, "--tls-verify=false", "--pull-always", `docker://${to}`];
        const container = await buildah(files.path, args);
        const mounted = await buildah(files.path, ["mount", container]);
        assert.equal(await Deno.readTextFile(`${mounted}/word`), `for ${architecture}`);
        await buildah(files.path, ["umount", container]);
      }
    },
  });
}

Deno.test("index inspect: an entry that is gone, or for another platform, is found", async () => {
  await using registry = await startRegistry();
  const platforms = [{ architecture: "amd64" }, { architecture: "arm64" }];
  const documents = await buildImage("team/app", { platforms, attestations: true });
  const { children } = await registry.pushDocuments("team/app", "v1", documents);
  const flags = flagsFor(registry);
  const well = await archwayIndex(["inspect", ...flags, `${registry.host}/team/app:v1`]);
  assert.equal(well.code, 0, well.stdout);
  const { bytes, mediaType } = documents.top;
  const claims = new TextDecoder().decode(bytes).replace('"architecture":"arm64"', '"architecture":"s390x"');
  await registry.pushDocument("team/app", "bad", { bytes: new TextEncoder().encode(claims), mediaType });
  await registry.deleteManifest("team/app", children[0] ?? "");
  const { code, stdout } = await archwayIndex(["inspect", ...flags, `${registry.host}/team/app:bad`, "-o", "json"]);
  assert.equal(code, 1);
  const kinds = JSON.parse(stdout).entries.map(({ kind, findings }: { kind: string; findings: { kind: string }[] }) =>
    [kind, ...findings.map((finding) => finding.kind)].join(" ")
  );
  assert.deepEqual(kinds, ["image Unreadable", "image PlatformMismatch", "attestation", "attestation"]);
  const absent = await archwayIndex(["inspect", ...flags, `${registry.host}/team/app:none`]);
  assert.equal(absent.code, 1);
  assert.match(absent.stderr, /Cannot find image/);
});
