// The pods of one node by their UIDs, as the names of cgroups have them.
import type { Clock } from "../../clock.ts";
import { listAt, textAt } from "../../json.ts";
import type { ReadApi } from "../../k8s/api.ts";
import type { Change } from "../../k8s/object_cache.ts";
import { openReflector } from "../../k8s/reflector.ts";
import { type KubeObject, Resource } from "../../k8s/types.ts";
import type { Logger } from "../../log.ts";

/** A pod, as far as a failure names it. */
export interface NodePod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** The pods of a node. */
export interface NodePods {
  /** Follows them until the signal aborts; never rejects. */
  run(signal: AbortSignal): Promise<void>;
  hasSynced(): boolean;
  /** A pod by the UID in its cgroup's name, also for a while after it was deleted. */
  find(uid: string): NodePod | undefined;
  /** The scheme of the node's container IDs, such as `containerd`, from the status of any pod. */
  runtime(): string | undefined;
}

/** What is kept of a pod. */
interface PodView extends NodePod {
  /** A static pod's cgroup has the hash of its configuration for a UID; its mirror in the API has it as an annotation. */
  readonly cgroupUid: string;
  readonly runtime: string | undefined;
}

/** Pods that were deleted just now: their containers may have failed a moment before. */
const MAX_DELETED = 500;
const CONFIG_HASH = "kubernetes.io/config.hash";
/** A hash, and never the UID of another pod: those have dashes. */
const HASH = /^[0-9a-f]{32}$/;

/** Opens them. `onChange` is called for every change, so that failures that waited for it can be placed. */
export function openNodePods(
  { api, clock, log }: { readonly api: ReadApi; readonly clock: Clock; readonly log: Logger },
  { nodeName, onChange }: { readonly nodeName: string; readonly onChange: () => void },
): NodePods {
  const pods = new PodsByUid();
  const follow = (change: Change<PodView>): void => {
    if (change.kind === "apply") pods.put(change.value);
    else pods.remove(change.value);
    onChange();
  };
  const reflector = openReflector({
    api,
    clock,
    log,
    resource: Resource.pods,
    fieldSelector: `spec.nodeName=${nodeName}`,
    parse: parsePod,
    onChange: follow,
    name: "pods of this node",
  });
  return {
    run: (signal) => reflector.run(signal),
    hasSynced: () => reflector.hasSynced(),
    find: (uid) => pods.find(uid),
    runtime: () => pods.runtime,
  };
}

/** The pods that are there, and some that were deleted just now. */
class PodsByUid {
  /** The scheme of container IDs that was seen last. */
  runtime: string | undefined;
  readonly #present = new Map<string, PodView>();
  readonly #deleted = new Map<string, PodView>();

  put(pod: PodView): void {
    if (this.#isOwn(pod)) this.#present.set(pod.cgroupUid, pod);
    this.runtime = pod.runtime ?? this.runtime;
  }

  remove(pod: PodView): void {
    if (!this.#isOwn(pod)) return;
    this.#present.delete(pod.cgroupUid);
    this.#deleted.set(pod.cgroupUid, pod);
    const [oldest] = this.#deleted.keys();
    if (oldest !== undefined && this.#deleted.size > MAX_DELETED) this.#deleted.delete(oldest);
  }

  find(uid: string): NodePod | undefined {
    return this.#present.get(uid) ?? this.#deleted.get(uid);
  }

  /** Whoever makes a pod can give it the hash of a static one: the first pod that has it keeps it. */
  #isOwn({ cgroupUid, namespace, name }: PodView): boolean {
    const holder = this.#present.get(cgroupUid);
    return holder === undefined || holder.namespace === namespace && holder.name === name;
  }
}

function parsePod({ metadata, status }: KubeObject): PodView {
  const { namespace = "", name, uid = "" } = metadata;
  const hash = metadata.annotations?.[CONFIG_HASH] ?? "";
  return { namespace, name, uid, cgroupUid: HASH.test(hash) ? hash : uid, runtime: runtimeOf(status) };
}

function runtimeOf(status: unknown): string | undefined {
  const containers = ["containerStatuses", "initContainerStatuses"].flatMap((list) => listAt(status, list) ?? []);
  const schemes = containers.map((container) => /^([a-z0-9.-]+):\/\//.exec(textAt(container, "containerID"))?.[1]);
  return schemes.find((scheme) => scheme !== undefined);
}
