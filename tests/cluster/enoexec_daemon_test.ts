// The daemon on this machine's kernel and a real API server, with the rights, the capabilities and the permissions that its
// manifests and its image give it. Containers are cgroups with the names that runtimes give them.
import assert from "node:assert/strict";
import { EnoexecAnnotation, ExecFormatMonitor } from "../../lib/names.ts";
import { readPermissions, renderPermissions } from "../../manifests/image/compile.ts";
import { lacks } from "../support/needs.ts";
import { expectStatus, renderKubeconfig } from "./support/cluster_access.ts";
import { FailingStarts } from "./support/failing_starts.ts";
import { isOk, RunningProcess } from "./support/process.ts";
import { bareControlPlane, type SharedControlPlane } from "./support/shared_control_plane.ts";
import { waitUntil } from "./support/wait.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const [NODE, NAMESPACE, TEAM] = ["n1", "archway-system", "team"];
const ADMIN = "127.0.0.1:18093";
const CAPABILITIES = "-all,+bpf,+perfmon";
const MOUNT = "test -d /sys/kernel/tracing/events || mount -t tracefs tracefs /sys/kernel/tracing";

interface Event {
  readonly metadata: { readonly name: string; readonly annotations: Readonly<Record<string, string>> };
  readonly status?: Readonly<Record<"nodeName" | "podName" | "podNamespace" | "containerID", string>>;
}

async function create(cluster: SharedControlPlane, path: string, object: object): Promise<string> {
  const answer = await waitUntil(`${path} to be created`, async () => {
    const answer = await cluster.request("POST", path, object);
    // The ServiceAccount "default" comes a moment after its namespace.
    return answer.status !== 403 && answer;
  });
  expectStatus(`create ${path}`, answer, [201]);
  return (answer.body as { readonly metadata: { readonly uid: string } }).metadata.uid;
}

function createPod(
  cluster: SharedControlPlane,
  namespace: string,
  { serviceAccountName = "default" } = {},
): Promise<string> {
  const spec = { nodeName: NODE, serviceAccountName, containers: [{ name: "app", image: "example.com/app" }] };
  const metadata = { name: "pod" };
  return create(cluster, `/api/v1/namespaces/${namespace}/pods`, { apiVersion: "v1", kind: "Pod", metadata, spec });
}

/** What the DaemonSet's pod would have: a token that is bound to a pod on the node. */
async function prepare(cluster: SharedControlPlane): Promise<string> {
  await cluster.addNodes([{ name: NODE, arch: "amd64" }]);
  for (const name of [NAMESPACE, TEAM]) {
    await create(cluster, "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  }
  await cluster.run(["apply", "-f", `${ROOT}manifests/base/crds/enoexecevents.yaml`]);
  for (const file of ["daemon", "policy"]) {
    await cluster.run(["apply", "-f", `${ROOT}manifests/components/exec-format-errors/${file}.yaml`]);
  }
  const name = ExecFormatMonitor.daemon;
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "c" }], nodeName: "none" } };
  const spec = { selector: { matchLabels: labels }, template };
  const metadata = { name };
  const daemonSets = `/apis/apps/v1/namespaces/${NAMESPACE}/daemonsets`;
  await create(cluster, daemonSets, { apiVersion: "apps/v1", kind: "DaemonSet", metadata, spec });
  const uid = await createPod(cluster, NAMESPACE, { serviceAccountName: name });
  const path = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/${name}/token`;
  const boundObjectRef = { apiVersion: "v1", kind: "Pod", name: "pod", uid };
  const answer = await cluster.create(path, { spec: { boundObjectRef, expirationSeconds: 3_600 } });
  return (answer as { readonly status: { readonly token: string } }).status.token;
}

async function startDaemon(cluster: SharedControlPlane, token: string): Promise<RunningProcess> {
  const kubeconfig = `${cluster.directory}/daemon.kubeconfig`;
  await Deno.writeTextFile(kubeconfig, renderKubeconfig(cluster, { token }));
  const grants = renderPermissions(await readPermissions("daemon"));
  const flags = [
    `--node-name=${NODE}`,
    `--namespace=${NAMESPACE}`,
    `--kubeconfig=${kubeconfig}`,
    `--admin-listen=${ADMIN}`,
  ];
  const daemon = [Deno.execPath(), "run", "--no-check", "--unstable-kv", ...grants, `${ROOT}main.ts`, "enoexec-daemon"];
  const limited = ["setpriv", `--bounding-set=${CAPABILITIES}`, `--inh-caps=${CAPABILITIES}`, ...daemon, ...flags];
  const process = RunningProcess.start({
    name: "daemon",
    command: "unshare",
    args: ["--mount", "--propagation", "private", "sh", "-c", `${MOUNT}; exec "$@"`, "sh", ...limited],
    directory: cluster.directory,
    env: { NO_COLOR: "1" },
  });
  await process.waitReady(() => isOk(`http://${ADMIN}/readyz`));
  return process;
}

async function eventsWhen(cluster: SharedControlPlane, count: number): Promise<readonly Event[]> {
  const path = `/apis/multiarch.openshift.io/v1beta1/namespaces/${NAMESPACE}/enoexecevents`;
  return await waitUntil(`${count} events`, async () => {
    const { items } = await cluster.get(path) as { readonly items: readonly Event[] };
    return items.length >= count && items.every(({ status }) => status !== undefined) && items;
  });
}

async function cpuSeconds(pid: number): Promise<number> {
  const script = 'cat /proc/"$1"/stat $(for c in $(cat /proc/"$1"/task/*/children); do echo /proc/"$c"/stat; done)';
  const { stdout } = await new Deno.Command("sh", { args: ["-c", script, "sh", String(pid)] }).output();
  const ticks = new TextDecoder().decode(stdout).trim().split("\n").map((line) => {
    const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
    return Number(fields[11]) + Number(fields[12]);
  });
  return ticks.reduce((sum, more) => sum + more, 0) / 100;
}

Deno.test(
  "exec format errors: the daemon reports one within 5 s and loses none of 200 a minute, with the least rights, at 5 % of a core",
  {
    ignore: lacks("root") || lacks("tracing"),
  },
  async () => {
    await using cluster = await bareControlPlane();
    const token = await prepare(cluster);
    const uid = await createPod(cluster, TEAM);
    await using daemon = await startDaemon(cluster, token);
    await using starts = await FailingStarts.open();

    const first = await starts.fail(["kubepods", "besteffort", `pod${uid}`]);
    const startedMs = performance.now();
    const [event] = await eventsWhen(cluster, 1);
    assert.ok(performance.now() - startedMs <= 5_000);
    const containerID = `containerd://${first}`;
    assert.deepEqual(event?.status, { nodeName: NODE, podName: "pod", podNamespace: TEAM, containerID });
    assert.equal(event?.metadata.annotations[EnoexecAnnotation.command], starts.program);

    const before = await cpuSeconds(daemon.pid);
    const ids = await starts.failSteadily(["kubepods", `pod${uid}`], { count: 200, everyMs: 300 });
    const events = await eventsWhen(cluster, 201);
    const percent = 100 * (await cpuSeconds(daemon.pid) - before) / 60;
    assert.deepEqual(events.map(({ metadata }) => metadata.name).toSorted(), [first, ...ids].toSorted());
    assert.ok(percent > 0 && percent <= 5, `${percent.toFixed(1)} % of a core`);

    const { code } = await daemon.stop();
    assert.equal(code, 0, await daemon.readLog());
  },
);
