// What a registry says of its own load: `Retry-After` and the rate limit headers. Pure.

/** `Retry-After` in ms from seconds or an HTTP date; undefined when absent or unreadable. At most ten minutes. */
export function parseRetryAfter(value: string | null, nowMs: number): number | undefined {
  if (value === null) return undefined;
  const ms = /^\s*\d{1,9}\s*$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - nowMs;
  return Number.isFinite(ms) ? Math.min(Math.max(0, ms), 600_000) : undefined;
}

/** Requests left in the current window: `RateLimit-Remaining: 76;w=21600`, also under its older names. */
export function parseRemaining(headers: Headers): number | undefined {
  const names = ["ratelimit-remaining", "x-ratelimit-remaining"];
  const value = names.map((name) => headers.get(name)).find((text) => text !== null);
  const [, digits] = /^\s*(\d{1,12})/.exec(value ?? "") ?? [];
  return digits === undefined ? undefined : Number(digits);
}
