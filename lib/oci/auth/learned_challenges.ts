// Which challenges a credential may answer before a request: the repository's own, or the host's `/v2/`. Never another
// repository's: its owner could choose where every user's password for the host is sent.
import { LRUCache } from "lru-cache";
import type { Clock } from "../../clock.ts";
import type { Callers } from "../callers.ts";
import type { Credential } from "../credential.ts";
import { isHeldBack, RegistryError } from "../errors.ts";
import type { RequestContext } from "../request_log.ts";
import { fingerprintOf } from "../fingerprint.ts";
import { type Endpoint, keyOfEndpoint } from "../endpoint.ts";
import { SharedCalls } from "../shared_calls.ts";
import type { Challenge } from "./challenge.ts";

/** Reads the challenge of the host's `/v2/`; undefined without one or behind a redirect. Throws RegistryError. */
type RootProbe = (endpoint: Endpoint, context: RequestContext) => Promise<Challenge | undefined>;

interface KnownRoot {
  readonly challenge: Challenge | undefined;
  readonly lifeMs: number;
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
  readonly #roots: SharedCalls<KnownRoot>;
  readonly #probe: RootProbe;
  readonly #wantLogin = new LRUCache<string, true>({ max: MAX_HOSTS });

  constructor({ clock, probe }: { readonly clock: Clock; readonly probe: RootProbe }) {
    this.#probe = probe;
    this.#roots = new SharedCalls({ clock, keepMs: ({ lifeMs }) => lifeMs, maxKept: MAX_HOSTS });
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

  /** The challenge of `/v2/`, read once for all who ask for it. Rejects with the signal's reason. */
  async readRoot(endpoint: Endpoint, context: RequestContext): Promise<Challenge | undefined> {
    const read = (callers: Callers, signal: AbortSignal): Promise<KnownRoot> =>
      rootOf(this.#probe(endpoint, { ...context, callers, signal }));
    const { challenge } = await this.#roots.run(rootKey(endpoint), context, read);
    return challenge;
  }

  /** Drops a challenge that did not give a token: the registry may have moved its token server. */
  forget(endpoint: Endpoint, credential: Credential | undefined): void {
    if (!this.#ofRepositories.delete(repositoryKey(endpoint, credential))) this.#roots.forget(rootKey(endpoint));
  }
}

async function rootOf(probed: Promise<Challenge | undefined>): Promise<KnownRoot> {
  try {
    return { challenge: await probed, lifeMs: ROOT_LIFE_MS };
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error;
    // A request that was not sent, or whose answer was not read, says nothing about the next one.
    return { challenge: undefined, lifeMs: isHeldBack(error.failure) ? 0 : FAILED_ROOT_LIFE_MS };
  }
}

function rootKey({ host, pathPrefix }: Endpoint): string {
  return JSON.stringify([host, pathPrefix]);
}

function repositoryKey(endpoint: Endpoint, credential: Credential | undefined): string {
  return `${keyOfEndpoint(endpoint)} ${fingerprintOf(credential)}`;
}
