// Reports one container: a label and an event on the pod, a metric, and for images that claim what they do not have
// a record.
import { isNotFound } from "../../lib/k8s/errors.ts";
import { openDeadline } from "../../lib/k8s/deadline.ts";
import type { JsonPatch } from "../../lib/k8s/patch.ts";
import { pointer } from "../../lib/k8s/patch.ts";
import { type KubeObject, Resource } from "../../lib/k8s/types.ts";
import { type PodContainer, podContainers } from "../../lib/enoexec/container.ts";
import { failedImageOf } from "../../lib/enoexec/false_claim.ts";
import { describeFailure } from "../../lib/enoexec/message.ts";
import { errorText } from "../../lib/log.ts";
import { EventReason, PodLabel } from "../../lib/names.ts";
import { operatingSystemOf, usablePlatforms } from "../../lib/placement/images.ts";
import { podRef, pullScopeOf } from "../../lib/placement/pod_refs.ts";
import { parsePod } from "../../lib/placement/pod_view.ts";
import type { PodView } from "../../lib/placement/types.ts";
import { entryOf } from "../../lib/json.ts";
import type { ExecFormatDeps } from "./deps.ts";
import { recordImage } from "./record_image.ts";
import type { Repairs } from "./repair.ts";
import type { FailureSource } from "./reported.ts";

/** What was seen. */
export interface SeenFailure {
  readonly pod: KubeObject;
  /** undefined when the pod's status does not show it. */
  readonly container: PodContainer | undefined;
  /** Of the node; empty when it does not say. */
  readonly architecture: string;
  readonly refused: "pull" | "start";
  readonly command: string;
  readonly source: FailureSource;
  /** Whether it is certain that the kernel refused a program: the daemon observed it, or the container's last output shows it. */
  readonly isCertain: boolean;
  /** Whether it is certain that it was the first program of the container. */
  readonly isEntryPoint: boolean;
  /** An earlier leader has reported and counted it. */
  readonly wasReported: boolean;
}

/** What is known of a container's image. */
export interface KnownImage {
  readonly digest: string;
  /** With those that the pod's RuntimeClass emulates. */
  readonly architectures: readonly string[];
}

/** Longest that a report waits for an image that is not in memory (ms). */
const INSPECT_MS = 3_000;
/** Places of a pod's events: placement has those before. One for each container, so that a repeat only counts up. */
const FIRST_SLOT = 10;

/** Reports it. Answers whether the pod was still there. Throws ApiError when the label cannot be written. */
export async function reportFailure(
  deps: ExecFormatDeps,
  seen: SeenFailure,
  { repairs, signal }: { readonly repairs: Repairs; readonly signal: AbortSignal },
): Promise<"reported" | "gone"> {
  const { metrics, reported, log, clock } = deps;
  const { container, architecture, source } = seen;
  const view = parsePod(seen.pod);
  if (view === undefined) return "gone";
  if (await labelPod(deps, seen.pod, signal) === "gone") return "gone";
  const name = container?.name ?? "";
  const before = reported.note({ podUid: view.uid, name }, source);
  if (before === "merged") return "reported";
  const image = container === undefined ? undefined : await inspectContainer(deps, { pod: view, container, signal });
  record(deps, { seen, view, image });
  if (before === "again") return "reported";
  if (!seen.wasReported) metrics.execFormatError(source);
  const { namespace, name: pod, nodeName: node } = view;
  reported.show({ atMs: clock.nowMs(), namespace, pod, container: name, node, architecture });
  log.info("exec format error reported", { namespace, pod, container: name, node, source });
  await follow(deps, { seen, view, image, repairs, signal });
  return "reported";
}

/** What is done besides reporting; the report stands whatever becomes of it. */
async function follow(
  deps: ExecFormatDeps,
  { seen, view, image, repairs, signal }: {
    readonly seen: SeenFailure;
    readonly view: PodView;
    readonly image: KnownImage | undefined;
    readonly repairs: Repairs;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { container, architecture, isCertain, isEntryPoint } = seen;
  try {
    const failed = container === undefined || !isCertain ? undefined : failedImageOf({
      container,
      isEntryPoint,
      podNamespace: view.namespace,
      architecture,
      inspected: image,
      runtimeClassName: view.runtimeClassName,
      nowMs: deps.clock.nowMs(),
    });
    if (failed !== undefined) await recordImage(deps, failed, signal);
    repairs.consider({ pod: view, architecture });
  } catch (error) {
    if (signal.aborted) throw error;
    deps.log.warn("failed image not remembered", { error: errorText(error) });
  }
}

function record(
  { events }: ExecFormatDeps,
  { seen, view, image }: {
    readonly seen: SeenFailure;
    readonly view: PodView;
    readonly image: KnownImage | undefined;
  },
): void {
  const { container } = seen;
  const position = podContainers(seen.pod).findIndex(({ name }) => name === container?.name);
  events.record({
    object: podRef(view),
    type: "Warning",
    reason: EventReason.execFormatError,
    message: describeFailure({ ...seen, pod: view, imageArchitectures: image?.architectures }),
    slot: FIRST_SLOT + position,
  });
}

/** Sets the label, and nothing else, if it is still the same pod. Pods of audited namespaces are left as they are. */
async function labelPod(
  { api, settingsOf }: ExecFormatDeps,
  pod: KubeObject,
  signal: AbortSignal,
): Promise<"labelled" | "gone"> {
  const { name, namespace = "", uid, labels } = pod.metadata;
  if (labels?.[PodLabel.execFormatError] === "true" || settingsOf(namespace).audit) return "labelled";
  const operations: JsonPatch = [
    { op: "test", path: "/metadata/uid", value: uid },
    labels === undefined
      ? { op: "add", path: "/metadata/labels", value: { [PodLabel.execFormatError]: "true" } }
      : { op: "add", path: pointer("metadata", "labels", PodLabel.execFormatError), value: "true" },
  ];
  try {
    await api.patch(Resource.pods, { namespace, name }, { body: { kind: "json", operations }, signal });
    return "labelled";
  } catch (error) {
    if (isNotFound(error)) return "gone";
    throw error;
  }
}

/** What is known of the image, or can be found out in a moment; undefined when that is nothing. */
export async function inspectContainer(
  { images, clock, settingsOf }: ExecFormatDeps,
  { pod, container, signal }: {
    readonly pod: PodView;
    readonly container: PodContainer;
    readonly signal: AbortSignal;
  },
): Promise<KnownImage | undefined> {
  const { image, pullPolicy } = container;
  using deadline = openDeadline(INSPECT_MS, { signal, clock });
  try {
    const wanted = {
      scope: pullScopeOf(pod),
      images: [{ image, always: false, pullPolicy }],
      priority: "prewarm",
    } as const;
    const [inspected] = await images.inspect(wanted, deadline.signal);
    if (inspected?.inspection.kind !== "platforms") return undefined;
    const { digest, platforms } = inspected.inspection;
    const own = usablePlatforms(platforms, operatingSystemOf(pod)).map(({ architecture }) => architecture);
    const rule = entryOf(settingsOf(pod.namespace).runtimeClasses, pod.runtimeClassName);
    const emulated = rule?.kind === "add" ? rule.architectures : [];
    return { digest, architectures: [...new Set([...own, ...emulated])].sort() };
  } catch (error) {
    if (deadline.signal.aborted && !signal.aborted) return undefined;
    throw error;
  }
}
