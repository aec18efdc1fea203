// Retry or give up: a permanent failure is confirmed once, a transient one is retried until the maximum gate age.
import { INSPECT_RETRY_LIMIT, PodLabel } from "../../names.ts";
import type { ImageFailure } from "./decision_types.ts";
import { entryOf } from "../../json.ts";
import type { PlacementFacts } from "./facts.ts";
import type { PodView } from "./pod/pod_view.ts";

/** A permanent failure is confirmed once, after this long. */
const CONFIRM_AFTER_MS = 1_000;

/** First and longest wait after a transient failure: pods are placed within 10 s after their registry recovers. */
const BACKOFF_MS = { first: 500, longest: 4_000 } as const;

/** If the next attempt would be too late, a last one is made this long before the deadline (ms). */
const LAST_CHANCE_MS = 1_500;

/** The wait before the next attempt (ms); undefined to give up. */
export function nextAttemptAfterMs(
  { failure }: Pick<ImageFailure, "failure">,
  facts: Pick<PlacementFacts, "settings" | "gateAgeMs" | "failedAttempts" | "permanentFailures" | "jitter">,
): number | undefined {
  const leftMs = facts.settings.maxGateAgeMs - facts.gateAgeMs;
  if (failure.kind === "permanent") {
    return facts.permanentFailures === 0 && leftMs > CONFIRM_AFTER_MS ? CONFIRM_AFTER_MS : undefined;
  }
  const ceilingMs = Math.min(BACKOFF_MS.longest, BACKOFF_MS.first * 2 ** Math.min(facts.failedAttempts, 10));
  const backoffMs = Math.round(ceilingMs * (0.75 + 0.5 * facts.jitter));
  const wantedMs = Math.max(backoffMs, failure.retryAfterMs ?? 0);
  if (wantedMs <= leftMs - LAST_CHANCE_MS) return wantedMs;
  const lastMs = leftMs - LAST_CHANCE_MS;
  return lastMs >= BACKOFF_MS.first ? lastMs : undefined;
}

/** The count label of a waiting pod: one more than before, but below the value for "given up". */
export function failingCount(pod: PodView, failedAttempts: number): number {
  const label = entryOf(pod.labels, PodLabel.inspectErrorCount) ?? "";
  const before = /^\d{1,9}$/.test(label) ? Number(label) : 0;
  return Math.min(Math.max(before, failedAttempts) + 1, INSPECT_RETRY_LIMIT - 1);
}

/** The failure in one line for users, at most 256 code points. */
export function failureText({ image, failure }: ImageFailure): string {
  const text = failure.message.includes(image)
    ? failure.message
    : `Cannot inspect image "${image}": ${failure.message}`;
  return clip(text, 256);
}

/** Cuts a text to `maxCodePoints`, the last of which is then an ellipsis. */
export function clip(text: string, maxCodePoints: number): string {
  if (text.length <= maxCodePoints) return text;
  const points = Array.from(text);
  return points.length <= maxCodePoints ? text : points.slice(0, maxCodePoints - 1).join("") + "…";
}
