// Bearer tokens of registries: asked once per realm, service, scope and credential, kept until shortly before they end.
// Source: distribution token authentication (`token`, `access_token`, refresh tokens); pod placement §3.9.
import { LRUCache } from "lru-cache";
import * as z from "zod";
import type { Clock } from "../../clock.ts";
import { type Budget, pauseOf } from "../limits/budget.ts";
import { inspectionError } from "../errors.ts";
import { type Answer, isSendable } from "../http/exchange.ts";
import { fingerprintOf } from "../fingerprint.ts";
import { tokenExchange, type TokenRequest } from "./token_exchange.ts";
import type { Transport } from "../http/transport.ts";

/** A token, or the realm's refusal of the credential. */
export type TokenAnswer = { readonly kind: "token"; readonly token: string } | { readonly kind: "denied" };

/** Gives tokens. */
export interface TokenSource {
  /** Callers at the same time share one request. Throws InspectionError when the realm cannot be asked or answers nonsense. */
  get(request: TokenRequest): Promise<TokenAnswer>;
  /** The registry refused this token: ask for a new one next time. */
  discard(request: TokenRequest): void;
}

const MAX_TOKENS = 5_000;
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

/** What a source is made with. */
export interface TokenSourceDeps {
  /** Sends exchanges. */
  readonly transport: Transport;
  /** Spares the token servers. */
  readonly budget: Budget;
  /** Ends the life of tokens. */
  readonly clock: Clock;
}

/** Opens a source with an empty memory. */
export function openTokenSource(parts: TokenSourceDeps): TokenSource {
  return new RememberingSource(parts);
}

class RememberingSource implements TokenSource {
  readonly #parts: TokenSourceDeps;
  readonly #tokens = new LRUCache<string, Entry>({ max: MAX_TOKENS });

  constructor(parts: TokenSourceDeps) {
    this.#parts = parts;
  }

  get(request: TokenRequest): Promise<TokenAnswer> {
    const { clock } = this.#parts;
    const key = keyOf(request);
    const known = this.#tokens.get(key);
    if (known !== undefined && clock.monotonicMs() < known.untilMs) return known.answer;
    const asked = this.#ask(request);
    const entry: Entry = { answer: asked, untilMs: Infinity };
    this.#tokens.set(key, entry);
    asked.then(
      ({ lifeMs }) => {
        entry.untilMs = clock.monotonicMs() + lifeMs - SAFETY_MS;
      },
      () => {
        if (this.#tokens.get(key) === entry) this.#tokens.delete(key);
      },
    );
    return asked;
  }

  discard(request: TokenRequest): void {
    this.#tokens.delete(keyOf(request));
  }

  async #ask(request: TokenRequest): Promise<TokenAnswer & { readonly lifeMs: number }> {
    const { transport, budget, clock } = this.#parts;
    // Shared by callers that come and go: none of their signals may end it. The transport's limits do.
    const { signal } = new AbortController();
    const exchange = tokenExchange(request);
    const turn = { priority: request.context.priority, signal };
    const answer = await budget.run(exchange.url.host, turn, () => transport.send(exchange, signal));
    if (answer.status === 400 || answer.status === 401 || answer.status === 403) return { kind: "denied", lifeMs: 0 };
    if (answer.status !== 200) throw realmFailed(request, answer, clock.nowMs());
    const body = TokenBody.safeParse(parseJson(answer.body));
    const token = body.data?.token || body.data?.access_token;
    if (token !== undefined && token !== "" && isSendable(token)) {
      return { kind: "token", token, lifeMs: Math.max(LEAST_LIFE_MS, (body.data?.expires_in ?? 0) * 1_000) };
    }
    const { host } = request.endpoint;
    const message = `Cannot log in to "${host}": its token server answered without a token.`;
    throw inspectionError("Malformed", message, { registry: host });
  }
}

/** A token is used at the host alone that wanted it, even where another one names the same realm. */
function keyOf({ endpoint, challenge, scopes, credential }: TokenRequest): string {
  return JSON.stringify([endpoint.host, challenge.realm, challenge.service, scopes, fingerprintOf(credential)]);
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
