// The workloads of the placement test: every kind of owner with images of every shape, and what became of their pods.
import type { OpenLab } from "./open_lab.ts";

/** One owner of pods. */
interface Workload {
  readonly kind: "Deployment" | "StatefulSet" | "DaemonSet" | "Job" | "CronJob" | "Pod";
  readonly name: string;
  readonly image: string;
  /** Number of pods; a DaemonSet has one a node. */
  readonly pods: number;
  /** What the program does; one that ends is for Jobs. */
  readonly command?: "pause" | "hello";
}

/** With three nodes: 8 Deployment, 4 StatefulSet, 3 DaemonSet, 4 Job, 1 CronJob and 2 bare pods. */
export const WORKLOADS: readonly Workload[] = [
  { kind: "Deployment", name: "d-amd", image: "amd-index", pods: 2 },
  { kind: "Deployment", name: "d-arm-index", image: "arm-index", pods: 2 },
  { kind: "Deployment", name: "d-arm-single", image: "arm-single", pods: 2 },
  { kind: "Deployment", name: "d-multi", image: "multi", pods: 2 },
  { kind: "StatefulSet", name: "s-amd", image: "amd-single", pods: 2 },
  { kind: "StatefulSet", name: "s-arm", image: "arm-single", pods: 2 },
  { kind: "DaemonSet", name: "ds-multi", image: "multi", pods: 3 },
  { kind: "Job", name: "j-arm", image: "arm-index", pods: 2, command: "hello" },
  { kind: "Job", name: "j-amd", image: "amd-index", pods: 2, command: "hello" },
  { kind: "CronJob", name: "c-arm", image: "arm-single", pods: 1, command: "hello" },
  { kind: "Pod", name: "p-arm", image: "arm-single", pods: 1 },
  { kind: "Pod", name: "p-amd", image: "amd-single", pods: 1 },
];

/** How many pods they make together. */
export const POD_COUNT = WORKLOADS.reduce((sum, { pods }) => sum + pods, 0);

/** What became of one pod. */
export interface PodFate {
  readonly name: string;
  readonly workload: string;
  readonly node: string | undefined;
  /** Runs and is ready without a restart, or has succeeded. */
  readonly isGood: boolean;
  /** Reasons of waiting and ended containers, "exec format error" among them. */
  readonly faults: readonly string[];
}

/** Creates all of them, and a run of the CronJob. */
export async function createWorkloads(lab: OpenLab, namespace: string): Promise<void> {
  const list = { apiVersion: "v1", kind: "List", items: WORKLOADS.map((workload) => render(workload, lab)) };
  const { code, stderr } = await lab.kubectl(["-n", namespace, "apply", "-f", "-"], { stdin: JSON.stringify(list) });
  if (code !== 0) throw new Error(`Cannot create the workloads: ${stderr}`);
  await lab.kubectl(["-n", namespace, "create", "job", "c-arm-now", "--from=cronjob/c-arm"]);
}

function render({ kind, name, image, pods, command = "pause" }: Workload, lab: OpenLab): unknown {
  const labels = { workload: name };
  const metadata = { name };
  const spec = renderPodSpec(lab.image(image), command);
  const template = { metadata: { labels }, spec };
  const selector = { matchLabels: labels };
  switch (kind) {
    case "Pod":
      return { apiVersion: "v1", kind, metadata: { name, labels }, spec };
    case "Deployment":
      return { apiVersion: "apps/v1", kind, metadata, spec: { replicas: pods, selector, template } };
    case "DaemonSet":
      return { apiVersion: "apps/v1", kind, metadata, spec: { selector, template } };
    case "StatefulSet":
      return {
        apiVersion: "apps/v1",
        kind,
        metadata,
        spec: { replicas: pods, serviceName: name, podManagementPolicy: "Parallel", selector, template },
      };
    case "Job":
      return { apiVersion: "batch/v1", kind, metadata, spec: renderJob(template, pods) };
    case "CronJob":
      return {
        apiVersion: "batch/v1",
        kind,
        metadata,
        spec: { schedule: "0 0 1 1 *", jobTemplate: { spec: renderJob(template, pods) } },
      };
  }
}

function renderJob(template: { readonly metadata: unknown; readonly spec: object }, pods: number): unknown {
  const spec = { ...template.spec, restartPolicy: "Never" };
  return { backoffLimit: 2, completions: pods, parallelism: pods, template: { ...template, spec } };
}

function renderPodSpec(image: string, command: string): object {
  const terminationMessagePolicy = "FallbackToLogsOnError";
  return {
    terminationGracePeriodSeconds: 1,
    dnsPolicy: "Default",
    initContainers: [{ name: "init", image, args: ["hello"], terminationMessagePolicy }],
    containers: [{ name: "app", image, args: [command], terminationMessagePolicy }],
  };
}

/** What became of the pods of a namespace so far. */
export async function readFates(lab: OpenLab, namespace: string): Promise<readonly PodFate[]> {
  const { body } = await lab.request("GET", `/api/v1/namespaces/${namespace}/pods`);
  return (body as { readonly items: readonly PodJson[] }).items.map(toFate);
}

interface PodJson {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec: { readonly nodeName?: string };
  readonly status: {
    readonly phase: string;
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

interface Terminated {
  readonly exitCode: number;
  readonly reason?: string;
  readonly message?: string;
}

interface ContainerStatus {
  readonly ready: boolean;
  readonly restartCount: number;
  readonly state: { readonly waiting?: { readonly reason: string }; readonly terminated?: Terminated };
  readonly lastState: { readonly terminated?: Terminated };
}

function toFate({ metadata, spec, status }: PodJson): PodFate {
  const containers = status.containerStatuses ?? [];
  const isRunning = status.phase === "Running" && containers.length > 0 &&
    containers.every(({ ready, restartCount }) => ready && restartCount === 0);
  return {
    name: metadata.name,
    workload: metadata.labels?.["workload"] ?? "",
    node: spec.nodeName,
    isGood: isRunning || status.phase === "Succeeded",
    faults: [...(status.initContainerStatuses ?? []), ...containers].flatMap(faultOf),
  };
}

function faultOf({ state, lastState }: ContainerStatus): readonly string[] {
  const ended = state.terminated ?? lastState.terminated;
  if (ended?.message?.includes("exec format error")) return ["exec format error"];
  if (ended !== undefined && ended.exitCode !== 0) return [`${ended.reason ?? "ended"} ${ended.exitCode}`];
  const waiting = state.waiting?.reason;
  return waiting === undefined || ["ContainerCreating", "PodInitializing"].includes(waiting) ? [] : [waiting];
}
