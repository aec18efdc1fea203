// Reports one container: label and event on the pod, a metric, and a record if the image lacks a claimed architecture.
import { type PodContainer, podContainers } from "../../lib/exec_format/decide/container.ts";
import {
  buildFailedImage,
  type FailedImage,
  failedImageOf,
  isWithinLimits,
  parseFailedImage,
  type RecordName,
  renewFailedImage,
} from "../../lib/exec_format/decide/failed_image.ts";
import { describeFailure, type FailureFacts } from "../../lib/exec_format/decide/message.ts";
import type { FailureSource } from "../../lib/exec_format/reported.ts";
import { isNotFound } from "../../lib/k8s/api_error.ts";
import { listAll } from "../../lib/k8s/lists.ts";
import type { JsonPatch } from "../../lib/k8s/patch.ts";
import { type KubeObject, Resource } from "../../lib/k8s/types.ts";
import { errorText } from "../../lib/log.ts";
import { inspectInBackground } from "../../lib/placement/images/background.ts";
import { EnoexecLabel, EventReason, PodLabel } from "../../lib/names.ts";
import { emulatedFor, operatingSystemOf, usablePlatforms } from "../../lib/placement/decide/image_support.ts";
import { imagesToInspect } from "../../lib/placement/decide/images_to_inspect.ts";
import { LABELS, mapOperations } from "../../lib/placement/decide/patch/pod_patch.ts";
import { podObject, pullIdentityOf } from "../../lib/placement/decide/pod/pod_refs.ts";
import { parsePod, type PodView } from "../../lib/placement/decide/pod/pod_view.ts";
import type { ExecFormatRun } from "./deps.ts";

interface SeenFailure extends Omit<FailureFacts, "pod" | "imageArchitectures"> {
  readonly pod: KubeObject;
  readonly source: FailureSource;
  /** Whether the kernel certainly refused a program: seen by the daemon, or in the container's last output. */
  readonly isCertain: boolean;
  readonly isEntryPoint: boolean;
  readonly wasReported: boolean;
}

interface KnownImage {
  readonly digest: string;
  /** Includes those that the pod's RuntimeClass emulates. */
  readonly architectures: readonly string[];
}

const INSPECT_MS = 3_000;
/** The first slot of these events, after placement's. Each container has one, where a repeat only counts up. */
const FIRST_SLOT = 10;

/** Returns whether the pod still exists. Throws ApiError when the label cannot be written. */
export async function reportFailure(run: ExecFormatRun, seen: SeenFailure): Promise<"reported" | "gone"> {
  const { metrics, reported, log, clock } = run;
  const { container, architecture, source } = seen;
  const view = parsePod(seen.pod);
  if (view === undefined || await labelPod(run, seen.pod) === "gone") return "gone";
  const name = container?.name ?? "";
  const before = reported.note(view.uid, name, source);
  if (before === "merged") return "reported";
  const image = container === undefined ? undefined : await inspectContainer(run, view, container);
  postEvent(run, seen, view, image);
  if (before === "again") return "reported";
  if (!seen.wasReported) metrics.archway_exec_format_errors_total.inc({ source });
  const { namespace, name: pod, nodeName: node } = view;
  reported.remember({ atMs: clock.nowMs(), namespace, pod, container: name, node, architecture });
  log.info("exec format error reported", { namespace, pod, container: name, node, source });
  await followUp(run, seen, view, image);
  return "reported";
}

/** Records the image and considers a repair. Failures do not affect the report. */
async function followUp(
  run: ExecFormatRun,
  { container, architecture, isCertain, isEntryPoint }: SeenFailure,
  view: PodView,
  inspected: KnownImage | undefined,
): Promise<void> {
  const { namespace: podNamespace, nodeName, runtimeClassName } = view;
  const nowMs = run.clock.nowMs();
  const start = { isEntryPoint, podNamespace, nodeName, architecture, inspected, runtimeClassName, nowMs };
  try {
    const failed = container === undefined || !isCertain ? undefined : failedImageOf({ container, ...start });
    if (failed !== undefined) await recordImage(run, failed);
    run.considerRepair(view, architecture);
  } catch (error) {
    if (run.signal.aborted) throw error;
    run.log.warn("failed image not remembered", { error: errorText(error) });
  }
}

async function recordImage(
  { api, log, signal, settings: { namespace } }: ExecFormatRun,
  failed: FailedImage,
): Promise<void> {
  const name = buildFailedImage(failed, namespace)?.metadata.name;
  if (name === undefined) return;
  const records: RecordName[] = [];
  let before: FailedImage | undefined;
  const labelSelector = EnoexecLabel.failedArchitecture;
  for await (const object of listAll(api, Resource.enoexecEvents, { namespace, labelSelector, signal })) {
    const record = parseFailedImage(object);
    records.push({ name: object.metadata.name, namespace: record?.namespace ?? "" });
    if (object.metadata.name === name) before = record;
  }
  const { namespace: by, digest, architecture } = failed;
  if (!isWithinLimits({ name, namespace: by }, records)) {
    return log.warn("failed image not remembered: there are too many", { records: records.length, by });
  }
  const document = buildFailedImage(renewFailedImage(failed, before), namespace);
  await api.patch(Resource.enoexecEvents, { namespace, name }, {
    body: { kind: "apply", document },
    signal,
  });
  log.info("image fails on an architecture that it claims", { digest, architecture });
}

function postEvent(
  { events }: ExecFormatRun,
  seen: SeenFailure,
  view: PodView,
  image: KnownImage | undefined,
): void {
  const { container } = seen;
  const position = podContainers(seen.pod).findIndex(({ name }) => name === container?.name);
  events.record({
    object: podObject(view),
    type: "Warning",
    reason: EventReason.execFormatError,
    message: describeFailure({ ...seen, pod: view, imageArchitectures: image?.architectures }),
    slot: FIRST_SLOT + position,
  });
}

/** Sets only the label, if it is still the same pod. Never changes pods of audited namespaces. */
async function labelPod({ api, settingsOf, signal }: ExecFormatRun, pod: KubeObject): Promise<"labelled" | "gone"> {
  const { name, namespace = "", uid, labels } = pod.metadata;
  if (labels?.[PodLabel.execFormatError] === "true" || settingsOf(namespace).audit) return "labelled";
  const operations: JsonPatch = [
    { op: "test", path: "/metadata/uid", value: uid },
    ...mapOperations(LABELS, labels, new Map([[PodLabel.execFormatError, "true"]])),
  ];
  try {
    await api.patch(Resource.pods, { namespace, name }, { body: { kind: "json", operations }, signal });
    return "labelled";
  } catch (error) {
    if (isNotFound(error)) return "gone";
    throw error;
  }
}

export async function inspectContainer(
  { images: podImages, clock, settingsOf, signal }: ExecFormatRun,
  pod: PodView,
  { image }: PodContainer,
): Promise<KnownImage | undefined> {
  const settings = settingsOf(pod.namespace);
  const wanted = {
    identity: pullIdentityOf(pod),
    images: [{ image, pullsAlways: false }],
    priority: "prewarm",
  } as const;
  const [inspected] = await inspectInBackground(podImages, wanted, { signal, clock, limitMs: INSPECT_MS }) ?? [];
  if (inspected?.inspection.kind !== "platforms") return undefined;
  const { digest, platforms } = inspected.inspection;
  const own = usablePlatforms(platforms, operatingSystemOf(pod)).map(({ architecture }) => architecture);
  // The pod's other images show whether its RuntimeClass is for Wasm.
  const known = podImages.recall({ ...wanted, images: imagesToInspect(pod, settings) })?.images ?? [inspected];
  const emulated = emulatedFor(pod, settings, { platforms, images: known });
  return { digest, architectures: [...new Set([...own, ...emulated])].sort() };
}
