// What hosts have taught us of themselves, so that it need not be found out for each image: how they want to be logged in to,
// whether an insecure one speaks TLS, and which of our certificates they take. Used by client.ts.
import { LRUCache } from "lru-cache";
import type { Challenge } from "./auth/challenge.ts";
import type { ClientCertificate, Endpoint } from "./pull_plan.ts";

/** A way to reach a host: what is spoken before HTTP, and the certificate that is shown. */
export interface ConnectionVariant {
  readonly scheme: "https" | "http";
  readonly certificate: ClientCertificate | undefined;
}

/** The memory. */
export interface LearnedHostSettings {
  /** How the repository, or else its host, asked to be logged in to the last time. */
  challenge(endpoint: Endpoint): Challenge | undefined;
  /** Remembers a challenge; for the repository alone when its host usually asks otherwise. */
  learnChallenge(endpoint: Endpoint, challenge: Challenge): void;
  /** The ways to try, in order: the one that worked the last time comes first. Never empty. */
  ways(endpoint: Endpoint): readonly ConnectionVariant[];
  /** Remembers which one of several worked. */
  learnVariant(endpoint: Endpoint, way: ConnectionVariant): void;
}

const MAX_HABITS = 2_000;
/** An insecure registry may get a certificate one day, and a strict one another authority (ms). */
const WAY_LIFE_MS = 600_000;

/** Opens an empty memory. */
export function openLearnedHostSettings(): LearnedHostSettings {
  const challenges = new LRUCache<string, Challenge>({ max: MAX_HABITS });
  const ways = new LRUCache<string, ConnectionVariant>({
    max: MAX_HABITS,
    ttl: WAY_LIFE_MS,
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
    ways: (endpoint) => {
      const all = waysOf(endpoint);
      const learnt = ways.get(endpoint.host);
      const first = learnt === undefined ? undefined : all.find((way) => isSameVariant(way, learnt));
      return first === undefined ? all : [first, ...all.filter((way) => way !== first)];
    },
    learnVariant: (endpoint, way) => {
      if (waysOf(endpoint).length > 1) ways.set(endpoint.host, way);
    },
  };
}

/** Whether two challenges lead to the same place; their scopes differ from repository to repository. */
export function isSameLogin(left: Challenge, right: Challenge): boolean {
  if (left.kind === "basic" || right.kind === "basic") return left.kind === right.kind;
  return left.realm === right.realm && left.service === right.service;
}

/** Every way that the configuration allows: each certificate over TLS, then without TLS where that is allowed. */
function waysOf({ transport: { scheme, clientCertificates = [] } }: Endpoint): readonly ConnectionVariant[] {
  const plain: ConnectionVariant = { scheme: "http", certificate: undefined };
  if (scheme === "http") return [plain];
  const certificates = clientCertificates.length === 0 ? [undefined] : clientCertificates;
  const secure = certificates.map((certificate): ConnectionVariant => ({ scheme: "https", certificate }));
  return scheme === "https" ? secure : [...secure, plain];
}

function isSameVariant(left: ConnectionVariant, right: ConnectionVariant): boolean {
  return left.scheme === right.scheme && left.certificate?.certificate === right.certificate?.certificate;
}
