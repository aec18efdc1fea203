// Deleting images: a registry's answers keep their class, and what it keeps is no failure.
import assert from "node:assert/strict";
import { systemClock } from "../../../lib/clock.ts";
import { openBuildRegistries } from "../../../lib/building/build_registries.ts";
import { deleteImage, type DeletionResult } from "../../../lib/building/delete_image.ts";
import { lookUpImage } from "../../../lib/building/look_up_image.ts";
import { openRegistryAccess } from "../../../lib/images/registry_access.ts";
import { silentLogger } from "../../../lib/log.ts";
import { parseKubeObject } from "../../../lib/playground/cluster.ts";
import { openRegistry, type Registry } from "../../../lib/playground/registry.ts";
import { REGISTRY_USER, samplePullSecret } from "../../../lib/playground/samples.ts";

const clock = { ...systemClock, sleep: () => Promise.resolve() };
const { signal } = new AbortController();

interface Bed extends AsyncDisposable {
  /** `registry/repository:tag` of an image that is there. */
  readonly image: string;
  readonly digest: string;
  readonly repositories: ReturnType<typeof openBuildRegistries>["push"];
  /** Answers first; undefined lets the request pass. */
  before: (request: Request) => Response | undefined;
}

async function openBed(): Promise<Bed> {
  await using stack = new AsyncDisposableStack();
  const registry: Registry = stack.use(
    await openRegistry({ images: [], user: REGISTRY_USER, clock, intercept: (request) => bed.before(request) }),
  );
  const config = { registry: [registry.host], registryCa: [], insecureRegistry: [registry.host] };
  const options = { config, clock, log: silentLogger, userAgent: "archway/test", clusterCredentials: () => [] };
  const access = stack.use(openRegistryAccess(options));
  const push = parseKubeObject(samplePullSecret(registry.host));
  const image = { repository: "team/os", tag: "v1", architectures: ["amd64"], form: "oci-manifest" } as const;
  const bed: Bed = {
    image: `${registry.host}/team/os:v1`,
    digest: await registry.push(image),
    repositories: openBuildRegistries({ push, pull: undefined }, { access, clock, signal }).push,
    before: () => undefined,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
  const owned = stack.move();
  return bed;
}

function refuse(status: number, code: string): Response {
  return Response.json({ errors: [{ code, message: code }] }, { status });
}

Deno.test("P-120 deleteImage() deletes by digest, once, and never what a tag does not name any more", async () => {
  await using bed = await openBed();
  const { image, digest, repositories } = bed;
  const deps = { repositories, clock, signal };
  const asked: string[] = [];
  bed.before = ({ method, url, headers }) => {
    if (method === "DELETE" && headers.has("authorization")) asked.push(new URL(url).pathname);
    return undefined;
  };
  assert.deepEqual(await deleteImage({ image, digest: `sha256:${"0".repeat(64)}` }, deps), { kind: "moved" });
  assert.deepEqual(await deleteImage({ image, digest }, deps), { kind: "deleted" });
  assert.deepEqual(await deleteImage({ image, digest }, deps), { kind: "absent" });
  assert.deepEqual(asked, [`/v2/team/os/manifests/${digest}`]);
});

const REFUSED: readonly (readonly [status: number, code: string, kind: DeletionResult["kind"]])[] = [
  [405, "UNSUPPORTED", "unsupported"],
  [501, "UNSUPPORTED", "unsupported"],
  [403, "DENIED", "denied"],
  [401, "UNAUTHORIZED", "denied"],
  [404, "MANIFEST_UNKNOWN", "absent"],
  [503, "UNAVAILABLE", "unknown"],
];

for (const [status, code, kind] of REFUSED) {
  Deno.test(`P-120 P-171 O-101 deleteImage() takes ${status} ${code} for ${kind}, and throws nothing`, async () => {
    await using bed = await openBed();
    bed.before = ({ method }) => method === "DELETE" ? refuse(status, code) : undefined;
    const { image, digest, repositories } = bed;
    assert.equal((await deleteImage({ image, digest }, { repositories, clock, signal })).kind, kind);
  });
}

/** As registries say that an image is not there, and what only looks like it. */
const ANSWERS: readonly (readonly [status: number, code: string, message: string, kind: string])[] = [
  [404, "MANIFEST_UNKNOWN", "manifest unknown", "absent"],
  [404, "NAME_UNKNOWN", "repository name not known to registry", "absent"],
  [404, "UNKNOWN", "Not Found", "absent"],
  [404, "NOT_FOUND", "artifact team/os:v1 not found", "absent"],
  [500, "INTERNAL", "Tag v1 was deleted or has expired. To pull, revive via time machine", "absent"],
  [500, "INTERNAL", "the database does not answer", "unknown"],
];

for (const [status, code, message, kind] of ANSWERS) {
  Deno.test(`P-118 lookUpImage() takes ${status} ${code} "${message}" for ${kind}`, async () => {
    await using bed = await openBed();
    const answer = (): Response => Response.json({ errors: [{ code, message }] }, { status });
    bed.before = ({ url }) => url.includes("/manifests/") ? answer() : undefined;
    const { image, repositories } = bed;
    assert.equal((await lookUpImage({ image, from: "own" }, { repositories, clock, signal })).kind, kind);
  });
}

for (
  const [status, code, kind] of [
    [401, "UNAUTHORIZED", "denied"],
    [404, "MANIFEST_UNKNOWN", "absent"],
    [503, "UNAVAILABLE", "unknown"],
  ] as const
) {
  Deno.test(`O-101 lookUpImage() takes ${status} ${code} for ${kind}`, async () => {
    await using bed = await openBed();
    bed.before = ({ url }) => url.includes("/manifests/") ? refuse(status, code) : undefined;
    const { image, repositories } = bed;
    assert.equal((await lookUpImage({ image, from: "own" }, { repositories, clock, signal })).kind, kind);
  });
}
