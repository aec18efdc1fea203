// What `archway explain` says of programs of another architecture: messages of events, and what is recorded of images.
import type { Clock } from "../clock.ts";
import { failedArchitectures, type FailedImage } from "../exec_format/decide/failed_image.ts";
import { type ReadApi, serverNowMs } from "../k8s/api.ts";
import { listAll } from "../k8s/lists.ts";
import { Resource } from "../k8s/types.ts";
import { entryOf, printable, textAt } from "../json.ts";
import { EventReason, PodLabel } from "../names.ts";
import type { PodView } from "../placement/decide/pod/pod_view.ts";
import { readFailedImages } from "../report/cluster/read_failed_images.ts";
import { isMissingOrForbidden } from "../k8s/api_error.ts";

/** Most events of a pod that are read. Each failed container has one, but users can create more, and large ones. */
const MAX_EVENTS = 50;
/** Longest message that is shown (characters), which is the API server's limit, too. */
const MAX_MESSAGE_LENGTH = 1_024;

/** One sentence for each error; none for a pod without the label. Objects that the caller may not read are left out. */
export async function readExecFormatErrors(
  { api, clock }: { readonly api: ReadApi; readonly clock: Clock },
  pod: PodView,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (entryOf(pod.labels, PodLabel.execFormatError) !== "true") return [];
  const { namespace, name } = pod;
  const messages = await readMessages(api, { namespace, name, signal });
  const { images: failed } = await readFailedImages(api, signal);
  return [
    ...messages.length > 0
      ? messages
      : ["A container of it was to run a program of another architecture than its node has."],
    ...rememberedLines(pod, { failed, nowMs: serverNowMs(clock, api) }),
  ];
}

function rememberedLines(
  pod: PodView,
  { failed, nowMs }: { readonly failed: readonly FailedImage[]; readonly nowMs: number },
): readonly string[] {
  const images = new Set(pod.containers.map(({ image }) => image));
  const decided = pod.record?.images ?? [];
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

/** Reads page by page, because 50 events may have 70 MB, and at most {@link MAX_EVENTS}. */
async function readMessages(
  api: ReadApi,
  { namespace, name, signal }: { readonly namespace: string; readonly name: string; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const fieldSelector = `involvedObject.name=${name},reason=${EventReason.execFormatError}`;
  const messages: string[] = [];
  try {
    for await (const event of listAll(api, Resource.events, { namespace, fieldSelector, signal })) {
      messages.push(printable(textAt(event, "message").slice(0, MAX_MESSAGE_LENGTH)));
      if (messages.length === MAX_EVENTS) break;
    }
  } catch (error) {
    if (!isMissingOrForbidden(error)) throw error;
  }
  return [...new Set(messages)];
}
