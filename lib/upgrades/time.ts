// Points in time as Kubernetes writes them.

const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;

/** Milliseconds since the epoch of an RFC 3339 text; undefined when it is none, or names a day that does not exist. */
export function parseTime(text: string): number | undefined {
  const [, year, month, day] = RFC3339.exec(text) ?? [];
  if (year === undefined || month === undefined || day === undefined) return undefined;
  const timeMs = Date.parse(text);
  const lastDay = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  return Number.isNaN(timeMs) || Number(day) > lastDay ? undefined : timeMs;
}

/** RFC 3339 in whole seconds of UTC. */
export function renderTime(timeMs: number): string {
  return new Date(timeMs).toISOString().replace(/\.\d{3}Z$/, "Z");
}

/** How long ago a time was; 0 when the clock has been set back behind it (ms). */
export function elapsedMs(sinceMs: number, nowMs: number): number {
  return Math.max(0, nowMs - sinceMs);
}

/** A minute (ms). */
export const MINUTE_MS = 60_000;
