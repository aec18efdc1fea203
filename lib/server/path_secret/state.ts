// The secret in the paths of the webhooks, and when its parts change. Replicas read a new secret before the API server
// calls by it, and accept the old one for some time after: no call meets a replica that refuses it. At the end: its form in a
// Secret.
//
//   current ──── in the configurations; at the end of its lifetime a `next` is staged, which replicas accept at once
//   next ─────── becomes `current` when `overlapMs` has passed
//   previous ─── accepted until the configurations have carried `current` alone and `graceMs` has passed
import { createHmac } from "node:crypto";
import * as z from "zod";
import type { SecretTexts } from "../../k8s/secret_record.ts";

/** The secret and what overlaps with it. Kept in a Secret; never leaves the process otherwise. */
export interface PathSecret {
  readonly current: string;
  readonly madeAtMs: number;
  /** Accepted already; paths are made of it from `usedFromMs` on. */
  readonly next: { readonly secret: string; readonly usedFromMs: number } | undefined;
  /** Still accepted; it was replaced at `replacedAtMs`. */
  readonly previous: { readonly secret: string; readonly replacedAtMs: number } | undefined;
}

export interface PathTerms {
  readonly lifetimeMs: number;
  /** Time for every replica to read a new secret. */
  readonly overlapMs: number;
  /** Time for every API server to read a changed configuration. */
  readonly graceMs: number;
}

/**
 * A day, because the API server puts the URL of a webhook that it cannot reach into the error that its client reads. An
 * overlap of many reads of the Secret by each replica.
 */
export const PATH_TERMS: PathTerms = { lifetimeMs: 86_400_000, overlapMs: 15 * 60_000, graceMs: 15 * 60_000 };

type PathChange = "none" | "make" | "stage" | "use" | "retire";

/** Decides what is due. `isCarried`: every configuration carries a path of `current`, and none another one. */
export function decidePathChange(
  state: PathSecret | undefined,
  { terms, nowMs, isCarried }: { readonly terms: PathTerms; readonly nowMs: number; readonly isCarried: boolean },
): PathChange {
  if (state === undefined) return "make";
  const { next, previous, madeAtMs } = state;
  if (previous !== undefined) {
    return isCarried && nowMs >= previous.replacedAtMs + terms.graceMs ? "retire" : "none";
  }
  if (next !== undefined) return nowMs >= next.usedFromMs ? "use" : "none";
  // A secret that was never in a webhook configuration cannot have been read there.
  return isCarried && nowMs >= madeAtMs + terms.lifetimeMs ? "stage" : "none";
}

/** The state after a change; `secret` is a fresh one for the changes that need it. */
export function changePathSecret(
  state: PathSecret | undefined,
  options: {
    readonly change: Exclude<PathChange, "none">;
    readonly terms: PathTerms;
    readonly nowMs: number;
    readonly secret: string;
  },
): PathSecret {
  const { change, terms, nowMs, secret } = options;
  if (state === undefined || change === "make") {
    return { current: secret, madeAtMs: nowMs, next: undefined, previous: undefined };
  }
  if (change === "stage") return { ...state, next: { secret, usedFromMs: nowMs + terms.overlapMs } };
  if (change === "retire" || state.next === undefined) return { ...state, previous: undefined };
  return {
    current: state.next.secret,
    madeAtMs: nowMs,
    next: undefined,
    previous: { secret: state.current, replacedAtMs: nowMs },
  };
}

export function acceptedSecrets({ current, next, previous }: PathSecret): readonly string[] {
  return [current, next?.secret, previous?.secret].filter((secret) => secret !== undefined);
}

/**
 * The path of a webhook with its unguessable first segment: 64 characters of hex, since the API server takes only DNS
 * subdomains, which are lower-case, as segments of a Service's path. Each webhook has a segment of its own: a path that is
 * read in an error of the API server gives no access to the other webhooks.
 */
export function secretPath(secret: string, path: string): string {
  return `/${createHmac("sha256", secret).update(path).digest("hex")}${path}`;
}

/** Name of the Secret, in Archway's namespace. Apart from that of the certificates: those may be another controller's. */
export const PATH_SECRET = "archway-webhook-path";

const secretText = z.string().min(32);
const time = z.coerce.number();
const members = z.object({
  "current": secretText,
  // Removing it requests a new secret: see docs/security.md.
  "made-at-ms": time.catch(0),
  "next": secretText.optional(),
  "next-used-from-ms": time.optional(),
  "previous": secretText.optional(),
  "previous-replaced-at-ms": time.optional(),
});

/** The state in a Secret, or undefined when it holds none that can be read. */
export function parsePathSecret(texts: SecretTexts | undefined): PathSecret | undefined {
  const parsed = members.safeParse(texts);
  if (!parsed.success) return undefined;
  const { data } = parsed;
  const [next, usedFromMs] = [data.next, data["next-used-from-ms"]];
  const [previous, replacedAtMs] = [data.previous, data["previous-replaced-at-ms"]];
  return {
    current: data.current,
    madeAtMs: data["made-at-ms"],
    next: next === undefined || usedFromMs === undefined ? undefined : { secret: next, usedFromMs },
    previous: previous === undefined || replacedAtMs === undefined ? undefined : { secret: previous, replacedAtMs },
  };
}

export function renderPathSecret({ current, madeAtMs, next, previous }: PathSecret): SecretTexts {
  return {
    "current": current,
    "made-at-ms": String(madeAtMs),
    ...(next === undefined ? {} : { "next": next.secret, "next-used-from-ms": String(next.usedFromMs) }),
    ...(previous === undefined
      ? {}
      : { "previous": previous.secret, "previous-replaced-at-ms": String(previous.replacedAtMs) }),
  };
}
