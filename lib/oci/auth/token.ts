// Bearer tokens, requested once per realm, service, scope and credential, and kept until shortly before they end.
import * as z from "zod";
import type { Clock } from "../../clock.ts";
import { encodeBase64, parseBoundedObject } from "../../json.ts";
import { SharedCalls } from "../shared_calls.ts";
import { groupOf, tokenServerGroup } from "../limits/failing_groups.ts";
import type { HostLimiters } from "../limits/host_limiters.ts";
import { registryError } from "../errors.ts";
import type { RequestContext } from "../request_log.ts";
import { isSendable, type RegistryRequest, type RegistryResponse } from "../http/exchange.ts";
import { fingerprintOf } from "../fingerprint.ts";
import type { Transport } from "../http/transport.ts";
import { connectionElsewhere, type Endpoint } from "../endpoint.ts";
import type { Credential } from "../credential.ts";
import type { Challenge } from "./challenge.ts";

export interface TokenRequest {
  readonly endpoint: Endpoint;
  readonly challenge: Extract<Challenge, { kind: "bearer" }>;
  readonly scopes: readonly string[];
  readonly credential: Credential | undefined;
  readonly context: RequestContext;
}

type TokenAnswer = { readonly kind: "token"; readonly token: string } | { readonly kind: "denied" };

/** Most members and elements parsed of a token server's answer; a usual one has about six. */
const MAX_TOKEN_STRUCTURE = 1_000;

/** Minimum validity of a token by the protocol, and its validity without `expires_in`. */
const MIN_LIFE_MS = 60_000;
const SAFETY_MS = 10_000;

/** A member that is null or of another type reads as absent. */
const TokenBody = z.object({
  token: z.string().optional().catch(undefined),
  access_token: z.string().optional().catch(undefined),
  expires_in: z.number().optional().catch(undefined),
});

const MAX_TOKEN_BYTES = 1024 * 1024;
const MAX_TOKEN_CHARACTERS = 8 * 1024 * 1024;

type DatedAnswer = TokenAnswer & { readonly lifeMs: number };

interface TokenSourceDeps {
  readonly transport: Pick<Transport, "send">;
  readonly hosts: HostLimiters;
  readonly clock: Clock;
}

export class TokenSource {
  readonly #deps: TokenSourceDeps;
  readonly #tokens: SharedCalls<DatedAnswer>;

  constructor(deps: TokenSourceDeps) {
    this.#deps = deps;
    this.#tokens = new SharedCalls({
      clock: deps.clock,
      keepMs: ({ lifeMs }) => lifeMs - SAFETY_MS,
      weighed: {
        maxSize: MAX_TOKEN_CHARACTERS,
        sizeOf: (answer) => answer.kind === "token" ? answer.token.length : 1,
      },
    });
  }

  /** Concurrent callers share one request. Throws RegistryError when the realm is unreachable or answers nonsense. */
  get(request: TokenRequest): Promise<TokenAnswer> {
    const { context } = request;
    return this.#tokens.run(
      keyOf(request),
      context,
      (callers, signal) => this.#ask({ ...request, context: { ...context, callers, signal } }),
    );
  }

  discard(request: TokenRequest): void {
    this.#tokens.forget(keyOf(request));
  }

  async #ask(request: TokenRequest): Promise<DatedAnswer> {
    const { transport, hosts } = this.#deps;
    const { endpoint, credential, context } = request;
    const outgoing = registryRequestOf(request);
    const { host } = outgoing.url;
    const isTokenServer = host !== endpoint.host;
    // A shared token server may fail for one registry only, and a registry's own one for some repositories only.
    const group = isTokenServer ? tokenServerGroup(endpoint.host) : groupOf(endpoint.repository);
    // Any registry may name any token server. One registry must not use up the others' rate limit there.
    const account = isTokenServer ? `${endpoint.host} ${fingerprintOf(credential)}` : fingerprintOf(credential);
    const limited = { ...context, host, group, account };
    const answer = await hosts.run(limited, () => transport.send(outgoing, context));
    if (answer.status === 400 || answer.status === 401 || answer.status === 403) return { kind: "denied", lifeMs: 0 };
    if (answer.status !== 200) throw realmFailed(request, answer);
    const body = TokenBody.safeParse(parseBoundedObject(new TextDecoder().decode(answer.body), MAX_TOKEN_STRUCTURE));
    const token = body.data?.token || body.data?.access_token;
    if (token !== undefined && token !== "" && isSendable(token)) {
      return { kind: "token", token, lifeMs: Math.max(MIN_LIFE_MS, (body.data?.expires_in ?? 0) * 1_000) };
    }
    const message = `Cannot log in to "${endpoint.host}": its token server answered without a token.`;
    throw registryError("Malformed", message, { registry: endpoint.host });
  }
}

/** A token is only used at the host that required it, even if others name the same realm. */
function keyOf({ endpoint, challenge, scopes, credential }: TokenRequest): string {
  return JSON.stringify([endpoint.host, challenge.realm, challenge.service, scopes, fingerprintOf(credential)]);
}

function realmFailed({ endpoint }: TokenRequest, answer: RegistryResponse): Error {
  const { status } = answer;
  const reason = status === 429 ? "RateLimited" : "ServerError";
  const message = `Cannot log in to "${endpoint.host}": its token server answered ${status}.`;
  return registryError(reason, message, { registry: endpoint.host, retryAfterMs: answer.pauseMs });
}

/** GET with Basic (or nothing) for passwords, POST with the refresh token for identity tokens. */
function registryRequestOf({ endpoint, challenge, scopes, credential }: TokenRequest): RegistryRequest {
  const url = realmUrl(endpoint, challenge.realm);
  const isSameHost = url.host === endpoint.host;
  const connection = isSameHost ? endpoint.connection : connectionElsewhere(endpoint.connection, endpoint.host, url);
  const common = { connection, maxBytes: MAX_TOKEN_BYTES, kind: "token" } as const;
  // Image names come from tenants: without https, even an anonymous token needs a declared registry.
  const isSafe = url.protocol === "https:" || endpoint.connection.scheme !== "https";
  if (!isSafe && (credential !== undefined || !endpoint.connection.isDeclared)) {
    const message =
      `Cannot log in to "${endpoint.host}": its token server is not reached over https, so nothing is sent there.`;
    throw registryError("Unauthorized", message, { registry: endpoint.host });
  }
  const secret = credential?.secret;
  if (secret?.kind === "identity") {
    const form = new URLSearchParams({
      grant_type: "refresh_token",
      refresh_token: secret.token,
      service: challenge.service,
      scope: scopes.join(" "),
      client_id: "archway",
    });
    return { ...common, method: "POST", url, form };
  }
  if (challenge.service !== "") url.searchParams.set("service", challenge.service);
  url.searchParams.delete("scope");
  for (const scope of scopes) url.searchParams.append("scope", scope);
  if (secret?.kind !== "basic") return { ...common, method: "GET", url };
  url.searchParams.set("account", secret.username);
  return { ...common, method: "GET", url, authorization: basicAuthorization(secret) };
}

function realmUrl(endpoint: Endpoint, realm: string): URL {
  const url = URL.canParse(realm) ? new URL(realm) : undefined;
  if (url !== undefined && (url.protocol === "https:" || url.protocol === "http:")) return url;
  const message = `Cannot log in to "${endpoint.host}": its token server's address is not a web address.`;
  throw registryError("Malformed", message, { registry: endpoint.host });
}

export function basicAuthorization(secret: { readonly username: string; readonly password: string }): string {
  return `Basic ${encodeBase64(`${secret.username}:${secret.password}`)}`;
}
