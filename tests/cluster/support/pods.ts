// Creates pods from short specs, waits for them and returns how each ended.
import assert from "node:assert/strict";
import { textMapAtPath } from "../../../playground/json_path.ts";
import { type ClusterAccess, expectStatus, listAt, read } from "./cluster_access.ts";
import { dockerSecret } from "./objects.ts";
import { waitUntil } from "./wait.ts";

export interface PodSpec {
  readonly name: string;
  /** One container each. */
  readonly images: readonly string[];
  /** One init container each. */
  readonly initImages?: readonly string[];
  readonly pullSecrets?: readonly string[];
  readonly gates?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Any other member of `spec`: affinity, nodeSelector, tolerations, … */
  readonly spec?: Readonly<Record<string, unknown>>;
}

export interface PodEvent {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

export interface PodOutcome {
  readonly name: string;
  readonly phase: string;
  readonly gates: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** `spec.affinity` as it is. */
  readonly affinity: unknown;
  /** The values of `kubernetes.io/arch` in each required term; one list a term. */
  readonly requiredArchitectures: readonly (readonly string[])[];
  /** Empty until scheduled. */
  readonly nodeName: string;
  readonly creationTimestamp: string;
}

export function renderPod(
  { name, labels = {}, annotations = {}, ...rest }: PodSpec,
): Readonly<Record<string, unknown>> {
  return { apiVersion: "v1", kind: "Pod", metadata: { name, labels, annotations }, spec: renderSpec(rest) };
}

function renderSpec(pod: Omit<PodSpec, "name" | "labels" | "annotations">): Readonly<Record<string, unknown>> {
  const { images, initImages = [], pullSecrets = [], gates = [], spec = {} } = pod;
  const asNames = (names: readonly string[]): readonly { readonly name: string }[] => names.map((name) => ({ name }));
  return {
    containers: images.map((image, index) => ({ name: `main-${index}`, image })),
    ...(initImages.length === 0 ? {} : {
      initContainers: initImages.map((image, index) => ({ name: `init-${index}`, image })),
    }),
    ...(pullSecrets.length === 0 ? {} : { imagePullSecrets: asNames(pullSecrets) }),
    ...(gates.length === 0 ? {} : { schedulingGates: asNames(gates) }),
    ...spec,
  };
}

/** So many pods, each of one of the images in turn: `PREFIX-0`, `PREFIX-1`, … */
export function podsOf(prefix: string, images: readonly string[], count: number): readonly PodSpec[] {
  return Array.from({ length: count }, (_, number) => ({
    name: `${prefix}-${number}`,
    images: [images[number % images.length] ?? ""],
  }));
}

/** Creates the pods, `parallel` at a time (default 8). Throws at the first that is refused. */
export async function createPods(
  cluster: ClusterAccess,
  namespace: string,
  { pods, parallel = 8, onCreated = () => {} }: {
    readonly pods: readonly PodSpec[];
    readonly parallel?: number;
    readonly onCreated?: (name: string) => void;
  },
): Promise<void> {
  const waiting = pods.values();
  const worker = async (): Promise<void> => {
    for (const pod of waiting) {
      await cluster.create(`/api/v1/namespaces/${namespace}/pods`, renderPod(pod));
      onCreated(pod.name);
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
}

export async function createDeployment(
  cluster: ClusterAccess,
  namespace: string,
  { replicas, ...pod }: PodSpec & { readonly replicas: number },
): Promise<void> {
  const labels = { app: pod.name, ...pod.labels };
  const template = { metadata: { labels, annotations: pod.annotations ?? {} }, spec: renderSpec(pod) };
  await cluster.create(`/apis/apps/v1/namespaces/${namespace}/deployments`, {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: pod.name },
    spec: { replicas, selector: { matchLabels: { app: pod.name } }, template },
  });
}

export interface PodName {
  readonly namespace: string;
  readonly name: string;
}

/** The login of the first user of a registry. */
export async function createPullSecret(
  cluster: ClusterAccess,
  namespace: string,
  { name, host, users }: {
    readonly name: string;
    readonly host: string;
    readonly users: Readonly<Record<string, string>>;
  },
): Promise<void> {
  const [first = []] = Object.entries(users);
  const auths = { [host]: { auth: btoa(first.join(":")) } };
  await cluster.create(`/api/v1/namespaces/${namespace}/secrets`, dockerSecret({ name }, auths));
}

export async function listPods(cluster: ClusterAccess, namespace: string): Promise<readonly PodOutcome[]> {
  const answer = await cluster.request("GET", `/api/v1/namespaces/${namespace}/pods`);
  expectStatus(`list pods of "${namespace}"`, answer, [200]);
  return listAt(answer.body, "items").map(parseOutcome).sort((a, b) => a.name < b.name ? -1 : 1);
}

/**
 * Polls until the namespace holds `count` pods and the condition is true of each; gives them.
 * At the deadline the error names the pods that are not so.
 */
export async function waitForPods(
  cluster: ClusterAccess,
  namespace: string,
  options: {
    readonly count: number;
    readonly until: (pod: PodOutcome) => boolean;
    readonly deadlineMs?: number;
    readonly intervalMs?: number;
  },
): Promise<readonly PodOutcome[]> {
  const { count, until, deadlineMs = 60_000, intervalMs = 100 } = options;
  let last: readonly PodOutcome[] = [];
  try {
    return await waitUntil(`${count} pods of ${namespace}`, async () => {
      last = await listPods(cluster, namespace);
      return last.length >= count && last.every(until) ? last : undefined;
    }, { deadlineMs, intervalMs });
  } catch (cause) {
    const others = last.filter((pod) => !until(pod));
    const shown = others.slice(0, 5).map(({ name, phase, gates, nodeName }) => ({ name, phase, gates, nodeName }));
    const found = `${last.length} there, ${others.length} not as awaited: ${JSON.stringify(shown)}`;
    throw new Error(`Cannot wait for ${count} pods of "${namespace}": ${found}`, { cause });
  }
}

export function waitForPod(
  cluster: ClusterAccess,
  { namespace, name }: PodName,
  until: (pod: PodOutcome) => boolean,
): Promise<PodOutcome> {
  return waitUntil(`pod ${name}`, async () => {
    const pod = (await listPods(cluster, namespace)).find((one) => one.name === name);
    return pod !== undefined && until(pod) && pod;
  });
}

export function isScheduled({ nodeName }: PodOutcome): boolean {
  return nodeName !== "";
}

export function isReleased({ gates }: PodOutcome): boolean {
  return !gates.includes("multiarch.openshift.io/scheduling-gate");
}

export async function listPodEvents(
  cluster: ClusterAccess,
  pod: PodName,
): Promise<readonly PodEvent[]> {
  const selector = encodeURIComponent(`involvedObject.kind=Pod,involvedObject.name=${pod.name}`);
  const answer = await cluster.request("GET", `/api/v1/namespaces/${pod.namespace}/events?fieldSelector=${selector}`);
  expectStatus(`list events of "${pod.name}"`, answer, [200]);
  return listAt(answer.body, "items").map((event) => ({
    type: String(read(event, "type")),
    reason: String(read(event, "reason")),
    message: String(read(event, "message")),
  }));
}

export async function listNodeArchitectures(cluster: ClusterAccess): Promise<ReadonlyMap<string, string>> {
  const answer = await cluster.request("GET", "/api/v1/nodes");
  expectStatus("list nodes", answer, [200]);
  return new Map(
    listAt(answer.body, "items").map((node) => [
      String(read(node, "metadata", "name")),
      String(read(node, "metadata", "labels", "kubernetes.io/arch")),
    ]),
  );
}

/** Fails with the pods that are on a node of no architecture that they may be on. */
export async function assertPlaced(
  cluster: ClusterAccess,
  pods: readonly PodOutcome[],
  expected: (pod: PodOutcome) => readonly string[],
): Promise<void> {
  const architectures = await listNodeArchitectures(cluster);
  const misplaced = pods.filter((pod) => !expected(pod).includes(architectures.get(pod.nodeName) ?? "none"));
  assert.deepEqual(misplaced.map(({ name, nodeName }) => `${name} on ${nodeName}`), []);
}

export function podNamed(pods: readonly PodOutcome[], name: string): PodOutcome {
  return pods.find((pod) => pod.name === name) ?? assert.fail(`no pod ${name}`);
}

function parseOutcome(pod: unknown): PodOutcome {
  const affinity = read(pod, "spec", "affinity");
  const terms = read(affinity, "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms");
  return {
    name: String(read(pod, "metadata", "name")),
    phase: String(read(pod, "status", "phase") ?? ""),
    gates: listAt(pod, "spec", "schedulingGates").map((gate) => String(read(gate, "name"))),
    labels: textMapAtPath(pod, "metadata", "labels"),
    annotations: textMapAtPath(pod, "metadata", "annotations"),
    affinity,
    requiredArchitectures: listAt(terms).map((term) =>
      listAt(term, "matchExpressions")
        .filter((expression) => read(expression, "key") === "kubernetes.io/arch")
        .flatMap((expression) => listAt(expression, "values").map(String))
    ),
    nodeName: String(read(pod, "spec", "nodeName") ?? ""),
    creationTimestamp: String(read(pod, "metadata", "creationTimestamp")),
  };
}
