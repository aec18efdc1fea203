// Pods that fail as on a wrong node, on a control plane whose nodes are played: what kubelets and daemons would write is
// written here, by an admin or by the daemon's own account.
import { buildEnoexecEvent } from "../../../lib/exec_format/decide/enoexec_event.ts";
import { AdminConnection, type ClusterAccess, read } from "./cluster_access.ts";
import { GROUP, workload } from "./objects.ts";
import { type PodName, renderPod } from "./pods.ts";
import { waitUntil } from "./wait.ts";

export const NAMESPACE = "archway-system";
const COMPONENTS = new URL("../../../manifests/components/", import.meta.url).pathname;
export const EVENTS = `${GROUP}/namespaces/${NAMESPACE}/enoexecevents`;
export const DAEMON_SET = `/apis/apps/v1/namespaces/${NAMESPACE}/daemonsets/enoexec-event-daemon`;

export const DEPLOYMENT = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments/archway`;

/** The Deployment as an installation has it, but for its pods: Archway runs as a process of the test. */
export async function createDeploymentOfArchway(cluster: ClusterAccess): Promise<void> {
  await cluster.create(DEPLOYMENT.replace(/\/archway$/, ""), workload("Deployment", "archway", { replicas: 0 }));
}

export function containerIdOf(digit: string): string {
  return `containerd://${digit.repeat(64)}`;
}

/** Applies what the components add beside flags: rights, the daemon's account, the admission policy, the namespace's labels. */
export async function applyComponents(cluster: ClusterAccess): Promise<void> {
  const files = ["errors/role", "errors/daemon", "errors/policy", "repair/role"];
  const args = files.flatMap((file) => ["-f", `${COMPONENTS}exec-format-${file}.yaml`]);
  await cluster.run(["apply", "--server-side", "--force-conflicts", ...args]);
  const label = "pod-security.kubernetes.io/enforce=privileged";
  await cluster.run(["label", "--overwrite", "namespace", NAMESPACE, label]);
}

export async function bindPod(
  cluster: ClusterAccess,
  { namespace, name, node, image }: PodName & { readonly node: string; readonly image: string },
): Promise<void> {
  const pod = renderPod({ name, images: [image], spec: { nodeName: node } });
  await cluster.create(`/api/v1/namespaces/${namespace}/pods`, pod);
  await awaitRunning(cluster, { namespace, name });
}

/** Waits until a pod's node plays it: from then on its status is ours. */
export async function awaitRunning(cluster: ClusterAccess, { namespace, name }: PodName): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
  await waitUntil(`pod ${name} to run`, async () => read(await cluster.get(path), "status", "phase") === "Running");
}

export async function setContainerStatus(
  cluster: ClusterAccess,
  { namespace, name, status }: PodName & { readonly status: Readonly<Record<string, unknown>> },
): Promise<void> {
  const common = { name: "main-0", image: "any", imageID: "", ready: false, restartCount: 0 };
  const body = { status: { containerStatuses: [{ ...common, ...status }] } };
  await cluster.patch(`/api/v1/namespaces/${namespace}/pods/${name}/status`, body);
}

export function endedStatus(digit: string, exitCode = 255): Readonly<Record<string, unknown>> {
  const at = "2026-11-21T12:00:00Z";
  const terminated = { exitCode, reason: "Error", startedAt: at, finishedAt: at, containerID: containerIdOf(digit) };
  return {
    containerID: containerIdOf(digit),
    state: { waiting: { reason: "CrashLoopBackOff", message: "back-off 10s restarting failed container" } },
    lastState: { terminated },
  };
}

export async function warnBackOff(cluster: ClusterAccess, { namespace, name }: PodName): Promise<void> {
  const event = {
    ...{ type: "Warning", reason: "BackOff" },
    metadata: { name: `${name}.backoff`, namespace },
    involvedObject: { apiVersion: "v1", kind: "Pod", namespace, name },
    message: "Back-off restarting failed container main-0",
    source: { component: "kubelet" },
  };
  await cluster.create(`/api/v1/namespaces/${namespace}/events`, event);
}

export interface EventSpec {
  readonly name: string;
  readonly node: string;
  readonly namespace: string;
  readonly pod: string;
  readonly digit: string;
  readonly finalizers?: readonly string[];
  readonly annotations?: Readonly<Record<string, string>>;
}

export async function writeEvent(cluster: ClusterAccess, spec: EventSpec): Promise<void> {
  const { name, node, namespace, pod, digit, finalizers = [], annotations = {} } = spec;
  const failure = {
    ...{ nodeName: node, podNamespace: namespace, podName: pod, podUid: "", containerId: containerIdOf(digit) },
    ...{ command: undefined, isEntryPoint: true, atMs: Date.now() },
  };
  const { object, status } = buildEnoexecEvent(failure, { namespace: NAMESPACE, name: "none", uid: "none" });
  const metadata = { name, finalizers, annotations };
  await cluster.create(EVENTS, { ...object, metadata });
  await cluster.patch(`${EVENTS}/${name}/status`, { status });
}

export async function reportsOf(cluster: ClusterAccess, { namespace, name }: PodName): Promise<readonly string[]> {
  const selector = `fieldSelector=${encodeURIComponent(`involvedObject.name=${name},reason=ExecFormatError`)}`;
  const items = await cluster.list(`/api/v1/namespaces/${namespace}/events?${selector}`);
  return items.map((event) => String(read(event, "message")));
}

interface DaemonAccess extends Disposable {
  request(method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly text: string }>;
}

/** The account with a token bound to a pod of the daemon, as the kubelet mounts one; or with one that is bound to none. */
export async function openDaemonAccess(cluster: ClusterAccess, pod: string | undefined): Promise<DaemonAccess> {
  const path = `/api/v1/namespaces/${NAMESPACE}`;
  const bound = pod === undefined ? undefined : await cluster.get(`${path}/pods/${pod}`);
  const boundObjectRef = { kind: "Pod", apiVersion: "v1", name: pod, uid: read(bound, "metadata", "uid") };
  const answer = await cluster.create(`${path}/serviceaccounts/enoexec-event-daemon/token`, {
    spec: { expirationSeconds: 3_600, ...(pod === undefined ? {} : { boundObjectRef }) },
  });
  const adminToken = String(read(answer, "status", "token"));
  const connection = new AdminConnection({ ...cluster, adminToken });
  return {
    request: async (...call) => {
      const { status, body } = await connection.access.request(...call);
      return { status, text: JSON.stringify(body) };
    },
    [Symbol.dispose]: () => connection[Symbol.dispose](),
  };
}
