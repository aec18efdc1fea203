// Reads documents of one repository at one host for one inspection: sends each request within the host's limits, logs in
// with one credential after the other, and checks what comes back.
import type { Clock } from "../clock.ts";
import { isSameLogin } from "./auth/challenge.ts";
import { type LearnedChallenges, openLearnedChallenges } from "./auth/learned_challenges.ts";
import { Login } from "./auth/login.ts";
import type { TokenSource } from "./auth/token.ts";
import type { Credential } from "./credential.ts";
import { scopeCovers } from "./credentials/match.ts";
import { type ConnectionVariants, openConnectionVariants } from "./http/connection_variants.ts";
import type { Answer, Exchange, GuestAuthorization } from "./http/exchange.ts";
import type { Transport } from "./http/transport.ts";
import {
  type DocumentName,
  documentUrl,
  overloaded,
  refused,
  type RegistryDocument,
  rootUrl,
  toDocument,
} from "./image/document.ts";
import type { DocumentReader } from "./image/image_reader.ts";
import { MANIFEST_MEDIA_TYPES } from "./image/manifest.ts";
import type { InspectionContext } from "./inspection_context.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { pauseOf } from "./limits/outcome.ts";
import type { RequestLimiter } from "./limits/request_limiter.ts";
import type { Endpoint } from "./pull_plan.ts";
import type { RequestKind } from "./request_log.ts";

/** The documents of one repository. Each call throws InspectionError, and says which credentials were refused. */
export interface Session extends DocumentReader {
  /** What is known of a manifest without reading it. */
  head(reference: string): Promise<RegistryDocument>;
}

/** Opens a session; nothing is sent before the first document is asked for. */
export type OpenSession = (endpoint: Endpoint, context: InspectionContext) => Session;

/** What sessions are made with. */
export interface SessionDeps {
  /** Sends exchanges. */
  readonly transport: Transport;
  /** Gives bearer tokens. */
  readonly tokens: TokenSource;
  /** Limits the requests to each host. */
  readonly limiter: RequestLimiter;
  /** Reads dates in `Retry-After`. */
  readonly clock: Clock;
}

/** Opens what all sessions share: the memory of how each host and repository is connected to and logged in to. */
export function openSessions(deps: SessionDeps): OpenSession {
  const shared = { ...deps, challenges: openLearnedChallenges(), variants: openConnectionVariants() };
  return (endpoint, context) => new RegistrySession(shared, { endpoint, context });
}

type Attempt =
  | { readonly kind: "document"; readonly document: RegistryDocument }
  | {
    readonly kind: "refused";
    /** The last answer; undefined when the token server refused the credential. */
    readonly answer: Answer | undefined;
    /** Whether another credential may be received otherwise. */
    readonly mayDiffer: boolean;
    /** Whether the repository turned out to be logged in to in another way than was expected. */
    readonly isOtherLogin: boolean;
  };

const MIB = 1024 * 1024;

/** Registries need not accept manifests beyond 4 MiB. Below the top one none is near 1 MiB, of which there may be many. */
const MAX_BYTES: Readonly<Record<DocumentName["kind"], number>> = {
  manifest: 4 * MIB,
  head: 4 * MIB,
  child: MIB,
  blob: MIB,
};

const REQUEST_KIND: Readonly<Record<DocumentName["kind"], RequestKind>> = {
  manifest: "manifestGet",
  child: "manifestGet",
  head: "manifestHead",
  blob: "blobGet",
};

interface Shared extends SessionDeps {
  readonly challenges: LearnedChallenges;
  readonly variants: ConnectionVariants;
}

class RegistrySession implements Session {
  readonly #shared: Shared;
  readonly #endpoint: Endpoint;
  readonly #context: InspectionContext;
  readonly #credentials: readonly Credential[];
  readonly #login: Login;
  #guest: GuestAuthorization | undefined;

  constructor(
    shared: Shared,
    { endpoint, context }: { readonly endpoint: Endpoint; readonly context: InspectionContext },
  ) {
    this.#shared = shared;
    this.#endpoint = endpoint;
    this.#context = context;
    this.#credentials = context.credentials.filter(({ scope }) => scopeCovers(scope, endpoint));
    const { tokens, challenges, variants } = shared;
    this.#login = new Login({
      tokens,
      challenges,
      endpoint,
      context,
      transport: () => variants.transport(endpoint),
      askRoot: (signal) =>
        this.#exchange({ kind: "other", method: "GET", maxBytes: MIB }, {
          urlBy: (scheme) => rootUrl(endpoint, scheme),
          signal,
        }),
    });
  }

  manifest(identifier: string): Promise<RegistryDocument> {
    return this.#read({ kind: "manifest", identifier });
  }

  child(identifier: string): Promise<RegistryDocument> {
    return this.#read({ kind: "child", identifier });
  }

  blob(identifier: string): Promise<RegistryDocument> {
    return this.#read({ kind: "blob", identifier });
  }

  head(identifier: string): Promise<RegistryDocument> {
    return this.#read({ kind: "head", identifier });
  }

  async #read(document: DocumentName): Promise<RegistryDocument> {
    const first = await this.#tryEach(document);
    if (first.kind === "document") return first.document;
    // The cached challenge was not that of the repository: try all credentials again with the right one.
    const last = first.isOtherLogin ? await this.#tryEach(document) : first;
    if (last.kind === "document") return last.document;
    throw refused(this.#endpoint, { document, status: last.status, credentials: this.#credentials });
  }

  /** One credential after the other, anonymous last, until one gives the document. */
  async #tryEach(document: DocumentName): Promise<
    | Extract<Attempt, { kind: "document" }>
    | { readonly kind: "refused"; readonly status: number | undefined; readonly isOtherLogin: boolean }
  > {
    let status: number | undefined;
    let isOtherLogin = false;
    for (const credential of [...this.#credentials, undefined]) {
      const attempt = await this.#tryAs(credential, document);
      if (attempt.kind === "document") return attempt;
      // Some registries answer 404 where access is missing: a missing manifest weighs more than a refusal.
      if (status !== 404) status = attempt.answer?.status ?? status;
      isOtherLogin ||= attempt.isOtherLogin;
      if (!attempt.mayDiffer) break;
    }
    return { kind: "refused", status, isOtherLogin };
  }

  async #tryAs(credential: Credential | undefined, document: DocumentName): Promise<Attempt> {
    const expected = await this.#login.expected(credential);
    const first = await this.#login.authorize(credential, expected);
    if (first.kind === "denied" && credential !== undefined) {
      return { kind: "refused", answer: undefined, mayDiffer: true, isOtherLogin: false };
    }
    // A token server may refuse anonymous tokens although the repository is open: it is still worth a try without one.
    const header = first.kind === "denied" ? undefined : first.header;
    const isLoggedIn = header !== undefined;
    const answer = await this.#send(document, { authorization: header, credential });
    if (isFinal(answer)) return this.#found(document, { answer, credential: isLoggedIn ? credential : undefined });
    const offered = await this.#offered(answer, { credential, isLoggedIn, document });
    const isOtherLogin = expected !== undefined && offered !== undefined && !isSameLogin(expected, offered);
    const mayDiffer = isLoggedIn || expected !== undefined || offered !== undefined;
    const refusal: Attempt = { kind: "refused", answer, mayDiffer, isOtherLogin };
    if (offered === undefined) return isLoggedIn ? refusal : await this.#tryAsGuest(document, refusal);
    const isFutile = first.kind === "denied" || isLoggedIn && offered.kind === "basic";
    if (isFutile && !isOtherLogin) return refusal;
    if (offered.kind === "bearer" && isLoggedIn) this.#login.discard(credential, offered);
    const second = await this.#login.authorize(credential, offered);
    if (second.kind === "denied" || second.header === undefined) return refusal;
    const last = await this.#send(document, { authorization: second.header, credential });
    return isFinal(last) ? this.#found(document, { answer: last, credential }) : { ...refusal, answer: last };
  }

  /** The challenge of an answer that is a refusal; where there is none, and a credential to use, that of the root. */
  async #offered(
    answer: Answer,
    { credential, isLoggedIn, document }: {
      readonly credential: Credential | undefined;
      readonly isLoggedIn: boolean;
      readonly document: DocumentName;
    },
  ): Promise<ReturnType<Login["offeredTo"]>> {
    const isRefused = answer.status === 401 || answer.status === 403 && !isLoggedIn;
    const offered = isRefused ? this.#login.offeredTo(credential, answer) : undefined;
    const isSilent = offered === undefined && !isLoggedIn && credential !== undefined && document.kind !== "head";
    return isSilent ? await this.#login.readRoot() : offered;
  }

  /** A registry may redirect to another one that gives even public images only to those with an anonymous token. */
  async #tryAsGuest(document: DocumentName, refusal: Extract<Attempt, { kind: "refused" }>): Promise<Attempt> {
    const { answer } = refusal;
    const guest = answer?.status === 401 ? await this.#login.guestAuthorization(answer) : undefined;
    if (guest === undefined) return refusal;
    this.#guest = guest;
    const second = await this.#send(document);
    return isFinal(second)
      ? this.#found(document, { answer: second, credential: undefined })
      : { ...refusal, answer: second };
  }

  #found(
    document: DocumentName,
    found: { readonly answer: Answer; readonly credential: Credential | undefined },
  ): Attempt {
    return { kind: "document", document: toDocument(this.#endpoint, { document, ...found }) };
  }

  /** Throws InspectionError when no answer comes, and for 429 and 5xx. */
  async #send(
    document: DocumentName,
    { authorization, credential }: {
      readonly authorization?: string | undefined;
      readonly credential?: Credential | undefined;
    } = {},
  ): Promise<Answer> {
    const { clock } = this.#shared;
    const answer = await this.#exchange({
      kind: REQUEST_KIND[document.kind],
      maxBytes: MAX_BYTES[document.kind],
      method: document.kind === "head" ? "HEAD" : "GET",
      accept: document.kind === "blob" ? undefined : MANIFEST_MEDIA_TYPES.join(", "),
      authorization,
      guest: this.#guest,
    }, {
      urlBy: (scheme) => documentUrl(this.#endpoint, { ...document, scheme }),
      signal: this.#context.signal,
      account: fingerprintOf(authorization === undefined ? undefined : credential),
    });
    const { status } = answer;
    if (status !== 429 && status < 500) return answer;
    throw overloaded(this.#endpoint, { document, status, retryAfterMs: pauseOf(answer, clock.nowMs()) });
  }

  /** Waits for its turn at the host, and waits out short pauses that the host asks for. */
  async #exchange(
    message: Pick<Exchange, "kind" | "method" | "maxBytes" | "accept" | "authorization" | "guest">,
    { urlBy, signal, account = fingerprintOf(undefined) }: {
      readonly urlBy: (scheme: "https" | "http") => URL;
      readonly signal: AbortSignal;
      /** The registry counts the requests of one login, and of none, together. */
      readonly account?: string;
    },
  ): Promise<Answer> {
    const { limiter, transport, variants } = this.#shared;
    const { host, repository, headers } = this.#endpoint;
    const { askers, log: requestLog } = this.#context;
    const common = { ...message, headers, requestLog };
    return await limiter.run({ host, repository, account, askers, signal }, () =>
      variants.sendInTurn(
        this.#endpoint,
        (scheme, variant) => transport.send({ ...common, url: urlBy(scheme), transport: variant }, signal),
      ));
  }
}

/** Whether an answer ends the search for a credential: anything but "not for you" and "not there". */
function isFinal({ status }: Answer): boolean {
  return status !== 401 && status !== 403 && status !== 404;
}
