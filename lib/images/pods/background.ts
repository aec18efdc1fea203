// Inspections that hold up no pod: those of templates and of audited pods. They give up early, and are tried again later.
import { type Clock, type Doubling, doublingMs, orAborted } from "../../clock.ts";
import { openDeadline } from "../../k8s/deadline.ts";
import type { InspectedImage } from "../../oci/types.ts";
import type { PodImages, PodImagesRequest } from "./pod_images.ts";

/** How long images of templates and audited pods are waited for (ms): a slow registry holds no permit for long. */
export const BACKGROUND_LIMIT_MS = 10_000;
export const BACKGROUND_RETRY_MS = 60_000;

/** Pauses between background attempts: an image that holds up no pod may fail for good. */
const BACKGROUND_RETRIES: Doubling = { baseMs: BACKGROUND_RETRY_MS, capMs: 3_600_000 };

/** When templates whose images could not be read are read again: after a minute, then ever later, up to an hour. */
export class BackgroundRetries {
  readonly #attempts = new Map<string, number>();

  /** How long a key waits that has failed once more (ms). */
  afterMs(key: string): number {
    const attempt = (this.#attempts.get(key) ?? 0) + 1;
    this.#attempts.set(key, attempt);
    return doublingMs(attempt, BACKGROUND_RETRIES);
  }

  clear(key: string): void {
    this.#attempts.delete(key);
  }
}

/** What `inspect` gives; undefined when it is not there in time, by default ten seconds: what was read until then is known. */
export async function inspectInBackground(
  images: Pick<PodImages, "inspect">,
  request: PodImagesRequest,
  { signal, clock, limitMs = BACKGROUND_LIMIT_MS }: {
    readonly signal: AbortSignal;
    readonly clock: Clock;
    readonly limitMs?: number;
  },
): Promise<readonly InspectedImage[] | undefined> {
  using deadline = openDeadline(limitMs, { signal, clock });
  try {
    return await orAborted(images.inspect(request, deadline.signal), deadline.signal);
  } catch (error) {
    if (deadline.signal.aborted && !signal.aborted) return undefined;
    throw error;
  }
}

export function mayPass({ inspection }: InspectedImage): boolean {
  return inspection.kind === "failed" && inspection.failure.kind === "transient";
}
