// Answers a challenge with a credential: Basic, or a token of the token server that the challenge names.
import type { Credential } from "../credential.ts";
import { isHeldBack, RegistryError, registryError } from "../errors.ts";
import type { RequestContext } from "../request_log.ts";
import type { Connections } from "../http/connections.ts";
import { type AnonymousAuthorization, isSendable, type RegistryResponse } from "../http/exchange.ts";
import { connectionElsewhere, type Endpoint, type EndpointWithCredentials } from "../endpoint.ts";
import { type Challenge, challengeOf } from "./challenge.ts";
import type { LearnedChallenges } from "./learned_challenges.ts";
import { basicAuthorization, type TokenRequest, type TokenSource } from "./token.ts";
import { ownScope, type Rights, scopeChoices } from "./token_scopes.ts";

export interface LoginDeps {
  readonly connections: Connections;
  readonly tokens: TokenSource;
  readonly challenges: LearnedChallenges;
  readonly endpoint: EndpointWithCredentials;
  readonly context: RequestContext;
  readonly rights: Rights;
}

export type Authorization =
  | { readonly kind: "header"; readonly header: string }
  /** There is no challenge to answer, or no credential to answer it with. */
  | { readonly kind: "none" }
  /** The token server refused the credential, or it does not fit the challenge. */
  | { readonly kind: "denied" };

type BearerChallenge = Extract<Challenge, { readonly kind: "bearer" }>;

/** Throws Unauthorized instead of sending a password over plain HTTP to a registry that was not declared insecure. */
export async function authorize(
  deps: LoginDeps,
  credential: Credential | undefined,
  challenge: Challenge | undefined,
): Promise<Authorization> {
  if (challenge === undefined) return { kind: "none" };
  if (credential !== undefined) assertSafe(deps.endpoint);
  const secret = credential?.secret;
  if (secret?.kind === "registry") {
    return isSendable(secret.token) ? { kind: "header", header: `Bearer ${secret.token}` } : { kind: "denied" };
  }
  if (challenge.kind === "bearer") return await fetchToken(deps, credential, challenge);
  if (secret === undefined) return { kind: "none" };
  // A refresh token is not a password. A request without it would be anonymous, which is tried last.
  return secret.kind === "identity" ? { kind: "denied" } : { kind: "header", header: basicAuthorization(secret) };
}

export function discardTokens(
  deps: LoginDeps,
  credential: Credential | undefined,
  challenge: BearerChallenge,
): void {
  for (const request of tokenRequests(deps, credential, challenge)) deps.tokens.discard(request);
}

/** The origin of a redirect may require a token even for public images. Such an origin gets no credential. */
export async function loginAtRedirect(
  { context, endpoint, rights, tokens }: LoginDeps,
  { headers, redirect, status }: RegistryResponse,
): Promise<AnonymousAuthorization | undefined> {
  const challenge = challengeOf(headers);
  if (status !== 401 || redirect === undefined || redirect.isSameOrigin || challenge?.kind !== "bearer") {
    return undefined;
  }
  const { origin } = redirect;
  const target = new URL(origin);
  const connection = connectionElsewhere(endpoint.connection, endpoint.host, target);
  const scope = challenge.scope || ownScope({ repository: endpoint.repository, rights });
  const redirected = { ...endpoint, host: target.host, connection };
  const token = await tokens.get({ endpoint: redirected, challenge, scopes: [scope], credential: undefined, context });
  return token.kind === "denied" ? undefined : { origin, authorization: `Bearer ${token.token}` };
}

async function fetchToken(
  deps: LoginDeps,
  credential: Credential | undefined,
  challenge: BearerChallenge,
): Promise<Authorization> {
  const { challenges, endpoint, tokens } = deps;
  try {
    for (const request of tokenRequests(deps, credential, challenge)) {
      const answer = await tokens.get(request);
      if (answer.kind === "token") return { kind: "header", header: `Bearer ${answer.token}` };
    }
    return { kind: "denied" };
  } catch (error) {
    // A server that limits requests has not moved.
    if (error instanceof RegistryError && !isHeldBack(error.failure) && error.failure.reason !== "RateLimited") {
      challenges.forget(endpoint, credential);
    }
    throw error;
  }
}

function tokenRequests(
  { connections, context, endpoint, rights }: LoginDeps,
  credential: Credential | undefined,
  challenge: BearerChallenge,
): readonly TokenRequest[] {
  const own = { ...endpoint, connection: connections.connectionFor(endpoint) };
  return scopeChoices(challenge.scope, { repository: endpoint.repository, rights })
    .map((scopes) => ({ endpoint: own, challenge, scopes, credential, context }));
}

function assertSafe(endpoint: Endpoint): void {
  if (endpoint.connection.scheme !== "http" || endpoint.connection.isDeclared) return;
  const message =
    `Cannot log in to "${endpoint.host}": it is reached over plain HTTP. Declare it with --insecure-registry.`;
  throw registryError("Unauthorized", message, { registry: endpoint.host });
}
