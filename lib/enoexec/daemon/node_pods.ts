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
  const present = new Map<string, PodView>();
  const deleted = new Map<string, PodView>();
  let runtime: string | undefined;
  const isOwn = ({ cgroupUid, namespace, name }: PodView): boolean => {
    const holder = present.get(cgroupUid);
    return holder === undefined || holder.namespace === namespace && holder.name === name;
  };
  const follow = (change: Change<PodView>): void => {
    const { value } = change;
    if (change.kind === "apply") {
      // Whoever makes a pod can give it the hash of a static one: the first that has it keeps it.
      if (isOwn(value)) present.set(value.cgroupUid, value);
      runtime = value.runtime ?? runtime;
    } else {
      if (!isOwn(value)) return;
      present.delete(value.cgroupUid);
      deleted.set(value.cgroupUid, value);
      const [oldest] = deleted.keys();
      if (oldest !== undefined && deleted.size > MAX_DELETED) deleted.delete(oldest);
    }
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
    find: (uid) => present.get(uid) ?? deleted.get(uid),
    runtime: () => runtime,
  };
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
