// The playground's kubelets: bound pods start to run, or fail as they would on that node.
import type { JsonObject } from "../lib/json.ts";
import { keyOf, type KubeObject, Resource } from "../lib/k8s/types.ts";
import { NODE_ARCH_LABEL } from "../lib/names.ts";
import type { Cluster } from "./cluster.ts";
import { listAtPath, textAtPath } from "./json_path.ts";
import { recordEvent, withCondition } from "./pod_status.ts";
import { renderTime } from "../lib/vocabulary/time.ts";

/** What the kubelet finds when it pulls an image: the architectures it runs on, no image, or an unknown registry. */
export type PulledImage =
  | {
    readonly kind: "runs";
    readonly architectures: readonly string[];
    /** Architectures of its program, where the image claims others; empty: it ends with 1 wherever it runs. */
    readonly programs?: readonly string[] | undefined;
  }
  | { readonly kind: "missing" }
  | { readonly kind: "unknown" };

interface KubeletOptions {
  readonly pull: (image: string) => PulledImage;
}

/** Starts kubelets for all nodes. They act in the same turn of the event loop as the write that causes it. */
export function openKubelets(cluster: Cluster, { pull }: KubeletOptions): Disposable {
  const { store } = cluster;
  let address = 0;
  const unsubscribe = store.subscribe(({ type, object }) => {
    if (type.plural !== Resource.pods.plural) return;
    const pod = store.get(Resource.pods, keyOf(object));
    if (pod === undefined || (textAtPath(pod, "spec", "nodeName") ?? "") === "") return;
    if (listAtPath(pod, "status", "containerStatuses").length > 0) return;
    address += 1;
    startPod(cluster, pod, { pull, podIP: `10.0.${address >> 8 & 255}.${address & 255}` });
  });
  return { [Symbol.dispose]: unsubscribe };
}

function startPod(
  cluster: Cluster,
  pod: KubeObject,
  { pull, podIP }: KubeletOptions & { readonly podIP: string },
): void {
  const { store, clock } = cluster;
  const node = store.get(Resource.nodes, textAtPath(pod, "spec", "nodeName") ?? "");
  const architecture = node?.metadata.labels?.[NODE_ARCH_LABEL] ?? "";
  const now = renderTime(clock.nowMs());
  const containers = listAtPath(pod, "spec", "containers");
  const started = containers.map((container) =>
    startContainer(container, pull(textAtPath(container, "image") ?? ""), { architecture, now })
  );
  const waiting = started.map(({ state }) => state.waiting).find((each) => each !== undefined);
  const condition = waiting === undefined
    ? { type: "Ready", status: "True" } as const
    : { type: "Ready", status: "False", reason: "ContainersNotReady" } as const;
  const containerStatuses = started.map(({ state, lastState }, index) => ({
    name: textAtPath(containers[index], "name") ?? "",
    image: textAtPath(containers[index], "image") ?? "",
    imageID: "",
    ready: state.waiting === undefined,
    started: state.waiting === undefined,
    restartCount: 0,
    state,
    ...lastState === undefined ? {} : { lastState },
  }));
  const phase = waiting?.reason === "ErrImagePull" ? "Pending" : "Running";
  const status = { ...withCondition(pod.status, condition, clock.nowMs()), phase, containerStatuses };
  store.put(Resource.pods, { ...pod, status: { ...status, startTime: now, podIP, podIPs: [{ ip: podIP }] } });
  if (waiting === undefined) return;
  const reason = waiting.reason === "CrashLoopBackOff" ? "BackOff" : waiting.reason;
  recordEvent(cluster, pod, { type: "Warning", reason, message: waiting.message, component: "kubelet" });
}

interface StartedContainer {
  readonly state: {
    readonly running?: { readonly startedAt: string };
    readonly waiting?: { readonly reason: string; readonly message: string };
  };
  readonly lastState?: JsonObject;
}

function startContainer(
  container: unknown,
  pulled: PulledImage,
  { architecture, now }: { readonly architecture: string; readonly now: string },
): StartedContainer {
  if (pulled.kind === "missing") {
    return { state: { waiting: { reason: "ErrImagePull", message: "the registry has no such image" } } };
  }
  const runs = pulled.kind === "unknown" || (pulled.programs ?? pulled.architectures).includes(architecture);
  if (runs) return { state: { running: { startedAt: now } } };
  // The last output is in the log, and in the status only where the pod requests that.
  const isRefused = pulled.programs?.length !== 0;
  const isRequested = textAtPath(container, "terminationMessagePolicy") === "FallbackToLogsOnError";
  const terminated = {
    exitCode: 1,
    reason: "Error",
    startedAt: now,
    finishedAt: now,
    containerID: `containerd://${"0".repeat(64)}`,
    ...isRefused && isRequested ? { message: "exec /app: exec format error\n" } : {},
  };
  const waiting = { reason: "CrashLoopBackOff", message: "back-off 10s restarting failed container" };
  return { state: { waiting }, lastState: { terminated } };
}
