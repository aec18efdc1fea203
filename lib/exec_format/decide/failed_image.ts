// Images that claim an architecture which their program lacks, recorded as ENoExecEvents in Archway's namespace.
// Tenants cannot write there; every replica reads them, even after a restart. Records expire, and their number is
// bounded.
import { parseTime, renderExactTime } from "../../vocabulary/time.ts";
import { apiVersionOf, type KubeObject, Resource } from "../../k8s/types.ts";
import { EnoexecAnnotation, EnoexecLabel } from "../../names.ts";
import { SHA256_DIGEST } from "../../oci/reference.ts";
import type { PodContainer } from "./container.ts";
import { endedAtOnce } from "./suspect.ts";

export interface FailedImage {
  /** `sha256:…`, what the image's name resolves to. */
  readonly digest: string;
  readonly architecture: string;
  /** Namespace of the pods that have failed: the record counts for it. */
  readonly namespace: string;
  /** The last nodes where certainly the image's own program failed; with enough nodes the record counts everywhere. */
  readonly nodes: readonly string[];
  /** As the pod named it; for people. */
  readonly image: string;
  /** When it last failed (epoch ms). */
  readonly atMs: number;
}

/** How long (ms) an image counts as failed, since the node may have been at fault. */
export const FAILED_TTL_MS = 7 * 86_400_000;
/** An image is avoided everywhere when its own program has failed in this many namespaces and on this many nodes. */
const WITNESSES = 2;
export const MAX_FAILED_IMAGES = 500;
/** Limit for one namespace: a user who pushes images without end displaces no records of others. */
export const MAX_FAILED_IMAGES_OF_NAMESPACE = 50;

const ARCHITECTURE = /^[a-z0-9]{1,20}$/;
const MAX_IMAGE_LENGTH = 255;

/** Undefined for a malformed digest or architecture. */
export function buildFailedImage(failed: FailedImage, ownNamespace: string): KubeObject | undefined {
  const { digest, architecture, namespace, nodes, image, atMs } = failed;
  const hex = SHA256_DIGEST.exec(digest)?.[1];
  if (hex === undefined || !ARCHITECTURE.test(architecture)) return undefined;
  return {
    apiVersion: apiVersionOf(Resource.enoexecEvents),
    kind: Resource.enoexecEvents.kind,
    metadata: {
      name: `failed-${architecture}-${hex.slice(0, 40)}-${namespace}`,
      namespace: ownNamespace,
      labels: { [EnoexecLabel.failedArchitecture]: architecture },
      annotations: {
        [EnoexecAnnotation.failedDigest]: digest,
        [EnoexecAnnotation.failedIn]: namespace,
        [EnoexecAnnotation.failedNodes]: nodes.join(),
        [EnoexecAnnotation.failedImage]: image.slice(0, MAX_IMAGE_LENGTH),
        [EnoexecAnnotation.at]: renderExactTime(atMs),
      },
    },
  };
}

export function isFailedImage({ metadata }: KubeObject): boolean {
  return metadata.labels?.[EnoexecLabel.failedArchitecture] !== undefined;
}

export function parseFailedImage({ metadata }: KubeObject): FailedImage | undefined {
  const architecture = metadata.labels?.[EnoexecLabel.failedArchitecture];
  const annotations = metadata.annotations ?? {};
  const digest = annotations[EnoexecAnnotation.failedDigest];
  const atMs = parseTime(annotations[EnoexecAnnotation.at]);
  const namespace = annotations[EnoexecAnnotation.failedIn] ?? "";
  if (architecture === undefined || digest === undefined || atMs === undefined || namespace === "") return undefined;
  return {
    digest,
    architecture,
    namespace,
    nodes: (annotations[EnoexecAnnotation.failedNodes] ?? "").split(",").filter((node) => node !== ""),
    image: annotations[EnoexecAnnotation.failedImage] ?? "",
    atMs,
  };
}

export interface RecordName {
  readonly name: string;
  readonly namespace: string;
}

export function renewFailedImage(failed: FailedImage, before: FailedImage | undefined): FailedImage {
  return { ...failed, nodes: [...new Set([...failed.nodes, ...before?.nodes ?? []])].slice(0, WITNESSES) };
}

/** Whether a record may be added, by the limits in all and for its namespace. A record that exists may be renewed. */
export function isWithinLimits(record: RecordName, records: readonly RecordName[]): boolean {
  if (records.some(({ name }) => name === record.name)) return true;
  const own = records.filter(({ namespace }) => namespace === record.namespace);
  return records.length < MAX_FAILED_IMAGES && own.length < MAX_FAILED_IMAGES_OF_NAMESPACE;
}

/** Sorted. Reports from one namespace or node alone may be an attacker's: they do not count for other namespaces. */
export function failedArchitectures(
  records: Iterable<FailedImage>,
  wanted: { readonly digest: string; readonly namespace: string; readonly nowMs: number },
): readonly string[] {
  const sinceMs = wanted.nowMs - FAILED_TTL_MS;
  const fresh = [...records].filter(({ digest, atMs }) => digest === wanted.digest && atMs > sinceMs);
  const counting = fresh.filter(({ architecture, namespace }) =>
    namespace === wanted.namespace || countsEverywhere(fresh.filter((other) => other.architecture === architecture))
  );
  return [...new Set(counting.map(({ architecture }) => architecture))].sort();
}

function countsEverywhere(records: readonly FailedImage[]): boolean {
  const certain = records.filter(({ nodes }) => nodes.length > 0);
  const namespaces = new Set(certain.map(({ namespace }) => namespace));
  const nodes = new Set(certain.flatMap(({ nodes }) => nodes));
  return namespaces.size >= WITNESSES && nodes.size >= WITNESSES;
}

export interface FailedStart {
  readonly container: PodContainer;
  /** Whether it was certainly the first program of the container, so that no other process can have started it. */
  readonly isEntryPoint: boolean;
  readonly podNamespace: string;
  readonly nodeName: string;
  readonly architecture: string;
  readonly inspected: { readonly digest: string; readonly architectures: readonly string[] } | undefined;
  /** A RuntimeClass may have its own kernel: what fails under it says nothing about the image elsewhere. */
  readonly runtimeClassName: string;
  readonly nowMs: number;
}

/**
 * The record to keep; undefined when the start says nothing about the image. The container must have ended at once, and
 * its image must claim the node's architecture. A user of the pod may have caused the failure: the program was not the
 * container's first, or the pod changes what is started. Then the record names no node, and counts in the pod's
 * namespace only. Otherwise a tenant could make Archway avoid the images of others.
 */
export function failedImageOf(facts: FailedStart): FailedImage | undefined {
  const { container, isEntryPoint, podNamespace, nodeName, architecture, inspected, runtimeClassName, nowMs } = facts;
  if (inspected === undefined || runtimeClassName !== "" || !endedAtOnce(container)) return undefined;
  const { digest, architectures } = inspected;
  if (!architectures.includes(architecture)) return undefined;
  // Judged by the status of the latest container: the image in the spec can be changed while a container runs.
  const isSame = container.imageId.endsWith(digest) && container.end?.id === container.ids[0];
  return {
    digest,
    architecture,
    namespace: podNamespace,
    nodes: isEntryPoint && isSame && container.runsImageUnchanged ? [nodeName] : [],
    image: container.image,
    atMs: nowMs,
  };
}
