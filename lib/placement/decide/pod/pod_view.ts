// A pod as Archway reads it, parsed from JSON. No schema, because it runs thousands of times a second. Malformed
// members read as absent.
import { parseTolerations, type Toleration } from "../../../vocabulary/taint.ts";
import { parseTime } from "../../../vocabulary/time.ts";
import { pointer } from "../../../k8s/patch.ts";
import { KubeVirt, PodAnnotation } from "../../../names.ts";
import { pullSecretNames } from "../../../vocabulary/pull_identity.ts";
import {
  heapBytesOf,
  isObject,
  type JsonObject,
  listAt,
  memberOf,
  objectAt,
  textAt,
  textEntries,
  textMapAt,
  utf8Length,
} from "../../../json.ts";
import type { DecisionRecord } from "../decision_types.ts";
import { parseRecord } from "./record.ts";

export interface ContainerView {
  readonly name: string;
  readonly image: string;
  /** `Always`, `IfNotPresent`, `Never`; empty when unset. */
  readonly pullPolicy: string;
  /** JSON Pointer of the image inside the pod: `/spec/containers/0/image`. */
  readonly imagePointer: string;
}

interface OwnerView {
  readonly apiVersion: string;
  readonly kind: string;
  readonly uid: string;
  readonly name: string;
  readonly controller: boolean;
}

interface MetadataView {
  readonly uid: string;
  readonly name: string;
  readonly generateName: string;
  readonly resourceVersion: string;
  readonly createdMs: number | undefined;
  readonly isDeleting: boolean;
  readonly labels: Readonly<Record<string, string>> | undefined;
  /** Only Archway's annotations; undefined when the pod has no annotations object. */
  readonly annotations: Readonly<Record<string, string>> | undefined;
  /** The decision record among them, if valid. */
  readonly record: DecisionRecord | undefined;
  /** Total UTF-8 bytes of all annotation keys and values. */
  readonly annotationBytes: number;
}

interface AffinityView {
  readonly hasAffinity: boolean;
  readonly hasNodeAffinity: boolean;
  /** Raw required terms; undefined without `required…`, empty when it has no list. */
  readonly requiredTerms: readonly JsonObject[] | undefined;
  /** Whether `required…` has a `nodeSelectorTerms` list (it may be an object without one). */
  readonly hasRequiredTermsList: boolean;
  /** Raw preferred terms; undefined when the list is absent. */
  readonly preferredTerms: readonly JsonObject[] | undefined;
}

/** Missing, null or malformed members read as absent (undefined, or empty for a text). */
export interface PodView extends MetadataView, AffinityView {
  readonly namespace: string;
  readonly phase: string;
  readonly nodeName: string;
  readonly nodeSelector: Readonly<Record<string, string>> | undefined;
  /** Names of the scheduling gates in order; undefined without a list. */
  readonly gates: readonly string[] | undefined;
  /** Init containers (including sidecars), then main containers, each in order. */
  readonly containers: readonly ContainerView[];
  readonly ephemeralContainers: readonly ContainerView[];
  /** Images of `volumes[].image`, and of containers that hold the disks of a virtual machine. */
  readonly imageVolumes: readonly ContainerView[];
  readonly imagePullSecrets: readonly string[];
  readonly serviceAccountName: string;
  readonly tolerations: readonly Toleration[] | undefined;
  readonly owners: readonly OwnerView[];
  readonly isDaemonSetControlled: boolean;
  readonly osName: string;
  readonly runtimeClassName: string;
}

const NOTHING: readonly never[] = [];
const CONTAINER_LISTS = ["initContainers", "containers"] as const;
const OWN_ANNOTATIONS: ReadonlySet<string> = new Set(Object.values(PodAnnotation));

/** Undefined if it is not a pod; never throws. The admission request's `context.namespace` wins. */
export function parsePod(object: unknown, context: { readonly namespace?: string } = {}): PodView | undefined {
  const kind = memberOf(object, "kind");
  const spec = objectAt(object, "spec");
  if (spec === undefined || (kind !== undefined && kind !== "Pod")) return undefined;
  const metadata = objectAt(object, "metadata");
  const isDisk = isForAnyGuest(spec, metadata) ? holdsDisk : () => false;
  const owners = listAt(metadata, "ownerReferences")?.filter(isObject).map(parseOwner) ?? NOTHING;
  return {
    ...parseMetadata(metadata),
    ...parseAffinity(spec),
    namespace: context.namespace ?? textAt(metadata, "namespace"),
    phase: textAt(memberOf(object, "status"), "phase"),
    nodeName: textAt(spec, "nodeName"),
    nodeSelector: textMapAt(spec, "nodeSelector"),
    gates: listAt(spec, "schedulingGates")?.map((gate) => textAt(gate, "name")),
    containers: CONTAINER_LISTS.flatMap((list) => parseContainers(spec, list, (container) => !isDisk(container))),
    ephemeralContainers: parseContainers(spec, "ephemeralContainers"),
    imageVolumes: [
      ...parseImageVolumes(spec),
      ...CONTAINER_LISTS.flatMap((list) => parseContainers(spec, list, isDisk)),
    ],
    imagePullSecrets: pullSecretNames(listAt(spec, "imagePullSecrets")),
    serviceAccountName: textAt(spec, "serviceAccountName"),
    tolerations: parseTolerations(spec),
    owners,
    isDaemonSetControlled: owners.some((owner) => owner.kind === "DaemonSet" && owner.controller),
    osName: textAt(objectAt(spec, "os"), "name"),
    runtimeClassName: textAt(spec, "runtimeClassName"),
  };
}

function parseMetadata(metadata: JsonObject | undefined): MetadataView {
  const annotations = objectAt(metadata, "annotations");
  return {
    uid: textAt(metadata, "uid"),
    name: textAt(metadata, "name"),
    generateName: textAt(metadata, "generateName"),
    resourceVersion: textAt(metadata, "resourceVersion"),
    createdMs: parseTime(memberOf(metadata, "creationTimestamp")),
    isDeleting: textAt(metadata, "deletionTimestamp") !== "",
    labels: textMapAt(metadata, "labels"),
    annotationBytes: annotations === undefined ? 0 : bytesOf(annotations),
    annotations: annotations === undefined ? undefined : textEntries(annotations, (key) => OWN_ANNOTATIONS.has(key)),
    record: parseRecord(textAt(annotations, PodAnnotation.decision)),
  };
}

function bytesOf(map: JsonObject): number {
  let bytes = 0;
  for (const key of Object.keys(map)) bytes += utf8Length(key) + utf8Length(textAt(map, key));
  return bytes;
}

function parseAffinity(spec: JsonObject): AffinityView {
  const affinity = objectAt(spec, "affinity");
  const nodeAffinity = objectAt(affinity, "nodeAffinity");
  const required = objectAt(nodeAffinity, "requiredDuringSchedulingIgnoredDuringExecution");
  const terms = listAt(required, "nodeSelectorTerms");
  return {
    hasAffinity: affinity !== undefined,
    hasNodeAffinity: nodeAffinity !== undefined,
    requiredTerms: required === undefined ? undefined : (terms ?? NOTHING).map(rawOrEmpty),
    hasRequiredTermsList: terms !== undefined,
    preferredTerms: listAt(nodeAffinity, "preferredDuringSchedulingIgnoredDuringExecution")?.map(rawOrEmpty),
  };
}

/** Whether the pod runs a KubeVirt virtual machine on any node that supports the guest's architecture (VEP 172). */
function isForAnyGuest(spec: JsonObject, metadata: JsonObject | undefined): boolean {
  return textAt(objectAt(metadata, "labels"), KubeVirt.label) === KubeVirt.launcher &&
    Object.keys(objectAt(spec, "nodeSelector") ?? {}).some((key) => key.startsWith(KubeVirt.guestLabel));
}

/** Whether a container of such a pod holds a disk: its program is from the launcher's image, its own image is data. */
function holdsDisk(container: unknown): boolean {
  return listAt(container, "command")?.[0] === KubeVirt.diskProgram;
}

function parseContainers(
  spec: JsonObject,
  list: string,
  isWanted: (container: unknown) => boolean = () => true,
): readonly ContainerView[] {
  return (listAt(spec, list) ?? NOTHING).flatMap((container, index) => {
    if (!isWanted(container)) return [];
    return [{
      name: textAt(container, "name"),
      image: textAt(container, "image"),
      pullPolicy: textAt(container, "imagePullPolicy"),
      imagePointer: pointer("spec", list, index, "image"),
    }];
  });
}

function parseImageVolumes(spec: JsonObject): readonly ContainerView[] {
  const volumes = listAt(spec, "volumes") ?? NOTHING;
  return volumes.flatMap((volume, index) => {
    const image = objectAt(volume, "image");
    const reference = textAt(image, "reference");
    if (reference === "") return [];
    return [{
      name: textAt(volume, "name"),
      image: reference,
      pullPolicy: textAt(image, "pullPolicy"),
      imagePointer: pointer("spec", "volumes", index, "image", "reference"),
    }];
  });
}

function parseOwner(owner: JsonObject): OwnerView {
  return {
    apiVersion: textAt(owner, "apiVersion"),
    kind: textAt(owner, "kind"),
    uid: textAt(owner, "uid"),
    name: textAt(owner, "name"),
    controller: memberOf(owner, "controller") === true,
  };
}

/** Keeps list positions despite malformed entries, because patches name terms by index. */
function rawOrEmpty(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** Most heap bytes of a view that is kept in memory. A usual one takes 3 000 to 12 000. */
export const KEPT_VIEW_BYTES = 48 * 1024;

export function bytesOfView(pod: PodView): number {
  return heapBytesOf(JSON.stringify(pod));
}

/** Whether it is too large to keep: owners can make labels, terms and containers up to 1.5 MB. */
export function isLarge(pod: PodView): boolean {
  return bytesOfView(pod) > KEPT_VIEW_BYTES;
}

export function unlessLarge(pod: PodView | undefined): PodView | undefined {
  return pod === undefined || isLarge(pod) ? undefined : pod;
}

/** The template of a Deployment, StatefulSet, DaemonSet, Job or CronJob as a pod; undefined when there is none. */
export function podTemplateOf(workload: unknown): PodView | undefined {
  const spec = objectAt(workload, "spec");
  const template = objectAt(spec, "template") ?? objectAt(objectAt(objectAt(spec, "jobTemplate"), "spec"), "template");
  if (template === undefined) return undefined;
  const namespace = textAt(memberOf(workload, "metadata"), "namespace");
  return parsePod({ metadata: template.metadata, spec: template.spec }, { namespace });
}
