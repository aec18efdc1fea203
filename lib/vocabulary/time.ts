// Points in time as Kubernetes writes them: RFC 3339.

const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})T(?:[01]\d|2[0-3]):\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;

/** Milliseconds since the epoch of an RFC 3339 text; undefined for anything else, and for a day that does not exist. */
export function parseTime(text: unknown): number | undefined {
  const [, year, month, day] = (typeof text === "string" ? RFC3339.exec(text) : null) ?? [];
  if (typeof text !== "string" || year === undefined) return undefined;
  const timeMs = Date.parse(text);
  const lastDay = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  return Number.isNaN(timeMs) || Number(day) > lastDay ? undefined : timeMs;
}

export function renderTime(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 19)}Z`;
}

/** With milliseconds. */
export function renderExactTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

export function renderDay(timeMs: number): string {
  return renderTime(timeMs).slice(0, 10);
}

/** Time since then (ms); 0 when the clock has been set back to before it. */
export function elapsedMs(sinceMs: number, nowMs: number): number {
  return Math.max(0, nowMs - sinceMs);
}

export const MINUTE_MS = 60_000;
