import assert from "node:assert/strict";
import { systemClock } from "../../../../../lib/clock.ts";
import { openRegistryAccess } from "../../../../../lib/oci/registry_access.ts";
import { Resource } from "../../../../../lib/k8s/types.ts";
import { silentLogger } from "../../../../../lib/log.ts";
import { RegistryError } from "../../../../../lib/oci/errors.ts";
import { ClusterPayloads, readPayload } from "../../../../../lib/upgrades/outside/releases/cluster_payloads.ts";
import { type Document, makeDocument, makeEntry, makeImage, makeIndex } from "../../../../support/documents.ts";
import { makeCredential } from "../../../../support/inspectors.ts";
import { MemoryCluster } from "../../../../support/memory_kube_api.ts";
import { FakeClock } from "../../../../support/fake_clock.ts";
import { type Login, openFakeRegistry } from "../../../../support/registry.ts";
import { makeFolder } from "../../../oci/config/planner_support.ts";
import { SIGNAL } from "../support.ts";

const REPOSITORY = "openshift-release-dev/ocp-release";
const VERSION = "4.17.2";

const openBed = async (login: Login = { kind: "none" }) => {
  await using stack = new AsyncDisposableStack();
  const registry = stack.use(await openFakeRegistry({ login }));
  const { host } = registry;
  const access = stack.use(openRegistryAccess({
    config: { registry: [host], registryCa: [], insecureRegistry: [host] },
    clock: systemClock,
    log: silentLogger,
    userAgent: "archway-test",
    clusterCredentials: () => [makeCredential(host, { source: "pull secret", username: "puller", password: "s3cret" })],
  }));
  const opened = stack.move();
  const read: ClusterPayloads["read"] = (image, options) =>
    readPayload(image, { ...options, access, clock: systemClock });
  return {
    registry,
    reader: { read },
    put: (document: Document) => `${host}/${REPOSITORY}@${registry.put(REPOSITORY, document)}`,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
};

type Bed = Awaited<ReturnType<typeof openBed>>;

function imageOf({ registry }: Bed, architecture: string, version: string = VERSION): Document {
  const labels = version === "" ? {} : { "io.openshift.release": version };
  const { config, manifest } = makeImage({ architecture, labels, form: "docker" });
  registry.putBlob(REPOSITORY, config);
  registry.put(REPOSITORY, manifest);
  return manifest;
}

function indexOf(bed: Bed, versions: Readonly<Record<string, string>>): Document {
  return makeIndex(
    Object.entries(versions).map(([architecture, version]) =>
      makeEntry(imageOf(bed, architecture, version), { platform: { os: "linux", architecture } })
    ),
  );
}

Deno.test("N-026 read() takes the version of an index from the child for the control plane", async () => {
  await using bed = await openBed();
  const image = bed.put(indexOf(bed, { amd64: "4.17.2", arm64: "4.17.2-other", s390x: "4.17.2" }));
  const architectures = ["amd64", "arm64", "s390x"];
  assert.deepEqual(await bed.reader.read(image, { architecture: "arm64", signal: SIGNAL }), {
    image,
    version: "4.17.2-other",
    isIndex: true,
    architectures,
  });
  const other = await bed.reader.read(image, { architecture: "ppc64le", signal: SIGNAL });
  assert.deepEqual([other.version, other.architectures], ["4.17.2", architectures]);
});

Deno.test("M-122 read() takes the version of a single image, with the cluster's pull secret where that is asked for", async () => {
  const logins: readonly Login[] = [{ kind: "none" }, { kind: "basic", users: { puller: "s3cret" } }];
  for (const login of logins) {
    await using bed = await openBed(login);
    const image = bed.put(imageOf(bed, "amd64"));
    assert.deepEqual(await bed.reader.read(image, { architecture: "amd64", signal: SIGNAL }), {
      image,
      version: VERSION,
      isIndex: false,
      architectures: ["amd64"],
    });
  }
});

Deno.test("M-123 read() refuses what names no digest, no payload or no image, without a secret", async () => {
  await using bed = await openBed({ kind: "basic", users: { puller: "s3cret" } });
  const host = bed.registry.host;
  const wrong = makeDocument(
    { schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json", manifests: [] },
    "x/y",
  );
  const table: readonly (readonly [string, RegExp])[] = [
    [`${host}/${REPOSITORY}:4.17.2-x86_64`, /it names no sha256 digest/],
    [`${host}/${REPOSITORY}@sha256:12`, /digest/i],
    ["not an image", /./],
    [`${host}/${REPOSITORY}@sha256:${"0".repeat(64)}`, /./],
    [bed.put(imageOf(bed, "amd64", "")), /it has no label io\.openshift\.release/],
    [bed.put(wrong), /its index is empty/],
  ];
  for (const [image, words] of table) {
    await assert.rejects(bed.reader.read(image, { architecture: "amd64", signal: SIGNAL }), (error) => {
      assert.ok(error instanceof RegistryError, String(error));
      assert.match(error.message, words);
      assert.doesNotMatch(error.message, /s3cret/);
      return true;
    }, image);
  }
});

Deno.test("read() ends with the signal, and refuses bytes that are not those of the digest", async () => {
  await using bed = await openBed();
  const image = bed.put(imageOf(bed, "amd64"));
  const stopped = AbortSignal.abort(new Error("stop"));
  await assert.rejects(bed.reader.read(image, { architecture: undefined, signal: stopped }), /stop/);
  bed.registry.intercept = ({ path }) => path.includes("/manifests/") ? new Response("{}") : undefined;
  const soon = AbortSignal.timeout(300);
  await assert.rejects(bed.reader.read(image, { architecture: undefined, signal: soon }));
});

Deno.test("ClusterPayloads reads a payload with the pull secret of the cluster, as it is at that time", async () => {
  await using bed = await openBed({ kind: "basic", users: { puller: "s3cret" } });
  const { host } = bed.registry;
  const image = bed.put(imageOf(bed, "amd64"));
  const cluster = new MemoryCluster();
  const pullSecret = { namespace: "openshift-config", name: "pull-secret" };
  const registries = { registry: [host], registryCa: [], insecureRegistry: [host] };
  const common = { clock: systemClock, log: silentLogger, userAgent: "archway-test" };
  using payloads = new ClusterPayloads({ ...common, api: cluster.api, registries, pullSecret });
  const read = () => payloads.read(image, { architecture: "amd64", signal: SIGNAL });
  await assert.rejects(read(), RegistryError);
  const auths = { auths: { [host]: { auth: btoa("puller:s3cret") } } };
  const data = { ".dockerconfigjson": btoa(JSON.stringify(auths)) };
  cluster.put(Resource.secrets, { metadata: pullSecret, type: "Opaque", data });
  await assert.rejects(read(), /401.* openshift-config\/pull-secret: its type is not a docker config/);
  cluster.put(Resource.secrets, { metadata: pullSecret, type: "kubernetes.io/dockerconfigjson", data });
  assert.equal((await read()).version, VERSION);
  cluster.drop(Resource.secrets, "openshift-config/pull-secret");
  await assert.rejects(read(), RegistryError);
});

Deno.test("ClusterPayloads follows an edited registries.conf", async () => {
  await using bed = await openBed();
  const { host } = bed.registry;
  using folder = makeFolder({ "registries.conf": `[[registry]]\nlocation = "${host}"\nblocked = true\n` });
  const registriesConf = `${folder.path}/registries.conf`;
  const registries = { registry: [host], registryCa: [], insecureRegistry: [host], registriesConf };
  const clock = new FakeClock();
  const common = { clock, log: silentLogger, userAgent: "archway-test", pullSecret: undefined };
  using payloads = new ClusterPayloads({ ...common, api: new MemoryCluster().api, registries });
  const image = bed.put(imageOf(bed, "amd64"));
  const read = () => payloads.read(image, { architecture: "amd64", signal: SIGNAL });
  await assert.rejects(read(), /registries\.conf blocks/);
  folder.write("registries.conf", "");
  await clock.advance(1_000);
  assert.equal((await read()).version, VERSION);
});
