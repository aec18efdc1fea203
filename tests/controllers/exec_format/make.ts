// An exec format error monitor on an API server in memory.
import { openExecFormatController } from "../../../controllers/exec_format/controller.ts";
import type { ExecFormatDeps } from "../../../controllers/exec_format/deps.ts";
import { ReportedContainers } from "../../../lib/exec_format/reported.ts";
import { buildEnoexecEvent, type ExecFailure } from "../../../lib/exec_format/decide/enoexec_event.ts";
import { type KubeObject, Resource } from "../../../lib/k8s/types.ts";
import { silentLogger } from "../../../lib/log.ts";
import { makeSettings } from "../../support/placement_settings.ts";
import { ended, idOf, makeArchNode, makeFailedPod } from "../../lib/exec_format/decide/make.ts";
import { cluster as makeClusterConfig, configs } from "../../lib/placement/decide/make.ts";
import type { MemoryCall } from "../../support/memory_kube_api.ts";
import { openScene, type Scene, whileRunning } from "../make.ts";

export const NAMESPACE = "archway-system";

export interface MonitorScene extends Scene {
  readonly counted: string[];
  readonly deps: ExecFormatDeps;
  setMonitored(on: boolean): void;
  run(play: () => void | Promise<void>): Promise<void>;
}

export interface MonitorOptions extends Partial<ExecFormatDeps> {
  /** Comes ahead of each request of the monitor; what it throws is the answer. */
  readonly before?: (call: MemoryCall) => void;
}

export function openMonitorScene({ before = () => {}, ...overrides }: MonitorOptions = {}): MonitorScene {
  const scene = openScene();
  const counted: string[] = [];
  const listeners: (() => void)[] = [];
  let monitored = true;
  const settings = makeSettings();
  const deps: ExecFormatDeps = {
    api: scene.cluster.client(before),
    images: scene.images,
    imagesToPlace: scene.images,
    events: scene.events,
    metrics: {
      mto_enoexecevents_total: { inc: () => void counted.push("handled") },
      mto_enoexecevents_invalid_total: { inc: () => void counted.push("invalid") },
      archway_exec_format_errors_total: { inc: ({ source }) => void counted.push(source) },
      archway_exec_format_repairs_total: { inc: ({ outcome }) => void counted.push(outcome) },
    },
    clock: scene.clock,
    log: silentLogger,
    settings: { namespace: NAMESPACE, watchesPods: true, repairs: false },
    isMonitored: () => monitored,
    onChange: (listener) => void listeners.push(listener),
    settingsOf: () => settings,
    configsOf: () => ({ cluster: undefined, namespace: [] }),
    isGating: () => true,
    liveArchitectures: () => undefined,
    reported: new ReportedContainers(scene.clock),
    ...overrides,
  };
  const controller = openExecFormatController(deps);
  return {
    ...scene,
    counted,
    deps,
    setMonitored: (on) => {
      monitored = on;
      listeners.forEach((listener) => listener());
    },
    run: (play) => whileRunning(scene, controller, play),
  };
}

/** What a daemon writes about the container of `makeFailedPod()`; created when the fake clock begins. */
export function makeEvent(
  overrides: Partial<ExecFailure> & { readonly metadata?: Readonly<Record<string, unknown>> } = {},
): KubeObject {
  const { metadata = {}, ...changes } = overrides;
  const failure = {
    nodeName: "node-1",
    podNamespace: "shop",
    podName: "web-1",
    podUid: "uid-1",
    containerId: idOf("a"),
    command: undefined,
    isEntryPoint: true,
    atMs: 0,
    ...changes,
  };
  const owner = { namespace: NAMESPACE, name: "enoexec-event-daemon", uid: "d" };
  const { object, status } = buildEnoexecEvent(failure, owner);
  return {
    ...object,
    metadata: { ...object.metadata, creationTimestamp: "2026-11-21T12:00:00Z", ...metadata },
    status,
  };
}

export function eventsLeft({ cluster }: Scene): readonly string[] {
  const { plural } = Resource.enoexecEvents;
  return [...cluster.objects.keys()].filter((path) => path.includes(`/${plural}/`)).map((path) =>
    path.split("/").at(-1) ?? ""
  );
}

/** A node, and a pod on it that has failed. */
export function furnish(
  { cluster }: Scene,
  architecture = "ppc64le",
  pod = makeFailedPod({ status: { state: ended(1) } }),
): void {
  cluster.put(Resource.pods, pod);
  cluster.put(Resource.nodes, makeArchNode(architecture));
}

/** The event of a failure of a pod. */
export function warn({ cluster }: Scene, pod: KubeObject, { reason = "BackOff", count = 1 } = {}): void {
  const { namespace = "shop", name } = pod.metadata;
  const metadata = { namespace, name: `${name}.${reason}` };
  const involvedObject = { kind: "Pod", namespace, name };
  cluster.put(Resource.events, { metadata, involvedObject, type: "Warning", reason, count });
}

export const REPAIRING: ExecFormatDeps["settings"] = { namespace: NAMESPACE, watchesPods: true, repairs: true };

export interface Repaired {
  readonly scene: MonitorScene;
  readonly evictions: string[];
}

/** Pods of a ReplicaSet on an arm64 node, with an image for amd64 alone; `onEvict` may refuse. */
export function openRepairScene(
  { settings = REPAIRING, onEvict = () => {} }: {
    readonly settings?: ExecFormatDeps["settings"];
    readonly onEvict?: (name: string) => unknown;
  } = {},
): Repaired {
  const evictions: string[] = [];
  const clusterConfig = makeClusterConfig();
  const before = ({ verb, plural, body, name = "" }: MemoryCall): void => {
    const kind: unknown = Reflect.get(Object(body), "kind");
    if (verb !== "create" || plural !== "pods" || kind !== "Eviction") return;
    evictions.push(name);
    onEvict(name);
    scene.cluster.drop(Resource.pods, `shop/${name}`);
  };
  const scene: MonitorScene = openMonitorScene({ before, settings, configsOf: () => configs(clusterConfig) });
  scene.cluster.put(Resource.nodes, makeArchNode("arm64"));
  scene.cluster.put(Resource.namespaces, { metadata: { name: "shop" } });
  return { scene, evictions };
}

export function strayPod(name: string, owner = "web"): KubeObject {
  const ownerReferences = owner === "" ? [] : [{ kind: "ReplicaSet", name: owner, controller: true }];
  return makeFailedPod({ status: { state: ended(1) }, metadata: { name, uid: `uid-${name}`, ownerReferences } });
}

export async function failPod({ scene }: Repaired, pod: KubeObject): Promise<void> {
  scene.cluster.put(Resource.pods, pod);
  warn(scene, pod);
  await scene.clock.advance(0);
}
