// `archway report` as a person runs it: a child process against a real control plane and a real registry, with no Archway
// in the cluster.
import assert from "node:assert/strict";
import { buildFailedImage } from "../../lib/exec_format/decide/failed_image.ts";
import { type CommandResult, runArchway } from "../support/archway_program.ts";
import { createDeployment, createPods } from "./support/pods.ts";
import { index, openWalkBed, type WalkBed } from "./support/walk_bed.ts";

async function report(bed: WalkBed, ...args: readonly string[]): Promise<CommandResult> {
  const access = ["--kubeconfig", bed.controlPlane.kubeconfigFile];
  const registry = ["--registry", bed.proxy.host, "--registry-ca", bed.proxy.caFile];
  return await runArchway(["report", ...access, ...registry, ...args]);
}

async function furnish(bed: WalkBed, namespace: string): Promise<void> {
  const { controlPlane } = bed;
  const both = await bed.push("demo/both", index("amd64", "arm64"));
  const old = await bed.push("demo/old", index("amd64"));
  const lying = await bed.push("demo/lying", index("amd64", "arm64", "s390x"));
  const deployments = [
    { name: "fine", image: both },
    { name: "lying", image: lying },
    { name: "pinned", image: both, spec: { nodeSelector: { "beta.kubernetes.io/arch": "amd64" } } },
    { name: "missing", image: `${bed.proxy.host}/demo/no-such-image:v1` },
  ];
  for (const { image, ...pod } of deployments) {
    await createDeployment(controlPlane, namespace, { ...pod, images: [image], replicas: 1 });
  }
  await createPods(controlPlane, namespace, { pods: [{ name: "bare", images: [old] }] });
  const digest = JSON.parse((await report(bed, "-n", namespace, "-o", "json")).stdout).images
    .find(({ image }: { readonly image: string }) => image === lying).digest;
  const failed = { digest, architecture: "arm64", namespace, nodes: [], image: lying };
  const record = buildFailedImage({ ...failed, atMs: Date.now() }, "archway-system");
  const events = "/apis/multiarch.openshift.io/v1beta1/namespaces/archway-system/enoexecevents";
  await controlPlane.create(events, { ...record, status: undefined });
}

Deno.test("report: what keeps the workloads of a cluster from an architecture, by text, document and exit code", async () => {
  await using bed = await openWalkBed();
  const namespace = await bed.controlPlane.createNamespace("report");
  await furnish(bed, namespace);
  const table = await report(bed, "-n", namespace, "--arch", "arm64");
  assert.deepEqual([table.code, table.stderr], [1, ""]);
  const row = (workload: string, verdict: string, why: string): RegExp =>
    new RegExp(`^${workload.replace("/", ` ${namespace}/`)} +${verdict} +(\\S*/)?${why}$`, "m");
  assert.match(
    table.stdout,
    row("Deployment/lying", "blocked", "demo/lying:v1 claims arm64, but its program has failed there"),
  );
  assert.match(table.stdout, row("Deployment/pinned", "blocked", "it constrains itself to amd64"));
  assert.match(
    table.stdout,
    row("Deployment/missing", "unknown", "no-such-image:v1 could not be inspected \\(ManifestUnknown\\)"),
  );
  assert.match(table.stdout, row("Pod/bare", "blocked", "demo/old:v1 has amd64"));
  assert.doesNotMatch(table.stdout, /fine/);
  assert.match(table.stdout, /\n3 of 5 workloads do not run on arm64; of 1 it is not known\.\n$/);

  const document = JSON.parse((await report(bed, "-n", namespace, "-o", "json")).stdout);
  const totals = document.totals.map((one: Readonly<Record<string, unknown>>) => Object.values(one).join(" "));
  assert.deepEqual(totals.slice(0, 2), ["amd64 4 0 1", "arm64 1 3 1"]);
  const names = document.workloads.map(({ name }: { readonly name: string }) => name);
  assert.deepEqual(names, ["fine", "lying", "missing", "pinned", "bare"]);
});
