import assert from "node:assert/strict";
import { parse as parseYaml } from "yaml";
import { makeSettings } from "../../support/placement_settings.ts";
import { printReport, type ReportOptions } from "../../../lib/cli/report.ts";
import { buildFailedImage } from "../../../lib/exec_format/decide/failed_image.ts";
import { ApiError } from "../../../lib/k8s/api_error.ts";
import { type KubeObject, Resource, type ResourceType } from "../../../lib/k8s/types.ts";
import type { ImageBed } from "../../support/image_bed.ts";
import { type MemoryCall, MemoryCluster } from "../../support/memory_kube_api.ts";
import { makeFailedImage } from "../exec_format/decide/make.ts";
import { openTaggedImages, recordingTerminal, type Said, tooLong } from "./support.ts";

const HOST = "registry.example";
const ARCH = "kubernetes.io/arch";

function templated(
  type: ResourceType,
  name: string,
  ...images: readonly string[]
): readonly [ResourceType, KubeObject] {
  const containers = images.map((image) => ({ name: "c", image: `${HOST}/${image}` }));
  const spec = { template: { spec: { containers } } };
  return [type, { kind: type.kind, metadata: { name, namespace: "shop" }, spec }];
}

function clusterOf(objects: readonly (readonly [ResourceType, KubeObject])[]): MemoryCluster {
  const cluster = new MemoryCluster();
  for (const [type, object] of objects) cluster.put(type, object);
  return cluster;
}

const SHOP = [
  templated(Resource.deployments, "web", "web:amd64-arm64"),
  templated(Resource.statefulSets, "store", "web:amd64-arm64", "store:amd64"),
  templated(Resource.daemonSets, "agent", "agent:amd64-arm64"),
] as const;

/** What the API server refuses with this status. */
function refusing(what: `${MemoryCall["verb"]} ${string}`, status = 403): (call: MemoryCall) => void {
  return ({ verb, plural }) => {
    if (`${verb} ${plural}` === what) throw new ApiError("refused", { status });
  };
}

async function run(
  cluster: MemoryCluster,
  given: Partial<ReportOptions> & {
    readonly bed?: ImageBed;
    readonly before?: (call: MemoryCall) => void;
    readonly showsProgress?: boolean;
    readonly columns?: number;
  } = {},
): Promise<{ readonly code: number; readonly said: Said }> {
  const { bed = openTaggedImages(), before, showsProgress = false, columns, ...options } = given;
  const { terminal, said } = recordingTerminal({ color: false, columns });
  const { signal } = new AbortController();
  const deps = { api: cluster.client(before), terminal, clock: bed.clock, images: bed.images, signal, showsProgress };
  let isOver = false;
  const printed = printReport({ output: "table", settings: makeSettings(), ...options }, deps).finally(() =>
    isOver = true
  );
  for (let turns = 0; !isOver && turns < 1_000; turns++) await bed.clock.advance(1_000);
  return { code: await printed, said };
}

Deno.test("runReport() prints totals, images and workloads", async () => {
  const { code, said } = await run(clusterOf(SHOP));
  assert.equal(code, 0);
  assert.equal(
    said.out,
    `\
ARCHITECTURE   WORKLOADS THAT RUN   BLOCKED   UNKNOWN
amd64          3                    0         0
arm64          2                    1         0
ppc64le        0                    3         0
s390x          0                    3         0

IMAGE                                ARCHITECTURES   WORKLOADS
registry.example/agent:amd64-arm64   amd64, arm64    1
registry.example/store:amd64         amd64           1
registry.example/web:amd64-arm64     amd64, arm64    2

WORKLOAD                 RUNS ON
DaemonSet shop/agent     amd64, arm64
Deployment shop/web      amd64, arm64
StatefulSet shop/store   amd64
`,
  );
});

Deno.test("runReport() --arch lists what blocks an architecture, a lying image among it, and exits 1; 0 where all run", async () => {
  const bed = openTaggedImages();
  const image = `${HOST}/agent:amd64-arm64`;
  const cluster = clusterOf(SHOP);
  // All images of the bed have one digest until they are pushed: this one gets its own.
  const digest = bed.registry.push(image);
  const object = buildFailedImage(makeFailedImage({ image, digest }), "archway-system") ?? assert.fail("no record");
  cluster.put(Resource.enoexecEvents, object);
  const { code, said } = await run(cluster, { bed, arch: "arm64" });
  assert.equal(code, 1);
  assert.equal(
    said.out,
    `\
WORKLOAD                 ARM64     WHY
DaemonSet shop/agent     blocked   registry.example/agent:amd64-arm64 claims arm64, but its program has failed there
StatefulSet shop/store   blocked   registry.example/store:amd64 has amd64

2 of 3 workloads do not run on arm64.
`,
  );
  const free = await run(cluster, { arch: "amd64" });
  assert.deepEqual([free.code, free.said.out], [0, "All 3 workloads run on amd64.\n"]);
});

Deno.test("runReport() gives the same as JSON and YAML, of one namespace where it is named", async () => {
  const [web = assert.fail()] = SHOP;
  const other = { ...web[1], metadata: { name: "web", namespace: "other" } };
  const cluster = clusterOf([...SHOP, [Resource.deployments, other]]);
  const options = { arch: "arm64", podNamespace: "shop" } as const;
  const document = JSON.parse((await run(cluster, { ...options, output: "json" })).said.out);
  assert.deepEqual(parseYaml((await run(cluster, { ...options, output: "yaml" })).said.out), document);
  const members = "architecture complete unread unlabelledNodes totals images workloads blocked";
  assert.equal(Object.keys(document).join(" "), members);
  assert.equal(document.workloads.length, 3);
  assert.deepEqual(document.blocked, [{
    kind: "StatefulSet",
    namespace: "shop",
    name: "store",
    verdict: "blocked",
    blockers: [{ kind: "lacking", image: `${HOST}/store:amd64`, architectures: ["amd64"] }],
  }]);
});

Deno.test("runReport() asks for each image once, whatever number of workloads and pods name it", async () => {
  const bed = openTaggedImages();
  const many = Array.from({ length: 50 }, (_, at) => templated(Resource.deployments, `web-${at}`, "web:amd64"));
  await run(clusterOf(many), { bed });
  assert.equal(bed.registry.reads.length, 1);
});

Deno.test("runReport() tries again where a registry is busy, and says of what nothing is known", async () => {
  const bed = openTaggedImages();
  bed.registry.failure = { kind: "transient", reason: "ServerError", message: "busy" };
  const { code, said } = await run(clusterOf(SHOP.slice(0, 1)), { bed, arch: "arm64" });
  assert.equal(code, 1);
  assert.match(said.out, /Deployment shop\/web +unknown +\S+ could not be inspected \(ServerError\)/);
  assert.match(said.out, /\n0 of 1 workloads do not run on arm64; of 1 it is not known\.\n$/);
  assert.equal(bed.registry.reads.length, 3);
});

Deno.test("Q-10 runReport() shows on a terminal how far it is and what it tries again, and nothing of it elsewhere", async () => {
  const said = async (showsProgress: boolean): Promise<readonly string[]> => {
    const bed = openTaggedImages();
    bed.registry.failure = { kind: "transient", reason: "ServerError", message: "busy" };
    const { err } = (await run(clusterOf(SHOP), { bed, showsProgress })).said;
    return err.split("\r\x1b[K");
  };
  const shown = await said(true);
  assert.ok(
    shown.some((line) => /^report: 0 of 3 images; no answer, trying again \(2 of 3\), \d+ s$/.test(line)),
    `${shown}`,
  );
  assert.ok(shown.some((line) => /^report: [1-3] of 3 images, \d+ s$/.test(line)), `${shown}`);
  assert.equal(shown.at(-1), "", "the line is gone at the end");
  assert.deepEqual(await said(false), [""]);
});

Deno.test("Q-10 runReport() holds more than 10 000 workloads and 5 000 images", async () => {
  const many = Array.from(
    { length: 10_500 },
    (_, at) => templated(Resource.deployments, `web-${at}`, `web${Math.floor(at / 2)}:amd64`),
  );
  const { code, said } = await run(clusterOf(many), { arch: "amd64" });
  assert.deepEqual([code, said.err], [0, ""]);
  assert.equal(said.out, "All 10500 workloads run on amd64.\n");
});

Deno.test("runReport() leaves out kinds that may not be listed, reports it, and is then no yes", async () => {
  const { code, said } = await run(clusterOf(SHOP), { arch: "amd64", before: refusing("list cronjobs") });
  assert.deepEqual([code, said.out], [1, "All 3 workloads run on amd64.\n"]);
  assert.equal(said.err, "archway: Cannot list cronjobs: the report leaves them out.\n");
  assert.match((await run(new MemoryCluster())).said.out, /^No workload was found\.\n$/);
});

Deno.test("Q-07 runReport() has a row for each node without the label of its architecture, where nodes may be listed", async () => {
  const node = (name: string, labels: Readonly<Record<string, string>>): readonly [ResourceType, KubeObject] => [
    Resource.nodes,
    { kind: "Node", metadata: { name, labels } },
  ];
  const cluster = clusterOf([...SHOP, node("virtual-1", { type: "virtual-kubelet" }), node("n", { [ARCH]: "amd64" })]);
  for (const arch of [undefined, "amd64"]) {
    const { code, said } = await run(cluster, { arch });
    assert.deepEqual([code, said.err], [0, ""]);
    assert.match(said.out, /\n\nNODE +WHY NO PLACED POD GOES THERE\nvirtual-1 +no label kubernetes\.io\/arch\n$/);
  }
  const { said } = await run(cluster, { output: "json" });
  assert.deepEqual(JSON.parse(said.out).unlabelledNodes, ["virtual-1"]);
  const refused = await run(cluster, { arch: "amd64", before: refusing("list nodes") });
  assert.deepEqual([refused.code, refused.said], [0, { out: "All 3 workloads run on amd64.\n", err: "" }]);
  assert.doesNotMatch((await run(cluster, { podNamespace: "shop" })).said.out, /virtual/);
});

for (const status of [403, 404]) {
  Deno.test(`runReport() ${status === 403 ? "names records of failures" : "needs no records of failures"} that are answered by ${status}`, async () => {
    const before = refusing("list enoexecevents", status);
    const { code, said } = await run(clusterOf(SHOP), { arch: "amd64", before });
    assert.deepEqual(
      [code, said.err],
      status === 403 ? [1, "archway: Cannot list enoexecevents: the report leaves them out.\n"] : [0, ""],
    );
  });
}

Deno.test("runReport() exits 1 where the namespace does not exist, and 0 where it is empty or may not be read", async () => {
  const cluster = clusterOf([[Resource.namespaces, { kind: "Namespace", metadata: { name: "empty" } }]]);
  for (const arch of [undefined, "arm64"]) {
    const { code, said } = await run(cluster, { arch, podNamespace: "nosuch" });
    assert.deepEqual([code, said.err], [1, 'archway: There is no namespace "nosuch".\n']);
    const empty = await run(cluster, { arch, podNamespace: "empty" });
    assert.deepEqual(empty, { code: 0, said: { out: "No workload was found.\n", err: "" } });
  }
  assert.equal((await run(cluster, { podNamespace: "nosuch", before: refusing("get namespaces") })).code, 0);
});

Deno.test("runReport() --arch says when no image names the architecture, unless it is a known one", async () => {
  const { code, said } = await run(clusterOf(SHOP), { arch: "arm65" });
  assert.equal(code, 1);
  assert.match(
    said.out,
    /^No image that could be inspected names arm65\. Nodes .* kubernetes\.io\/arch\.\n\nWORKLOAD .*\n3 of 3 workloads do not run on arm65\.\n$/s,
  );
  assert.match((await run(clusterOf(SHOP), { arch: "s390x" })).said.out, /workloads do not run on s390x\.\n$/);
});

Deno.test("runReport() says once for each registry by which flag an address is declared", async () => {
  const bed = openTaggedImages();
  const message = 'Cannot ask registry "127.0.0.1:5000": so. If a registry is there, declare it with --registry H.';
  bed.registry.failure = { kind: "permanent", reason: "AddressDenied", message };
  const { code, said } = await run(clusterOf(SHOP), { bed });
  assert.deepEqual([code, said.err], [0, `archway: ${message}\n`]);
  assert.match(said.out, /registry\.example\/web:amd64-arm64 +AddressDenied/);
});

Deno.test("runReport() calls a workload unknown as its totals do, and says to what its other images narrow it", async () => {
  const bed = openTaggedImages();
  bed.registry.private.add(`${HOST}/closed:v1`);
  const objects = [
    templated(Resource.deployments, "open", "closed:v1"),
    templated(Resource.deployments, "narrow", "closed:v1", "store:amd64"),
  ];
  const { said } = await run(clusterOf(objects), { bed });
  assert.match(said.out, /^amd64 +0 +0 +2$/m);
  assert.match(said.out, /^arm64 +0 +1 +1$/m);
  const why = "\\(not all of its images could be inspected\\)";
  assert.match(said.out, new RegExp(`^Deployment shop/narrow +unknown, at most amd64 ${why}$`, "m"));
  assert.match(said.out, new RegExp(`^Deployment shop/open +unknown ${why}$`, "m"));
});

Deno.test("runReport() fits a terminal of 80 columns, and keeps what blocks a workload", async () => {
  const objects = [
    templated(Resource.deployments, "a-name-of-some-length-in-a-cluster", "team/with/a/path/of/its/own/web:amd64"),
    ...SHOP,
  ];
  for (const arch of [undefined, "arm64", "arm46"]) {
    const { said } = await run(clusterOf(objects), { arch, columns: 80 });
    assert.deepEqual(tooLong(said.out), [], `${arch}`);
  }
  const { said } = await run(clusterOf(objects), { arch: "arm64", columns: 80 });
  assert.match(said.out, /^WORKLOAD +ARM64 +WHY$/m);
});
