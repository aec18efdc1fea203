// What `archway explain` says of programs of another architecture in a pod: the messages of its events, and what is recorded
// of its images. Read only where the pod has the label.
import type { Clock } from "../clock.ts";
import { failedArchitectures, type FailedImage } from "../enoexec/failed_image.ts";
import type { ListOptions, ReadApi } from "../k8s/api.ts";
import { ApiError } from "../k8s/errors.ts";
import { type KubeObject, Resource } from "../k8s/types.ts";
import { entryOf, textAt } from "../json.ts";
import { EventReason, PodAnnotation, PodLabel } from "../names.ts";
import { parseRecord } from "../placement/patch/record.ts";
import type { PodView } from "../placement/types.ts";
import { readFailedImages } from "./failed_images.ts";

/** Events of a pod that are read: it has one for each such container. */
const MAX_EVENTS = 50;

/** The sentences; none for a pod without the label. What may not be read is left out. */
export async function readExecFormatErrors(
  { api, clock }: { readonly api: ReadApi; readonly clock: Clock },
  pod: PodView,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (entryOf(pod.labels, PodLabel.execFormatError) !== "true") return [];
  const { namespace, name } = pod;
  const fieldSelector = `involvedObject.name=${name},reason=${EventReason.execFormatError}`;
  const events = await listEvents(api, { namespace, fieldSelector, limit: MAX_EVENTS }, signal);
  const failed = await readFailedImages(api, signal);
  const messages = [...new Set(events.map((event) => textAt(event, "message")))];
  return [
    ...messages.length > 0
      ? messages
      : ["A container of it was to run a program of another architecture than its node has."],
    ...rememberedLines(pod, { failed, nowMs: clock.nowMs() + api.serverClockOffsetMs() }),
  ];
}

function rememberedLines(
  pod: PodView,
  { failed, nowMs }: { readonly failed: readonly FailedImage[]; readonly nowMs: number },
): readonly string[] {
  const images = new Set(pod.containers.map(({ image }) => image));
  const decided = parseRecord(entryOf(pod.annotations, PodAnnotation.decision))?.images ?? [];
  const imageOf = new Map([
    ...failed.filter(({ image }) => images.has(image)).map(({ image, digest }) => [digest, image] as const),
    ...decided.map(({ image, digest }) => [digest, image] as const),
  ]);
  return [...imageOf].flatMap(([digest, image]) => {
    const found = failedArchitectures(failed, { digest, namespace: pod.namespace, nowMs });
    if (found.length === 0) return [];
    return [`Image ${image} claims ${found.join(", ")}, but its program has failed there (${digest.slice(0, 19)}).`];
  });
}

async function listEvents(api: ReadApi, options: ListOptions, signal: AbortSignal): Promise<readonly KubeObject[]> {
  try {
    return (await api.list(Resource.events, options, signal)).items;
  } catch (error) {
    if (error instanceof ApiError && (error.status === 403 || error.status === 404)) return [];
    throw error;
  }
}
