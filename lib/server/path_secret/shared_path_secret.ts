// The path secret that all replicas share through a Secret: made when there is none, read again and again, replaced in
// time. Any replica may carry out a change that is due; the others read it.
import { backoffMs, type Clock, jitter } from "../../clock.ts";
import { ApiError } from "../../k8s/errors.ts";
import type { SecretRecord } from "../../k8s/secret_record.ts";
import { errorText, type Logger } from "../../log.ts";
import {
  acceptedSecrets,
  changePathSecret,
  decidePathChange,
  parsePathSecret,
  type PathSecret,
  type PathTerms,
  renderPathSecret,
  secretPath,
} from "./state.ts";

interface PathSecretDeps {
  readonly record: SecretRecord;
  readonly terms: PathTerms;
  readonly clock: Clock;
  readonly log: Logger;
  /** A fresh secret of 256 random bits, as text. */
  readonly makeSecret: () => string;
  /** Time between two reads of the Secret (ms); far below the terms' overlap. */
  readonly pollMs?: number;
}

export interface SharedPathSecret {
  /** The secret path of a route; undefined while the Secret may not be read: then the manifests' paths stay. */
  pathOf(route: string): string | undefined;
  acceptedPaths(route: string): readonly string[];
  /** Calls back after each change of either. */
  onChange(listener: () => void): void;
  /** Follows the Secret until the signal aborts; never rejects. `isCarried` as for {@link decidePathChange}. */
  run(isCarried: IsCarried, signal: AbortSignal): Promise<void>;
}

/** Whether all configurations carry the paths that this makes of their routes, and no others. */
type IsCarried = (pathOf: (route: string) => string) => boolean;

const POLL_MS = 30_000;
const BACKOFF = { baseMs: 250, capMs: 5_000 } as const;
/** Lost races in a row before something else must be wrong. */
const MAX_RACES = 10;

/**
 * Reads or makes the secret. Waits for an API server that does not answer; goes on without a secret when it refuses
 * (403: the role lacks the Secret), and rejects only with the signal's reason.
 */
export async function openSharedPathSecret(deps: PathSecretDeps, signal: AbortSignal): Promise<SharedPathSecret> {
  const { clock, log } = deps;
  const listeners: (() => void)[] = [];
  let state = await firstState(deps, signal);
  let paths = new Map<string, readonly string[]>();

  function acceptedPaths(route: string): readonly string[] {
    const known = paths.get(route);
    if (known !== undefined || state === undefined) return known ?? [];
    const made = acceptedSecrets(state).map((secret) => secretPath(secret, route));
    paths.set(route, made);
    return made;
  }

  async function run(isCarried: IsCarried, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(jitter(deps.pollMs ?? POLL_MS), signal);
      if (signal.aborted) return;
      try {
        const next = await renew(deps, { known: state, isCarried, signal });
        const isSame = state !== undefined && acceptedSecrets(state).join() === acceptedSecrets(next).join();
        state = next;
        if (isSame) continue;
        paths = new Map();
        for (const listener of listeners) listener();
      } catch (error) {
        if (!signal.aborted) log.warn("secret of the webhook paths not read", { error: errorText(error) });
      }
    }
  }

  return {
    // The paths of the current secret come first.
    pathOf: (route) => acceptedPaths(route)[0],
    acceptedPaths,
    onChange: (listener) => void listeners.push(listener),
    run,
  };
}

async function firstState(deps: PathSecretDeps, signal: AbortSignal): Promise<PathSecret | undefined> {
  const { clock, log } = deps;
  for (let attempt = 1;; attempt++) {
    try {
      return await renew(deps, { known: undefined, isCarried: () => false, signal });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ApiError && [403, 404, 422].includes(error.status)) {
        log.warn("webhooks keep the paths of the manifests: their secret cannot be kept", { error: errorText(error) });
        return undefined;
      }
      log.warn("secret of the webhook paths cannot be read yet", { error: errorText(error), attempt });
    }
    await clock.sleep(backoffMs(attempt, BACKOFF), signal);
    signal.throwIfAborted();
  }
}

/** The state as it is now, changed first where a change is due. A Secret that was deleted comes back as it was known. */
async function renew(
  { record, terms, clock, log, makeSecret }: PathSecretDeps,
  { known, isCarried, signal }: {
    readonly known: PathSecret | undefined;
    readonly isCarried: IsCarried;
    readonly signal: AbortSignal;
  },
): Promise<PathSecret> {
  for (let race = 0; race < MAX_RACES; race++) {
    const stored = await record.read(signal);
    const state = parsePathSecret(stored.texts);
    const nowMs = clock.nowMs();
    const carried = state !== undefined && isCarried((route) => secretPath(state.current, route));
    const change = decidePathChange(state, { terms, nowMs, isCarried: carried });
    if (change === "none" && state !== undefined) return state;
    if (change === "none") continue;
    const isLost = state === undefined && known !== undefined;
    // Deleting it requests a new one: that is staged as soon as this one is in the configurations.
    const next = isLost
      ? { ...known, madeAtMs: 0 }
      : changePathSecret(state, { change, terms, nowMs, secret: makeSecret() });
    if (!await record.swap(stored, renderPathSecret(next), signal)) continue;
    log.info("secret of the webhook paths changed", { change: isLost ? "restore" : change });
    return next;
  }
  throw new Error(`Cannot change the secret of the webhook paths: ${MAX_RACES} writes were overtaken. Try again.`);
}
