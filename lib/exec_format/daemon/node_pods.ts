// The pods of one node, by the UIDs in the names of their cgroups.
import { heapBytesOf, listAt, textAt } from "../../json.ts";
import { RETENTION } from "../../k8s/retention.ts";
import { Reflector, type ReflectorDeps } from "../../k8s/reflector.ts";
import { type KubeObject, Resource } from "../../k8s/types.ts";

export interface NodePod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

interface WatchedPod extends NodePod {
  /** The UID in the cgroup's name: for a static pod a hash, which its mirror pod has as an annotation. */
  readonly cgroupUid: string;
  readonly runtime: string | undefined;
}

/** Deleted pods that are remembered, since their containers may have failed just before. */
const MAX_DELETED = 500;
const CONFIG_HASH = "kubernetes.io/config.hash";
/** Matches a hash, but never the UID of another pod, which has dashes. */
const HASH = /^[0-9a-f]{32}$/;

export class NodePods {
  runtime: string | undefined;
  readonly #present = new Map<string, WatchedPod>();
  readonly #deleted = new Map<string, WatchedPod>();
  readonly #watched: Reflector<WatchedPod>;

  constructor(
    { api, clock, log }: ReflectorDeps,
    nodeName: string,
    onChange: () => void,
  ) {
    this.#watched = new Reflector<WatchedPod>({
      api,
      clock,
      log,
      resource: Resource.pods,
      name: "pods of this node",
      fieldSelector: `spec.nodeName=${nodeName}`,
      parse: parsePod,
      retain: { ...RETENTION.nodePods, weightOf: (pod) => heapBytesOf(JSON.stringify(pod)) },
      onChange: ({ kind, value }) => {
        if (this.#isOwn(value)) this.#note(kind, value);
        if (kind === "apply") this.runtime = value.runtime ?? this.runtime;
        onChange();
      },
    });
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#watched.run(signal);
  }

  hasSynced(): boolean {
    return this.#watched.hasSynced();
  }

  find(uid: string): NodePod | undefined {
    return this.#present.get(uid) ?? this.#deleted.get(uid);
  }

  #note(kind: "apply" | "delete", pod: WatchedPod): void {
    if (kind === "apply") return void this.#present.set(pod.cgroupUid, pod);
    this.#present.delete(pod.cgroupUid);
    this.#deleted.set(pod.cgroupUid, pod);
    const [oldest] = this.#deleted.keys();
    if (oldest !== undefined && this.#deleted.size > MAX_DELETED) this.#deleted.delete(oldest);
  }

  /** A user can give a pod the hash of a static pod. So the first pod with a hash keeps it. */
  #isOwn({ cgroupUid, namespace, name }: WatchedPod): boolean {
    const holder = this.#present.get(cgroupUid);
    return holder === undefined || holder.namespace === namespace && holder.name === name;
  }
}

function parsePod({ metadata, status }: KubeObject): WatchedPod {
  const { namespace = "", name, uid = "" } = metadata;
  const hash = metadata.annotations?.[CONFIG_HASH] ?? "";
  return { namespace, name, uid, cgroupUid: HASH.test(hash) ? hash : uid, runtime: runtimeOf(status) };
}

function runtimeOf(status: unknown): string | undefined {
  const containers = ["containerStatuses", "initContainerStatuses"].flatMap((list) => listAt(status, list) ?? []);
  const schemes = containers.map((container) => /^([a-z0-9.-]+):\/\//.exec(textAt(container, "containerID"))?.[1]);
  return schemes.find((scheme) => scheme !== undefined);
}
