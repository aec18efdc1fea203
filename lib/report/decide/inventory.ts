// The workloads of a cluster, from templates and running pods, page by page and within bounds.
import { KNOWN_ARCHITECTURES } from "../../arch.ts";
import { entryOf, listAt, objectAt, textAt, utf8Length } from "../../json.ts";
import type { KubeObject } from "../../k8s/types.ts";
import { parsePod, podTemplateOf, type PodView } from "../../placement/decide/pod/pod_view.ts";
import { isTrue, parseConditions } from "../../vocabulary/condition.ts";
import { type TemplateFacts, type Workload, type WorkloadName, workloadNameOf } from "./types.ts";
import { operatingSystemOf } from "../../placement/decide/image_support.ts";
import { pinnedArchitectures } from "../../placement/decide/pod/constraints.ts";
import { withoutArchwaysRequirement } from "../../placement/decide/pod/archways_terms.ts";
import { pullIdentityOf } from "../../placement/decide/pod/pod_refs.ts";

export interface InventoryLimits {
  /** Absent: any number. */
  readonly workloads?: number;
  /** Distinct images of all workloads together: each costs a registry a request or two. Absent: any number. */
  readonly images?: number;
  /** Bytes of all workloads, each image with 1 KiB besides its name: tenants decide how large templates are. */
  readonly bytes: number;
}

/** Enough for 100 000 workloads of two images each. */
const LIMITS: InventoryLimits = { bytes: 256 * 2 ** 20 };

/** Bytes that a report holds of a workload's image besides its name: the inspection and what follows from it. */
const IMAGE_BYTES = 1_024;

/** Longest valid kind or name of an owner: nothing checks the owners that a pod names, and reports repeat them. */
const MAX_NAME_LENGTH = 253;

/** Gathers workloads. Add the templates first, CronJobs before Jobs, then the pods: a pod counts for its controller. */
export class Inventory {
  readonly #limits: InventoryLimits;
  readonly #candidates: readonly string[];
  readonly #workloads = new Map<string, Workload>();
  readonly #images = new Set<string>();
  readonly #cronJobOfJob = new Map<string, WorkloadName>();
  #bytes = 0;
  #isComplete = true;

  /** `candidates`: the architectures that the report is about. */
  constructor(limits: InventoryLimits = LIMITS, candidates: readonly string[] = KNOWN_ARCHITECTURES) {
    this.#limits = limits;
    this.#candidates = candidates;
  }

  /** False once something was left out because of the limits. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  workloads(): readonly Workload[] {
    const inOrder = ({ namespace, kind, name }: Workload): string => `${namespace} ${kind} ${name}`;
    return [...this.#workloads.values()].sort((a, b) => inOrder(a) < inOrder(b) ? -1 : 1);
  }

  addTemplate(object: KubeObject, kind: string): void {
    const { namespace = "", name } = object.metadata;
    const pod = podTemplateOf(object);
    if (pod === undefined || hasEnded(object)) return;
    const own = { kind, namespace, name };
    const cronJob = kind === "Job" ? cronJobOf(object, namespace) : undefined;
    if (cronJob === undefined || !this.#workloads.has(workloadNameOf(cronJob))) this.#add(own, pod);
    else if (this.#takes(sizeOf([own, cronJob]))) this.#cronJobOfJob.set(workloadNameOf(own), cronJob);
  }

  addPod(object: KubeObject): void {
    const pod = parsePod(object);
    if (pod !== undefined) this.#add(this.#workloadOf(pod), pod);
  }

  #add(name: WorkloadName, pod: PodView): void {
    const key = workloadNameOf(name);
    const known = this.#workloads.get(key);
    const images = new Set(known?.images);
    for (const { image } of [...pod.containers, ...pod.imageVolumes]) if (image !== "") images.add(image);
    const own = [...images].slice(known?.images.length ?? 0);
    if (own.length === 0) return;
    const more = own.filter((image) => !this.#images.has(image));
    const { workloads = Infinity, images: most = Infinity } = this.#limits;
    const isFull = known === undefined && this.#workloads.size >= workloads;
    if (isFull || this.#images.size + more.length > most) {
      this.#isComplete = false;
      return;
    }
    const facts = known ?? { ...name, ...templateFacts(pod, this.#candidates) };
    const bytes = own.reduce(
      (sum, image) => sum + utf8Length(image) + IMAGE_BYTES,
      known === undefined ? sizeOf(facts) : 0,
    );
    if (!this.#takes(bytes)) return;
    for (const image of more) this.#images.add(image);
    const mounted = new Set([...known?.volumes ?? [], ...pod.imageVolumes.map(({ image }) => image)]);
    const inContainers = new Set(pod.containers.map(({ image }) => image));
    const volumes = [...images].filter((image) => mounted.has(image) && !inContainers.has(image));
    this.#workloads.set(key, { ...facts, images: [...images], volumes });
  }

  #takes(bytes: number): boolean {
    const fits = this.#bytes + bytes <= this.#limits.bytes;
    if (fits) this.#bytes += bytes;
    else this.#isComplete = false;
    return fits;
  }

  /** A pod of a ReplicaSet belongs to the Deployment that the ReplicaSet is named after, where there is one. */
  #workloadOf(pod: PodView): WorkloadName {
    const { namespace } = pod;
    const controller = pod.owners.find((owner) => owner.controller);
    // The owner of a static pod is its Node.
    if (controller === undefined || controller.kind === "Node" || isTooLong(controller)) {
      return { kind: "Pod", namespace, name: pod.name };
    }
    const { kind, name } = controller;
    const hash = entryOf(pod.labels, "pod-template-hash");
    if (kind === "ReplicaSet" && hash !== undefined && name.endsWith(`-${hash}`)) {
      const deployment = { kind: "Deployment", namespace, name: name.slice(0, -hash.length - 1) };
      if (this.#workloads.has(workloadNameOf(deployment))) return deployment;
    }
    return this.#cronJobOfJob.get(workloadNameOf({ kind, namespace, name })) ?? { kind, namespace, name };
  }
}

function isTooLong({ kind, name }: Pick<WorkloadName, "kind" | "name">): boolean {
  return Math.max(kind.length, name.length) > MAX_NAME_LENGTH;
}

function sizeOf(value: unknown): number {
  return utf8Length(JSON.stringify(value));
}

function cronJobOf({ metadata }: KubeObject, namespace: string): WorkloadName | undefined {
  const owner = (listAt(metadata, "ownerReferences") ?? []).find((one) => textAt(one, "kind") === "CronJob");
  return owner === undefined ? undefined : { kind: "CronJob", namespace, name: textAt(owner, "name") };
}

function hasEnded(object: KubeObject): boolean {
  const conditions = parseConditions(objectAt(object, "status"));
  return isTrue(conditions, "Complete") || isTrue(conditions, "Failed");
}

/** Reduces a pod, or the pod of a template, to what a report about the candidates reads of it. */
export function templateFacts(pod: PodView, candidates: readonly string[]): TemplateFacts {
  return {
    identity: pullIdentityOf(pod),
    os: operatingSystemOf(pod),
    runtimeClassName: pod.runtimeClassName,
    constrainedTo: pinnedArchitectures(withoutArchwaysRequirement(pod), candidates),
  };
}
