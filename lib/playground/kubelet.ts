// The playground's kubelets: bound pods start to run, or fail as they would on that node; deleted pods go.
import { keyOf, type KubeObject, Resource } from "../k8s/types.ts";
import { NODE_ARCH_LABEL } from "../names.ts";
import type { Cluster } from "./cluster.ts";
import { recordEvent } from "./cluster_events.ts";
import { type JsonObject, listAt, objectAt, textAt, timestamp } from "./json_value.ts";
import { withCondition } from "./scheduler.ts";
import type { StoreChange } from "./store.ts";

/** What the kubelet finds when it pulls an image: the architectures it runs on, no image, or an unknown registry. */
export type PulledImage =
  | {
    readonly kind: "runs";
    /** What the image claims. */
    readonly architectures: readonly string[];
    /** What its program runs on, where that is not what the image claims; none: it ends with 1 wherever it runs. */
    readonly programs?: readonly string[] | undefined;
  }
  | { readonly kind: "missing" }
  | { readonly kind: "unknown" };

/** Starts kubelets for all nodes. They act in the same turn as the write that calls for it. */
export function openKubelets(
  cluster: Cluster,
  options: { readonly pull: (image: string) => PulledImage },
): Disposable {
  let address = 0;
  const follow = (change: StoreChange): void => {
    if (change.type.plural !== Resource.pods.plural || change.kind === "DELETED") return;
    const pod = cluster.store.get(Resource.pods, keyOf(change.object));
    const nodeName = pod === undefined ? "" : textAt(pod, "spec", "nodeName") ?? "";
    if (pod === undefined || nodeName === "") return;
    if (pod.metadata.deletionTimestamp !== undefined) {
      if (listAt(pod, "metadata", "finalizers").length === 0) cluster.store.remove(Resource.pods, keyOf(pod));
      return;
    }
    if (listAt(pod, "status", "containerStatuses").length > 0) return;
    address += 1;
    startPod(cluster, pod, { ...options, nodeName, podIP: `10.0.${address >> 8 & 255}.${address & 255}` });
  };
  return { [Symbol.dispose]: cluster.store.subscribe(follow) };
}

interface StartOptions {
  readonly pull: (image: string) => PulledImage;
  readonly nodeName: string;
  readonly podIP: string;
}

function startPod(cluster: Cluster, pod: KubeObject, options: StartOptions): void {
  const node = cluster.store.get(Resource.nodes, options.nodeName);
  const architecture = textAt(node, "metadata", "labels", NODE_ARCH_LABEL) ?? "";
  const now = timestamp(cluster.clock.nowMs());
  const statuses = listAt(pod, "spec", "containers").map((container) => {
    const image = textAt(container, "image") ?? "";
    const pulled = options.pull(image);
    const state = startContainer(pulled, { architecture, now });
    const ready = state.running !== undefined;
    const name = textAt(container, "name") ?? "";
    const common = { name, image, imageID: "", ready, started: ready, restartCount: 0, state };
    return textAt(state, "waiting", "reason") === "CrashLoopBackOff"
      ? { ...common, lastState: { terminated: endOf(container, pulled, now) } }
      : common;
  });
  const failed = statuses.find((status) => !status.ready);
  const condition = failed === undefined
    ? { type: "Ready", status: "True" }
    : { type: "Ready", status: "False", reason: "ContainersNotReady" };
  const waiting = textAt(failed, "state", "waiting", "reason");
  cluster.store.put(Resource.pods, {
    ...pod,
    status: {
      ...objectAt(pod, "status"),
      ...withCondition(pod, condition, cluster.clock.nowMs()),
      phase: waiting === "ErrImagePull" ? "Pending" : "Running",
      startTime: now,
      podIP: options.podIP,
      podIPs: [{ ip: options.podIP }],
      containerStatuses: statuses,
    },
  });
  if (failed === undefined || waiting === undefined) return;
  const message = textAt(failed, "state", "waiting", "message") ?? "";
  const reason = waiting === "CrashLoopBackOff" ? "BackOff" : waiting;
  recordEvent(cluster, pod, { type: "Warning", reason, message, component: "kubelet" });
}

/** How a container ended: its last output is in the log, and in the status only where the pod requests that. */
function endOf(container: unknown, pulled: PulledImage, now: string): JsonObject {
  const isRefused = pulled.kind === "runs" && pulled.programs?.length !== 0;
  const isRequested = isRefused && textAt(container, "terminationMessagePolicy") === "FallbackToLogsOnError";
  const message = isRequested ? { message: "exec /app: exec format error\n" } : {};
  const containerID = `containerd://${"0".repeat(64)}`;
  return { exitCode: 1, reason: "Error", startedAt: now, finishedAt: now, containerID, ...message };
}

function startContainer(
  pulled: PulledImage,
  options: { readonly architecture: string; readonly now: string },
): JsonObject {
  switch (pulled.kind) {
    case "missing":
      return { waiting: { reason: "ErrImagePull", message: "the registry has no such image" } };
    case "runs":
      if ((pulled.programs ?? pulled.architectures).includes(options.architecture)) {
        return { running: { startedAt: options.now } };
      }
      return { waiting: { reason: "CrashLoopBackOff", message: "back-off 10s restarting failed container" } };
    case "unknown":
      return { running: { startedAt: options.now } };
  }
}
