// Which challenges a credential may answer before a request: the repository's own, or the host's `/v2/`. Never another
// repository's: its owner could choose where every user's password for the host is sent.
import { LRUCache } from "lru-cache";
import { type Clock, orAborted } from "../../clock.ts";
import type { Credential } from "../credential.ts";
import { isHeldBack, RegistryError } from "../errors.ts";
import { fingerprintOf } from "../fingerprint.ts";
import type { Endpoint } from "../pull_plan.ts";
import { livingBy } from "../weights.ts";
import type { Challenge } from "./challenge.ts";

interface RootReader {
  /** Reads the challenge of the host's `/v2/`; undefined without one or behind a redirect. Throws RegistryError. */
  readonly probe: () => Promise<Challenge | undefined>;
  /** One caller's signal. The probe is shared and continues after it aborts. */
  readonly signal: AbortSignal;
}

/** Limit on all challenges kept for repositories, in characters: a header may be long. */
const MAX_REPOSITORIES_SIZE = 4_000_000;
const MAX_HOSTS = 1_000;
const ROOT_LIFE_MS = 600_000;
/** How long an unreadable `/v2/` counts as having no challenge (ms). */
const FAILED_ROOT_LIFE_MS = 30_000;

export class LearnedChallenges {
  readonly #ofRepositories = new LRUCache<string, Challenge>({
    maxSize: MAX_REPOSITORIES_SIZE,
    sizeCalculation: (challenge, key) => key.length + JSON.stringify(challenge).length,
  });
  readonly #roots: LRUCache<string, Promise<Challenge | undefined>>;
  readonly #wantLogin = new LRUCache<string, true>({ max: MAX_HOSTS });

  constructor(clock: Clock) {
    this.#roots = new LRUCache({ max: MAX_HOSTS, ttl: ROOT_LIFE_MS, ...livingBy(clock) });
  }

  /** The repository's last challenge to this credential. */
  ofRepository(endpoint: Endpoint, credential: Credential | undefined): Challenge | undefined {
    return this.#ofRepositories.get(repositoryKey(endpoint, credential));
  }

  learn(
    endpoint: Endpoint,
    { credential, challenge }: { readonly credential: Credential | undefined; readonly challenge: Challenge },
  ): void {
    this.#ofRepositories.set(repositoryKey(endpoint, credential), challenge);
    this.#wantLogin.set(rootKey(endpoint), true);
  }

  /** Whether a repository of the host has sent a challenge. */
  wantsLogin(endpoint: Endpoint): boolean {
    return this.#wantLogin.has(rootKey(endpoint));
  }

  /**
   * The challenge of `/v2/`. Rejects with the signal's reason. Whoever started the probe awaits its end first, because
   * it holds a permit.
   */
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
      // The request was not sent, or its answer not read. The next one may succeed.
      if (!(error instanceof RegistryError) || isHeldBack(error.failure)) this.#roots.delete(key);
      else this.#roots.set(key, asked, { ttl: FAILED_ROOT_LIFE_MS });
      if (!(error instanceof RegistryError)) throw error;
      return undefined;
    });
    this.#roots.set(key, asked);
    return asked;
  }

  /** Drops a challenge that did not give a token: the registry may have moved its token server. */
  forget(endpoint: Endpoint, credential: Credential | undefined): void {
    if (!this.#ofRepositories.delete(repositoryKey(endpoint, credential))) this.#roots.delete(rootKey(endpoint));
  }
}

function rootKey({ host, pathPrefix }: Endpoint): string {
  return JSON.stringify([host, pathPrefix]);
}

function repositoryKey(
  { host, pathPrefix, mirrorOf, repository }: Endpoint,
  credential: Credential | undefined,
): string {
  return JSON.stringify([host, pathPrefix, mirrorOf, repository, fingerprintOf(credential)]);
}
