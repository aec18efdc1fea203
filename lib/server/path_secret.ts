// The unguessable first segment of webhook paths, derived from a shared secret, the route and the day. Every replica
// accepts a new segment before any path has it.
import { createHmac } from "node:crypto";
import * as z from "zod";
import type { Clock } from "../clock.ts";
import { ApiError } from "../k8s/api_error.ts";
import { firstRead, keepReading, POLL_MS, type SecretStore } from "../k8s/secret_store.ts";
import { errorText, type Logger } from "../log.ts";

export interface PathSecret {
  /** A route's secret path; undefined without access to the Secret: then the manifests' paths stay in use. */
  pathOf(route: string): string | undefined;
  acceptedPaths(route: string): readonly string[];
  run(signal: AbortSignal): Promise<void>;
}

interface PathSecretDeps {
  readonly store: SecretStore;
  readonly clock: Clock;
  readonly log: Logger;
  readonly makeSecret: () => string;
}

/** The Secret in Archway's namespace. Separate from the certificates', which another controller may own. */
export const PATH_SECRET = "archway-webhook-path";
/** A day, because the API server's errors show clients the URL of an unreachable webhook. */
const LIFETIME_MS = 86_400_000;
/** How long a path is accepted before and after its day (ms), since clocks differ. */
export const OVERLAP_MS = 15 * 60_000;
/** After this time (ms) every replica has read a changed Secret, and paths use it. */
export const READ_MS = 4 * POLL_MS;

const texts = z.object({ current: z.string().min(32) });

/** The segment is hex, since the API server accepts only DNS subdomains. A leaked path opens no other route. */
function secretPath(secret: string, route: string, day: number): string {
  return `/${createHmac("sha256", secret).update(`${day} ${route}`).digest("hex")}${route}`;
}

/** Waits for the API server to answer; continues without a secret on refusal (403, 404, 422). */
export async function openPathSecret(deps: PathSecretDeps, signal: AbortSignal): Promise<PathSecret> {
  const { clock, log } = deps;
  const followed = { clock, log, what: "secret of the webhook paths" };
  let secret = await firstRead(() => readOrMake(deps, signal), followed, signal).catch((error) => {
    if (!(error instanceof ApiError)) throw error;
    log.warn("webhooks keep the paths of the manifests: their secret cannot be kept", { error: errorText(error) });
    return undefined;
  });
  /** Cached paths, because hashing takes longer than the rest of the check. */
  const made = new Map<string, readonly string[]>();
  let before: { readonly secret: string; readonly untilMs: number } | undefined;

  /** The first path is the one that `pathOf` returns. */
  function acceptedPaths(route: string): readonly string[] {
    const nowMs = clock.nowMs();
    const days = [nowMs, nowMs - OVERLAP_MS, nowMs + OVERLAP_MS].map((atMs) => Math.floor(atMs / LIFETIME_MS));
    const secrets = [before !== undefined && nowMs < before.untilMs ? before.secret : undefined, secret]
      .filter((each) => each !== undefined);
    const key = [route, ...days, ...secrets].join(" ");
    const paths = made.get(key) ??
      [...new Set(secrets.flatMap((each) => days.map((day) => secretPath(each, route, day))))];
    made.set(key, paths);
    return paths;
  }

  async function readAgain(signal: AbortSignal): Promise<void> {
    made.clear();
    const next = await readOrMake(deps, signal);
    if (next === secret) return;
    if (secret !== undefined) before = { secret, untilMs: clock.nowMs() + READ_MS };
    secret = next;
  }

  return {
    pathOf: (route) => acceptedPaths(route)[0],
    acceptedPaths,
    run: (signal) => keepReading(() => readAgain(signal), followed, signal),
  };
}

/** The stored secret, or a new one if missing, as after deleting the Secret to rotate it. */
async function readOrMake(deps: PathSecretDeps, signal: AbortSignal): Promise<string> {
  const stored = await deps.store.read(signal);
  const parsed = texts.safeParse(stored.texts);
  if (parsed.success) return parsed.data.current;
  const current = deps.makeSecret();
  // Another replica was faster: use its secret.
  if (!await deps.store.swap(stored, { current }, signal)) return await readOrMake(deps, signal);
  deps.log.info("secret of the webhook paths made");
  return current;
}
