// Durations as people write them (`60s`, `5m`, `1h30m`, `250ms`) to milliseconds and back.
import * as z from "zod";

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export function parseDuration(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) return undefined;
  let totalMs = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/gy)) {
    totalMs += Number(amount) * (UNIT_MS[unit ?? ""] ?? NaN);
  }
  return Number.isSafeInteger(Math.round(totalMs)) ? Math.round(totalMs) : undefined;
}

/** Renders milliseconds for a person: `250ms`, `12s`, `3m20s`, `1h5m`. */
export function renderDuration(totalMs: number): string {
  if (totalMs < 1_000) return `${Math.round(totalMs)}ms`;
  const seconds = Math.round(totalMs / 1_000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  const rest = (amount: number, unit: string): string => (amount === 0 ? "" : `${amount}${unit}`);
  if (minutes < 60) return `${minutes}m${rest(seconds % 60, "s")}`;
  return `${Math.floor(minutes / 60)}h${rest(minutes % 60, "m")}`;
}

const NO_DURATION = "is not a duration like 30s, 5m or 1h30m";

/** A text that is a duration above zero, as milliseconds. */
export const Duration = z.string({ error: NO_DURATION }).transform((text, context): number => {
  const ms = parseDuration(text);
  if (ms !== undefined && ms > 0) return ms;
  context.addIssue({ code: "custom", message: NO_DURATION });
  return z.NEVER;
});
