// Asks the real Kueue, on a control plane with nodes that kwok plays: 500 jobs in queues with quota for two architectures, and
// Archway with component `kueue`. Writes the record. ../README.md says how.
import { parseArgs } from "node:util";
import { parseAllDocuments } from "yaml";
import { renderComposition } from "../../../manifests/generate/kustomize.ts";
import { enablePlacement } from "../../cluster/support/archway.ts";
import { type ClusterAccess, expectStatus, read } from "../../cluster/support/cluster_access.ts";
import { SHAREABLE } from "../../cluster/support/control_plane.ts";
import { createAuthority } from "../../cluster/support/pki.ts";
import { findFreePort } from "../../cluster/support/ports.ts";
import { RunningProcess } from "../../cluster/support/process.ts";
import { pause, waitUntil } from "../../cluster/support/wait.ts";
import { index, openOwnWalkBed } from "../../cluster/support/walk_bed.ts";
import {
  COUNT,
  drawJobs,
  type DrawnJob,
  fitsOf,
  hashOfProgram,
  type KueueRecord,
  pinOf,
  platformsOf,
  requiredOf,
  type Row,
} from "./shapes.ts";

const ARCH = "kubernetes.io/arch";
const API = "/apis/kueue.x-k8s.io/v1beta2";
const QUEUE = { "kueue.x-k8s.io/queue-name": "main" };
/** One queue each: places for images are shared by namespace. */
const NAMESPACES = 4;
/** What of Archway the record is of. */
const ASKED = ["controllers/kueue", "lib/placement", "manifests/components/kueue"];
const FLAVORS: Readonly<Record<string, string>> = { x86: "amd64", arm: "arm64" };
/** Where Kueue reads what its metrics would be served with. */
const METRICS_CERTS = "/etc/kueue/metrics/certs";
/** Longest until all have run (ms). */
const LIMIT_MS = 600_000;
/** Webhooks of Kueue that are of use here. */
const WEBHOOKS = /^[mv](clusterqueue|job|pod|resourceflavor|workload)\.kb\.io$/;

/** What was seen of one Workload. */
interface Seen {
  flavor?: string;
  required?: readonly string[];
  isImpossible: boolean;
  wasSentBack: boolean;
  hasRun: boolean;
}

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${new Date().toISOString().slice(11, 19)} ${line}\n`));
}

async function apply(cluster: ClusterAccess, items: readonly unknown[]): Promise<void> {
  const stdin = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  const { code, stderr } = await cluster.kubectl(["apply", "--server-side", "-f", "-"], { stdin });
  if (code !== 0) throw new Error(`Cannot apply: ${stderr}`);
}

/** Starts the program with its webhooks on a port of its own, and waits until it answers. */
async function startKueue(cluster: ClusterAccess, copy: string): Promise<RunningProcess> {
  const [port, health] = [findFreePort(), findFreePort()];
  const { directory } = cluster;
  const authority = await createAuthority("kueue");
  const serving = await authority.issue({ commonName: "kueue", usage: "server" });
  for (const folder of [`${directory}/kueue`, METRICS_CERTS]) {
    await Deno.mkdir(folder, { recursive: true });
    await Deno.writeTextFile(`${folder}/tls.crt`, serving.certificatePem);
    await Deno.writeTextFile(`${folder}/tls.key`, serving.keyPem);
  }
  const config = {
    apiVersion: "config.kueue.x-k8s.io/v1beta2",
    kind: "Configuration",
    health: { healthProbeBindAddress: `127.0.0.1:${health}` },
    metrics: { bindAddress: "0" },
    webhook: { host: "127.0.0.1", port, certDir: `${directory}/kueue` },
    leaderElection: { leaderElect: false },
    internalCertManagement: { enable: false },
    integrations: { frameworks: ["batch/job", "pod"] },
    clientConnection: { qps: 300, burst: 500 },
  };
  await Deno.writeTextFile(`${directory}/kueue/config.yaml`, JSON.stringify(config));
  await apply(cluster, [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "kueue-system" } }]);
  const process = RunningProcess.start({
    name: "kueue",
    command: `${copy}/bin/kueue`,
    args: [`--config=${directory}/kueue/config.yaml`, "--feature-gates=VisibilityOnDemand=false"],
    directory,
    env: { KUBECONFIG: cluster.kubeconfigFile, POD_NAMESPACE: "kueue-system" },
  });
  await process.waitReady(async () => (await fetch(`http://127.0.0.1:${health}/healthz`)).ok);
  const text = await Deno.readTextFile(`${copy}/config/components/webhook/manifests.yaml`);
  const bundle = btoa(authority.certificatePem);
  const configurations = parseAllDocuments(text).map((document): unknown => document.toJS()).map((raw) => ({
    ...Object(raw),
    metadata: { name: `kueue-${String(read(raw, "metadata", "name"))}` },
    webhooks: [read(raw, "webhooks")].flat().filter((hook) => WEBHOOKS.test(String(read(hook, "name")))).map((
      hook,
    ) => ({
      ...Object(hook),
      clientConfig: {
        url: `https://127.0.0.1:${port}${String(read(hook, "clientConfig", "service", "path"))}`,
        caBundle: bundle,
      },
      namespaceSelector: {
        matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "NotIn", values: ["kube-system"] }],
      },
    })),
  }));
  await apply(cluster, configurations);
  return process;
}

/** Two flavors, one queue over them with our check, and the namespaces that use it. */
async function openQueue(cluster: ClusterAccess): Promise<readonly string[]> {
  const namespaces = await Promise.all(Array.from({ length: NAMESPACES }, () => cluster.createNamespace("queued")));
  const apiVersion = "kueue.x-k8s.io/v1beta2";
  const flavors = Object.entries(FLAVORS).map(([name, architecture]) => (
    { apiVersion, kind: "ResourceFlavor", metadata: { name }, spec: { nodeLabels: { [ARCH]: architecture } } }
  ));
  const quotas = Object.keys(FLAVORS).map((name) => ({ name, resources: [{ name: "cpu", nominalQuota: "30" }] }));
  const queue = {
    ...{ apiVersion, kind: "ClusterQueue", metadata: { name: "batch" } },
    spec: {
      namespaceSelector: {},
      admissionChecksStrategy: { admissionChecks: [{ name: "archway" }] },
      resourceGroups: [{ coveredResources: ["cpu"], flavors: quotas }],
    },
  };
  const locals = namespaces.map((namespace) => (
    { apiVersion, kind: "LocalQueue", metadata: { name: "main", namespace }, spec: { clusterQueue: "batch" } }
  ));
  await waitUntil("Kueue's webhooks", async () => {
    const stdin = JSON.stringify({ apiVersion: "v1", kind: "List", items: [...flavors, queue, ...locals] });
    return (await cluster.kubectl(["apply", "--server-side", "-f", "-"], { stdin })).code === 0;
  }, { deadlineMs: 120_000 });
  return namespaces;
}

function renderJob({ shape, repositories }: DrawnJob, name: string, host: string): unknown {
  const spec = {
    ...pinOf(shape),
    restartPolicy: "Never",
    containers: repositories.map((repository, at) => (
      { name: `c${at}`, image: `${host}/${repository}:v1`, resources: { requests: { cpu: at === 0 ? "1" : "1m" } } }
    )),
  };
  const metadata = { name, labels: QUEUE };
  return shape.kind === "Pod"
    ? { apiVersion: "v1", kind: "Pod", metadata, spec }
    : { apiVersion: "batch/v1", kind: "Job", metadata, spec: { backoffLimit: 0, template: { spec } } };
}

async function items(cluster: ClusterAccess, path: string): Promise<readonly unknown[]> {
  const answer = await cluster.request("GET", path);
  expectStatus(`list ${path}`, answer, [200]);
  return [read(answer.body, "items") ?? []].flat();
}

function hasCondition(object: unknown, type: string): boolean {
  return [read(object, "status", "conditions") ?? []].flat().some((one) =>
    read(one, "type") === type && read(one, "status") === "True"
  );
}

function numberOf(name: unknown): number {
  return Number(/-(\d+)/.exec(String(name))?.[1]);
}

/** Looks at every Workload once a second until all have run that can. */
async function watchRun(cluster: ClusterAccess, jobs: readonly DrawnJob[]): Promise<readonly Seen[]> {
  const seen = jobs.map((): Seen => ({ isImpossible: false, wasSentBack: false, hasRun: false }));
  const wanted = jobs.filter(({ shape }) => fitsOf(shape).length > 0).length;
  const startedMs = performance.now();
  for (let round = 0; performance.now() - startedMs < LIMIT_MS; round++) {
    for (const workload of await items(cluster, `${API}/workloads`)) {
      const at = numberOf(read(workload, "metadata", "ownerReferences", 0, "name"));
      const one = seen[at];
      const job = jobs[at];
      if (one === undefined || job === undefined) continue;
      const evictions = [read(workload, "status", "schedulingStats", "evictions") ?? []].flat();
      if (evictions.some((eviction) => read(eviction, "reason") === "AdmissionCheck")) one.wasSentBack = true;
      if (!hasCondition(workload, "Admitted") && !hasCondition(workload, "Finished")) continue;
      const flavor = FLAVORS[String(read(workload, "status", "admission", "podSetAssignments", 0, "flavors", "cpu"))];
      if (flavor !== undefined) {
        one.flavor = flavor;
        one.isImpossible ||= !fitsOf(job.shape).includes(flavor);
        const required = requiredOf(read(workload, "spec", "podSets", 0, "template", "spec"));
        if (required !== undefined) one.required = required;
      }
      one.hasRun ||= job.shape.kind === "Job" ? hasCondition(workload, "Finished") : hasCondition(workload, "Admitted");
    }
    const ran = seen.filter(({ hasRun }) => hasRun).length;
    if (round % 10 === 0) say(`${ran} of ${wanted} ran`);
    if (ran === wanted) break;
    await pause(1_000);
  }
  return seen;
}

/** Pods that are let go and could run on no node, or on one for which an image is not made. */
async function countContradictions(cluster: ClusterAccess, jobs: readonly DrawnJob[]): Promise<number> {
  const pods = (await items(cluster, "/api/v1/pods")).filter((pod) =>
    String(read(pod, "metadata", "name")).startsWith("q-")
  );
  say(`${pods.length} pods`);
  return pods.filter((pod) => {
    const job = jobs[numberOf(read(pod, "metadata", "name"))];
    const selected = read(pod, "spec", "nodeSelector", ARCH);
    const required = requiredOf(read(pod, "spec"));
    const isAllowed = (architecture: string): boolean =>
      (selected ?? architecture) === architecture && (required?.includes(architecture) ?? true);
    const isHeld = [read(pod, "spec", "schedulingGates") ?? []].flat().length > 0;
    return job !== undefined && !isHeld && selected !== undefined && !fitsOf(job.shape).some(isAllowed);
  }).length;
}

function rowsOf(jobs: readonly DrawnJob[], seen: readonly Seen[]): readonly Row[] {
  const rows = new Map<string, Row>();
  jobs.forEach(({ shape }, at) => {
    const { flavor, required } = seen[at] ?? {};
    const row = {
      ...{ shape, count: 1 },
      ...flavor === undefined ? {} : { flavor },
      ...required === undefined ? {} : { required: [...required] },
    };
    const key = JSON.stringify(row);
    rows.set(key, { ...row, count: (rows.get(key)?.count ?? 0) + 1 });
  });
  return [...rows].toSorted(([left], [right]) => left < right ? -1 : 1).map(([, row]) => row);
}

/** The last commit of a checkout that changed one of these paths. */
async function readCommit(checkout: string, paths: readonly string[]): Promise<string> {
  const args = ["-C", checkout, "log", "-1", "--format=%H", "--", ...paths];
  return new TextDecoder().decode((await new Deno.Command("git", { args }).output()).stdout).trim();
}

async function ask(copy: string): Promise<KueueRecord> {
  await using bed = await openOwnWalkBed({ controlPlane: SHAREABLE });
  const { controlPlane: cluster } = bed;
  const jobs = drawJobs();
  for (const repository of new Set(jobs.flatMap(({ repositories }) => repositories))) {
    const platforms = platformsOf(repository.replace(/^demo\/|-\d+$/g, ""));
    if (platforms !== undefined) await bed.push(repository, index(...platforms));
  }
  say("images pushed");
  const definitions = await cluster.kubectl(["apply", "--server-side", "-f", `${copy}/config/components/crd/bases`]);
  if (definitions.code !== 0) throw new Error(definitions.stderr);
  await using _kueue = await startKueue(cluster, copy);
  say("Kueue runs");
  const component = (await renderComposition("base", ["components/kueue"])).filter(({ kind, metadata }) =>
    kind === "AdmissionCheck" || /^archway-(kueue|queued)/.test(metadata.name) && kind !== "ConfigMap"
  );
  await apply(cluster, component);
  const settings = `${cluster.directory}/archway-kueue.yaml`;
  await Deno.writeTextFile(settings, "kueue: true\n");
  await bed.startReplica({ args: [`--config=${settings}`] });
  await enablePlacement(cluster);
  const namespaces = await openQueue(cluster);
  say("Archway runs");
  const waiting = jobs.map((job, at) => [job, at] as const);
  await Promise.all(Array.from({ length: 8 }, async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [job, at] = next;
      const path = job.shape.kind === "Pod" ? "/api/v1" : "/apis/batch/v1";
      const body = renderJob(job, `q-${at}`, bed.proxy.host);
      const plural = job.shape.kind === "Pod" ? "pods" : "jobs";
      const namespace = namespaces[at % NAMESPACES];
      expectStatus("create", await cluster.request("POST", `${path}/namespaces/${namespace}/${plural}`, body), [201]);
    }
  }));
  say(`${COUNT} created`);
  const seen = await watchRun(cluster, jobs);
  const version = await cluster.request("GET", "/version");
  return {
    original: { repository: "github.com/kubernetes-sigs/kueue", commit: await readCommit(copy, []) },
    program: { path: "tests/oracles/kueue", sha256: await hashOfProgram() },
    archway: await readCommit(".", ASKED),
    kubernetes: String(read(version.body, "gitVersion")),
    recorded: new Date().toISOString().slice(0, 10),
    sentBack: seen.filter(({ wasSentBack }) => wasSentBack).length,
    contradictions: await countContradictions(cluster, jobs),
    impossible: seen.filter(({ isImpossible }) => isImpossible).length,
    ran: seen.filter(({ hasRun }) => hasRun).length,
    rows: [...rowsOf(jobs, seen)],
  };
}

if (import.meta.main) {
  const { copy, record } = parseArgs({ options: { copy: { type: "string" }, record: { type: "boolean" } } }).values;
  if (copy === undefined) throw new Error("--copy DIR is needed: tests/oracles/README.md");
  const answer = await ask(copy);
  const { rows, ...head } = answer;
  say(JSON.stringify(head));
  const lines = rows.map((row) => `    ${JSON.stringify(row)}`).join(",\n");
  const text = JSON.stringify(head, undefined, 2).replace(/\n}$/, `,\n  "rows": [\n${lines}\n  ]\n}\n`);
  await Deno.writeTextFile(record ? new URL("../records/kueue.json", import.meta.url) : "/dev/stdout", text);
}
