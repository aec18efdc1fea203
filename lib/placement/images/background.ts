// Inspections that delay no pod: for templates and audited pods. They give up early and are retried later.
import { type Backoff, type Clock, doublingMs, openDeadline, orAborted } from "../../clock.ts";
import type { InspectedImage } from "../../oci/inspection.ts";
import type { PodImageInspector, PodImagesRequest } from "./pod_image_inspector.ts";

/** Time limit for images of templates and audited pods (ms), so that slow registries soon free their permits. */
export const BACKGROUND_LIMIT_MS = 10_000;
export const BACKGROUND_RETRY_MS = 60_000;

/** Pauses between background attempts: an image that delays no pod may fail forever. */
const BACKGROUND_RETRIES: Backoff = { baseMs: BACKGROUND_RETRY_MS, capMs: 3_600_000 };

/** When to retry templates with unreadable images: after a minute, then ever later, up to an hour. */
export class BackgroundRetries {
  readonly #attempts = new Map<string, number>();

  /** The wait of a key after another failure (ms). */
  afterMs(key: string): number {
    const attempt = (this.#attempts.get(key) ?? 0) + 1;
    this.#attempts.set(key, attempt);
    return doublingMs(attempt, BACKGROUND_RETRIES);
  }

  clear(key: string): void {
    this.#attempts.delete(key);
  }
}

/** The result of `inspect`; undefined if it takes longer than `limitMs`. Images read by then stay cached. */
export async function inspectInBackground(
  images: Pick<PodImageInspector, "inspect">,
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

export function isTransientFailure({ inspection }: InspectedImage): boolean {
  return inspection.kind === "failed" && inspection.failure.kind === "transient";
}
