// Bearer tokens of registries: asked once per realm, service, scope and credential, kept until shortly before they end.
// Source: distribution token authentication (`token`, `access_token`, refresh tokens); pod placement §3.9.
import { LRUCache } from "lru-cache";
import * as z from "zod";
import type { Clock } from "../clock.ts";
import { type Budget, pauseOf } from "./budget.ts";
import type { Challenge } from "./challenge.ts";
import { inspectionError } from "./errors.ts";
import { fingerprintOf } from "./fingerprint.ts";
import type { Ledger } from "./ledger.ts";
import { type Answer, type Exchange, isSendable } from "./exchange.ts";
import type { Transport } from "./transport.ts";
import type { Credential, Endpoint, InspectionPriority } from "./types.ts";

/** Which token. */
export interface TokenRequest {
  /** The registry that wants it. */
  readonly endpoint: Endpoint;
  /** Where to get it. */
  readonly challenge: Extract<Challenge, { kind: "bearer" }>;
  /** What it must allow: `repository:PATH:pull`. */
  readonly scope: string;
  /** undefined: anonymous. */
  readonly credential: Credential | undefined;
  /** Whose turn it is at the token server. */
  readonly priority: () => InspectionPriority;
  /** Counts and traces what is sent. */
  readonly ledger: Ledger;
}

/** A token, or the realm's refusal of the credential. */
export type TokenAnswer = { readonly kind: "token"; readonly token: string } | { readonly kind: "denied" };

/** Gives tokens. */
export interface TokenSource {
  /** Callers at the same time share one request. Throws InspectionError when the realm cannot be asked or answers nonsense. */
  get(request: TokenRequest): Promise<TokenAnswer>;
  /** The registry refused this token: ask for a new one next time. */
  discard(request: TokenRequest): void;
}

const MAX_TOKEN_BYTES = 1024 * 1024;
/** Tokens live at least this long by the protocol; without `expires_in` exactly so long. */
const LEAST_LIFE_MS = 60_000;
const SAFETY_MS = 10_000;

/** Member by member: one that is null or of another type does not spoil the others. */
const TokenBody = z.object({
  token: z.string().optional().catch(undefined),
  access_token: z.string().optional().catch(undefined),
  expires_in: z.number().optional().catch(undefined),
});

interface Entry {
  readonly answer: Promise<TokenAnswer>;
  untilMs: number;
}

/** Opens a source with an empty memory. */
export function openTokenSource(
  options: { readonly transport: Transport; readonly budget: Budget; readonly clock: Clock },
): TokenSource {
  const { transport, budget, clock } = options;
  const tokens = new LRUCache<string, Entry>({ max: 5_000 });

  async function ask(request: TokenRequest): Promise<TokenAnswer & { readonly lifeMs: number }> {
    // Shared by callers that come and go: none of their signals may end it. The transport's limits do.
    const { signal } = new AbortController();
    const exchange = exchangeFor(request);
    const turn = { priority: request.priority, signal };
    const answer = await budget.run(exchange.url.host, turn, () => transport.send(exchange, signal));
    const { host } = request.endpoint;
    if (answer.status === 400 || answer.status === 401 || answer.status === 403) return { kind: "denied", lifeMs: 0 };
    if (answer.status !== 200) throw realmFailed(request, answer, clock.nowMs());
    const body = TokenBody.safeParse(parseJson(answer.body));
    const token = body.data?.token || body.data?.access_token;
    if (token === undefined || token === "" || !isSendable(token)) {
      throw inspectionError("Malformed", `Cannot log in to "${host}": its token server answered without a token.`, {
        registry: host,
      });
    }
    return { kind: "token", token, lifeMs: Math.max(LEAST_LIFE_MS, (body.data?.expires_in ?? 0) * 1_000) };
  }

  return {
    get: (request) => {
      const key = keyOf(request);
      const known = tokens.get(key);
      if (known !== undefined && clock.monotonicMs() < known.untilMs) return known.answer;
      const asked = ask(request);
      const entry: Entry = { answer: asked, untilMs: Infinity };
      tokens.set(key, entry);
      asked.then(
        ({ lifeMs }) => {
          entry.untilMs = clock.monotonicMs() + lifeMs - SAFETY_MS;
        },
        () => {
          if (tokens.get(key) === entry) tokens.delete(key);
        },
      );
      return asked;
    },
    discard: (request) => void tokens.delete(keyOf(request)),
  };
}

function keyOf({ challenge, scope, credential }: TokenRequest): string {
  return JSON.stringify([challenge.realm, challenge.service, scope, fingerprintOf(credential)]);
}

/** GET with Basic (or nothing) for passwords, POST with the refresh token for identity tokens. */
function exchangeFor({ endpoint, challenge, scope, credential, ledger }: TokenRequest): Exchange {
  const url = realmUrl(endpoint, challenge.realm);
  const isSameHost = url.host === endpoint.host;
  const { clientCertificates: _own, ...others } = endpoint.transport;
  const transport = isSameHost
    ? endpoint.transport
    : { ...others, verifyTls: true, declared: isDeclaredNeighbour(url, endpoint) };
  const common = { transport, maxBytes: MAX_TOKEN_BYTES, kind: "token", ledger } as const;
  // Nor does a stranger ask there for a host that nobody declared: it could make any address of our network answer.
  const isSafe = url.protocol === "https:" || endpoint.transport.scheme !== "https";
  if (!isSafe && (credential !== undefined || !endpoint.transport.declared)) {
    const message =
      `Cannot log in to "${endpoint.host}": its token server is not reached over https, so nothing is sent there.`;
    throw inspectionError("Unauthorized", message, { registry: endpoint.host });
  }
  const secret = credential?.secret;
  if (secret?.kind === "identity") {
    const form = new URLSearchParams({
      grant_type: "refresh_token",
      refresh_token: secret.token,
      service: challenge.service,
      scope,
      client_id: "archway",
    });
    return { ...common, method: "POST", url, form };
  }
  if (challenge.service !== "") url.searchParams.set("service", challenge.service);
  url.searchParams.set("scope", scope);
  if (secret?.kind !== "basic") return { ...common, method: "GET", url };
  url.searchParams.set("account", secret.username);
  return { ...common, method: "GET", url, authorization: basicAuthorization(secret) };
}

/** A token server on another port of a declared host is as declared as the registry. */
function isDeclaredNeighbour(url: URL, endpoint: Endpoint): boolean {
  return endpoint.transport.declared && url.hostname === new URL(`https://${endpoint.host}`).hostname;
}

function realmUrl(endpoint: Endpoint, realm: string): URL {
  const url = URL.canParse(realm) ? new URL(realm) : undefined;
  if (url !== undefined && (url.protocol === "https:" || url.protocol === "http:")) return url;
  const message = `Cannot log in to "${endpoint.host}": its token server's address is not a web address.`;
  throw inspectionError("Malformed", message, { registry: endpoint.host });
}

/** `Basic …` for a user and a password, as UTF-8. */
export function basicAuthorization(secret: { readonly username: string; readonly password: string }): string {
  return `Basic ${new TextEncoder().encode(`${secret.username}:${secret.password}`).toBase64()}`;
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}

function realmFailed({ endpoint }: TokenRequest, answer: Answer, nowMs: number): Error {
  const { status } = answer;
  const reason = status === 429 ? "RateLimited" : "ServerError";
  const message = `Cannot log in to "${endpoint.host}": its token server answered ${status}.`;
  return inspectionError(reason, message, { registry: endpoint.host, retryAfterMs: pauseOf(answer, nowMs) });
}
