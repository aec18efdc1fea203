// What hosts have taught us of themselves, so that it need not be found out for each image: how they want to be logged in to,
// and whether an insecure one speaks TLS. Used by client.ts.
import { LRUCache } from "lru-cache";
import type { Challenge } from "./challenge.ts";
import type { Endpoint } from "./types.ts";

/** What is spoken before HTTP. */
export type Scheme = "https" | "http";

/** The memory. */
export interface HostHabits {
  /** How the repository, or else its host, asked to be logged in to the last time. */
  challenge(endpoint: Endpoint): Challenge | undefined;
  /** Remembers a challenge; for the repository alone when its host usually asks otherwise. */
  learnChallenge(endpoint: Endpoint, challenge: Challenge): void;
  /** The schemes to try, in order. */
  schemes(endpoint: Endpoint): readonly Scheme[];
  /** Remembers which one of several worked. */
  learnScheme(endpoint: Endpoint, scheme: Scheme): void;
}

const MAX_HABITS = 2_000;
/** An insecure registry may get a certificate one day (ms). */
const SCHEME_LIFE_MS = 600_000;

/** Opens an empty memory. */
export function openHostHabits(): HostHabits {
  const challenges = new LRUCache<string, Challenge>({ max: MAX_HABITS });
  const schemes = new LRUCache<string, Scheme>({
    max: MAX_HABITS,
    ttl: SCHEME_LIFE_MS,
    // Otherwise it keeps a timer to spare itself a look at the clock.
    ttlResolution: 0,
  });
  const hostKey = ({ host, pathPrefix }: Endpoint): string => `${host}${pathPrefix}`;
  const repositoryKey = (endpoint: Endpoint): string => `${hostKey(endpoint)} ${endpoint.repository}`;
  return {
    challenge: (endpoint) => challenges.get(repositoryKey(endpoint)) ?? challenges.get(hostKey(endpoint)),
    learnChallenge: (endpoint, challenge) => {
      const usual = challenges.get(hostKey(endpoint));
      if (usual === undefined || isSameLogin(usual, challenge)) {
        challenges.delete(repositoryKey(endpoint));
        challenges.set(hostKey(endpoint), challenge);
      } else challenges.set(repositoryKey(endpoint), challenge);
    },
    schemes: (endpoint) => {
      const { scheme } = endpoint.transport;
      if (scheme !== "https-then-http") return [scheme];
      return schemes.get(endpoint.host) === "http" ? ["http", "https"] : ["https", "http"];
    },
    learnScheme: (endpoint, scheme) => {
      if (endpoint.transport.scheme === "https-then-http") schemes.set(endpoint.host, scheme);
    },
  };
}

/** Whether two challenges lead to the same place; their scopes differ from repository to repository. */
export function isSameLogin(left: Challenge, right: Challenge): boolean {
  if (left.kind === "basic" || right.kind === "basic") return left.kind === right.kind;
  return left.realm === right.realm && left.service === right.service;
}
