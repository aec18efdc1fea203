// Which challenges may be answered with a credential before a request: those that the repository gave to it, or the host's
// own `/v2/`. Never another repository's: its owner could choose where the passwords of all users of the host are sent.
import { LRUCache } from "lru-cache";
import { orAborted } from "../../clock.ts";
import type { Credential } from "../credential.ts";
import { InspectionError, isHeldBack } from "../errors.ts";
import { fingerprintOf } from "../fingerprint.ts";
import type { Endpoint } from "../pull_plan.ts";
import type { Challenge } from "./challenge.ts";

export interface RootReader {
  /** Reads the challenge of the host's `/v2/`; undefined when it has none, or only behind a redirect. May throw InspectionError. */
  readonly probe: () => Promise<Challenge | undefined>;
  /** That of one caller: a probe serves others as well, and goes on when this aborts. */
  readonly signal: AbortSignal;
}

/** Characters of all challenges kept for repositories: a header may be long. */
const MAX_OWN_SIZE = 4_000_000;
const MAX_HOSTS = 1_000;
const ROOT_LIFE_MS = 600_000;
/** How long a `/v2/` that cannot be read counts as one without challenge (ms). */
const FAILED_ROOT_LIFE_MS = 30_000;

export class LearnedChallenges {
  readonly #own = new LRUCache<string, Challenge>({
    maxSize: MAX_OWN_SIZE,
    sizeCalculation: (challenge, key) => key.length + JSON.stringify(challenge).length,
  });
  // With another ttlResolution the cache keeps a timer instead of reading the clock.
  readonly #roots = new LRUCache<string, Promise<Challenge | undefined>>({
    max: MAX_HOSTS,
    ttl: ROOT_LIFE_MS,
    ttlResolution: 0,
  });
  readonly #wantLogin = new LRUCache<string, true>({ max: MAX_HOSTS });

  /** What the repository answered to this credential the last time. */
  own(endpoint: Endpoint, credential: Credential | undefined): Challenge | undefined {
    return this.#own.get(ownKey(endpoint, credential));
  }

  learnOwn(
    endpoint: Endpoint,
    { credential, challenge }: { readonly credential: Credential | undefined; readonly challenge: Challenge },
  ): void {
    this.#own.set(ownKey(endpoint, credential), challenge);
    this.#wantLogin.set(rootKey(endpoint), true);
  }

  /** The challenge of `/v2/` where it was read already, or has to be read: some repository of the host required a login. */
  async root(endpoint: Endpoint, reader: RootReader): Promise<Challenge | undefined> {
    const key = rootKey(endpoint);
    return this.#roots.has(key) || this.#wantLogin.has(key) ? await this.readRoot(endpoint, reader) : undefined;
  }

  /** Rejects with the signal's reason. Who began the probe waits for its end first: a namespace has no more than its permits. */
  async readRoot(endpoint: Endpoint, { probe, signal }: RootReader): Promise<Challenge | undefined> {
    const known = this.#roots.get(rootKey(endpoint));
    const challenge = known === undefined
      ? await this.#probe(rootKey(endpoint), probe)
      : await orAborted(known, signal);
    signal.throwIfAborted();
    return challenge;
  }

  #probe(key: string, probe: RootReader["probe"]): Promise<Challenge | undefined> {
    const asked = probe().catch((error) => {
      if (!(error instanceof InspectionError)) throw error;
      // The registry was not asked, or its answer not read: the next one may be.
      if (isHeldBack(error.failure)) this.#roots.delete(key);
      else this.#roots.set(key, asked, { ttl: FAILED_ROOT_LIFE_MS });
      return undefined;
    });
    this.#roots.set(key, asked);
    return asked;
  }

  /** Drops a challenge that did not give a token: the registry may have moved its token server. */
  forget(endpoint: Endpoint, credential: Credential | undefined): void {
    if (!this.#own.delete(ownKey(endpoint, credential))) this.#roots.delete(rootKey(endpoint));
  }
}

function rootKey({ host, pathPrefix }: Endpoint): string {
  return JSON.stringify([host, pathPrefix]);
}

function ownKey({ host, pathPrefix, mirrorOf, repository }: Endpoint, credential: Credential | undefined): string {
  return JSON.stringify([host, pathPrefix, mirrorOf, repository, fingerprintOf(credential)]);
}
