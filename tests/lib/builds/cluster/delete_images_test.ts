// Deleting images: a registry's answers keep their class, and what it keeps is no failure.
import assert from "node:assert/strict";
import { deleteImages, type DeletionResult } from "../../../../lib/builds/cluster/delete_images.ts";
import type { RegistryDeletion } from "../../../../lib/builds/decide/effects.ts";
import { lookUpImage } from "../../../../lib/builds/cluster/answer_questions.ts";
import { ApiError } from "../../../../lib/k8s/api_error.ts";
import { Resource } from "../../../../lib/k8s/types.ts";
import { MemoryCluster, refusing } from "../../../support/memory_kube_api.ts";
import { openPushRegistry } from "./push_registry.ts";

const { signal } = new AbortController();

/** `other` is of the same tag as `own`, with the digest of what it does not name. */
const openBed = async () => {
  const opened = await openPushRegistry();
  const image = { repository: "team/os", tag: "v1", architectures: ["amd64"], form: "oci-manifest" } as const;
  const reference = `${opened.registry.host}/team/os:v1`;
  const own = { reference, digest: await opened.registry.push(image) };
  return Object.assign(opened, { own, other: { reference, digest: `sha256:${"0".repeat(64)}` } });
};
type Bed = Awaited<ReturnType<typeof openBed>>;

async function resultsOf(
  deletions: readonly RegistryDeletion[],
  { repositories }: Pick<Bed, "repositories">,
  api = new MemoryCluster().api,
): Promise<readonly DeletionResult[]> {
  const results: DeletionResult[] = [];
  const onResult = (reference: string, result: DeletionResult): void => {
    assert.equal(reference, deletions[results.length]?.reference);
    results.push(result);
  };
  await deleteImages(deletions, { api, repositories, signal, onResult });
  return results;
}

async function lookUp({ own: { reference }, repositories }: Bed): Promise<string> {
  const registries = { push: repositories, pull: repositories };
  return (await lookUpImage({ kind: "image", reference }, registries, signal)).kind;
}

function refuse(status: number, code: string, message = code): Response {
  return Response.json({ errors: [{ code, message }] }, { status });
}

function noteDeletions(bed: Bed): readonly string[] {
  const asked: string[] = [];
  bed.before = ({ method, url, headers }) => {
    if (method === "DELETE" && headers.has("authorization")) asked.push(new URL(url).pathname);
    return undefined;
  };
  return asked;
}

Deno.test("P-120 deleteImages() deletes by digest, once, and never what a tag does not name any more", async () => {
  await using bed = await openBed();
  const { own, other } = bed;
  const asked = noteDeletions(bed);
  assert.deepEqual((await resultsOf([other, own, own], bed)).map(({ kind }) => kind), ["moved", "deleted", "absent"]);
  assert.deepEqual(asked, [`/v2/team/os/manifests/${own.digest}`]);
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
  Deno.test(`P-120 P-171 O-101 deleteImages() takes ${status} ${code} for ${kind}, and throws nothing`, async () => {
    await using bed = await openBed();
    bed.before = ({ method }) => method === "DELETE" ? refuse(status, code) : undefined;
    assert.deepEqual((await resultsOf([bed.own], bed)).map((result) => result.kind), [kind]);
  });
}

function openShift({ own: { reference } }: Bed): MemoryCluster {
  const cluster = new MemoryCluster();
  const status = {
    internalRegistryHostname: "image-registry.openshift-image-registry.svc:5000",
    externalRegistryHostnames: ["other.example.com", reference.slice(0, reference.indexOf("/"))],
  };
  cluster.put(Resource.imageConfigs, { metadata: { name: "cluster" }, status });
  return cluster;
}

Deno.test("O-103 deleteImages() deletes the ImageStreamTag in OpenShift's registry, and no manifest", async () => {
  await using bed = await openBed();
  const { own, other } = bed;
  const cluster = openShift(bed);
  cluster.put(Resource.imageStreamTags, { metadata: { namespace: "team", name: "os:v1" } });
  const asked = noteDeletions(bed);
  const results = await resultsOf([other, own, own], bed, cluster.api);
  assert.deepEqual(results.map(({ kind }) => kind), ["moved", "deleted", "absent"]);
  assert.equal(cluster.find("imagestreamtags", "team/os%3Av1"), undefined);
  assert.deepEqual(asked, []);
});

const ANSWERED: readonly (readonly [status: number, result: DeletionResult])[] = [
  [404, { kind: "absent" }],
  [403, { kind: "forbidden", namespace: "team" }],
  [503, { kind: "unknown", message: "away" }],
  [0, { kind: "unknown", message: "away" }],
];

for (const [status, result] of ANSWERED) {
  Deno.test(`O-103 deleteImages() takes the API server's ${status} for ${result.kind}, and throws nothing`, async () => {
    await using bed = await openBed();
    const asked = noteDeletions(bed);
    const api = openShift(bed).client(refusing(status, ({ verb }) => verb === "delete"));
    assert.deepEqual(await resultsOf([bed.own], bed, api), [result]);
    assert.deepEqual(asked, []);
  });
}

Deno.test("O-103 deleteImages() reads other names of OpenShift's registry once, and not at all for its Service", async () => {
  await using bed = await openBed();
  const gets: string[] = [];
  const api = new MemoryCluster().client(({ verb, plural, name }) => void gets.push(`${verb} ${plural} ${name}`));
  const { own } = bed;
  const service = { ...own, reference: "image-registry.openshift-image-registry.svc:5000/team/sub/os:v1" };
  assert.deepEqual(await resultsOf([service], bed, api), [{ kind: "unsupported" }]);
  assert.deepEqual(gets, []);
  assert.deepEqual((await resultsOf([own, own], bed, api)).map(({ kind }) => kind), ["deleted", "absent"]);
  assert.deepEqual(gets, ["get images cluster"]);
});

Deno.test("deleteImages() asks the registry where the names of OpenShift's may not be read, and throws other faults", async () => {
  await using bed = await openBed();
  const failing = (status: number) => new MemoryCluster().client(refusing(status));
  await assert.rejects(resultsOf([bed.own], bed, failing(503)), ApiError);
  assert.deepEqual(await resultsOf([bed.own], bed, failing(403)), [{ kind: "deleted" }]);
});

/** What registries answer about an image; with words of theirs for one that is not there, and what only looks like it. */
const ANSWERS: readonly (readonly [status: number, code: string, kind: string, message?: string])[] = [
  [404, "MANIFEST_UNKNOWN", "absent", "manifest unknown"],
  [404, "NAME_UNKNOWN", "absent", "repository name not known to registry"],
  [404, "UNKNOWN", "absent", "Not Found"],
  [404, "NOT_FOUND", "absent", "artifact team/os:v1 not found"],
  [500, "INTERNAL", "absent", "Tag v1 was deleted or has expired. To pull, revive via time machine"],
  [500, "INTERNAL", "unknown", "the database does not answer"],
  [401, "UNAUTHORIZED", "denied"],
  [404, "MANIFEST_UNKNOWN", "absent"],
  [503, "UNAVAILABLE", "unknown"],
];

for (const [status, code, kind, message] of ANSWERS) {
  const [row, said] = message === undefined ? ["O-101", code] : ["P-118", `${code} "${message}"`];
  Deno.test(`${row} lookUpImage() takes ${status} ${said} for ${kind}`, async () => {
    await using bed = await openBed();
    bed.before = ({ url }) => url.includes("/manifests/") ? refuse(status, code, message) : undefined;
    assert.equal(await lookUp(bed), kind);
  });
}

Deno.test("lookUpImage() makes a request again that fails for a moment", async () => {
  await using bed = await openBed();
  let failures = 2;
  bed.before = ({ url }) => url.includes("/manifests/") && failures-- > 0 ? refuse(500, "INTERNAL") : undefined;
  assert.equal(await lookUp(bed), "image");
});
