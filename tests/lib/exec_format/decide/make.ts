// Pods, nodes and events of the tests of exec format errors.
import type { FailedImage } from "../../../../lib/exec_format/decide/failed_image.ts";
import type { EnoexecEvent } from "../../../../lib/exec_format/decide/enoexec_event.ts";
import type { KubeObject } from "../../../../lib/k8s/types.ts";

export function idOf(digit: string, runtime = "containerd"): string {
  return `${runtime}://${digit.repeat(64)}`;
}

export function makeFailedPod(
  options: {
    readonly status?: Readonly<Record<string, unknown>>;
    readonly container?: Readonly<Record<string, unknown>>;
    readonly metadata?: Readonly<Record<string, unknown>>;
    readonly spec?: Readonly<Record<string, unknown>>;
    readonly phase?: string;
  } = {},
): KubeObject {
  const { status = {}, container = {}, metadata = {}, spec = {}, phase = "Running" } = options;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web-1", namespace: "shop", uid: "uid-1", labels: {}, ...metadata },
    spec: { nodeName: "node-1", containers: [{ name: "c", image: "single-amd64", ...container }], ...spec },
    status: { phase, containerStatuses: [{ name: "c", containerID: idOf("a"), state: { running: {} }, ...status }] },
  };
}

export function makeFailedImage(changes: Partial<FailedImage> = {}): FailedImage {
  const digest = `sha256:${"ab".repeat(32)}`;
  const seen = { architecture: "arm64", namespace: "shop", nodes: [], atMs: Date.parse("2026-11-21T12:00:00Z") };
  return { digest, image: "r/app:1", ...seen, ...changes };
}

export function ended(
  exitCode: number,
  { seconds = 0, message = "", id = idOf("a") } = {},
): Readonly<Record<string, unknown>> {
  const [startedAt, finishedAt] = ["2026-11-21T12:00:00Z", `2026-11-21T12:00:${String(seconds).padStart(2, "0")}Z`];
  return { terminated: { exitCode, startedAt, finishedAt, containerID: id, ...message === "" ? {} : { message } } };
}

export function makeArchNode(architecture: string, name = "node-1"): KubeObject {
  const labels: Record<string, string> = architecture === "" ? {} : { "kubernetes.io/arch": architecture };
  return { apiVersion: "v1", kind: "Node", metadata: { name, labels } };
}

export function makeEventView(overrides: Partial<EnoexecEvent> = {}): EnoexecEvent {
  return {
    name: "a".repeat(64),
    nodeName: "node-1",
    podName: "web-1",
    podNamespace: "shop",
    containerID: idOf("a"),
    podUid: "uid-1",
    command: "",
    isEntryPoint: true,
    createdAtMs: 0,
    isDeleting: false,
    isHeld: false,
    error: undefined,
    ...overrides,
  };
}
