// A registry in memory on real loopback HTTP or TLS: documents, Basic and token login, and a hook for every fault. It keeps
// what was asked, so tests can count and see who sent which credential.
import { type KeyPair } from "../../lib/server/https_listener.ts";
import { type Listener, listenPlain, listenTls } from "../../playground/listen.ts";
import type { Document } from "./documents.ts";

export interface SeenRequest {
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  readonly headers: Headers;
  /** Body of a POST. */
  readonly body: string;
}

export type Login =
  | { readonly kind: "none" }
  | { readonly kind: "basic"; readonly users: Readonly<Record<string, string>> }
  | {
    readonly kind: "token";
    readonly users: Readonly<Record<string, string>>;
    /** Also gives tokens without a login. */
    readonly anonymous: boolean;
    /** Refresh tokens that the token server takes. */
    readonly identityTokens?: readonly string[];
    /** Instead of the registry's own `/token`. */
    readonly realm?: string;
    /** The member that holds the token. */
    readonly member?: "token" | "access_token";
  };

/** Answers instead of the registry; undefined lets the request pass. */
export type Intercept = (request: SeenRequest) => Response | Promise<Response> | undefined;

export interface FakeRegistry extends AsyncDisposable {
  /** `127.0.0.1:port`. */
  readonly host: string;
  readonly origin: string;
  readonly requests: readonly SeenRequest[];
  /** Serves a manifest by digest and by these tags; answers its digest. */
  put(repository: string, document: Document, ...tags: readonly string[]): string;
  putBlob(repository: string, document: Document): void;
  intercept: Intercept;
  /** `GET manifests`-like lines of what was asked, in order. */
  asked(): readonly string[];
}

export async function openFakeRegistry(
  options: { readonly login?: Login; readonly certificate?: KeyPair } = {},
): Promise<FakeRegistry> {
  const { login = { kind: "none" }, certificate } = options;
  const documents = new Map<string, Document>();
  const requests: SeenRequest[] = [];
  const handler = async (request: Request): Promise<Response> => {
    const { pathname, search } = new URL(request.url);
    const body = await request.text().catch(() => undefined);
    // It broke off: the client does not wait for an answer.
    if (body === undefined) return new Response(null, { status: 400 });
    const seen = { method: request.method, path: pathname + search, headers: request.headers, body };
    requests.push(seen);
    return await registry.intercept(seen) ?? answer(seen, { documents, login, origin: registry.origin });
  };
  const listener: Listener = certificate === undefined
    ? listenPlain(handler)
    : await listenTls(handler, { certificate });
  const registry: FakeRegistry = {
    host: listener.host,
    origin: listener.origin,
    requests,
    put: (repository, document, ...tags) => {
      for (const name of [document.digest, ...tags]) documents.set(`/v2/${repository}/manifests/${name}`, document);
      return document.digest;
    },
    putBlob: (repository, document) => void documents.set(`/v2/${repository}/blobs/${document.digest}`, document),
    intercept: () => undefined,
    asked: () => requests.map(({ method, path }) => `${method} ${path.split("/").at(-2)?.split("?")[0] ?? ""}`),
    [Symbol.asyncDispose]: () => listener[Symbol.asyncDispose](),
  };
  return registry;
}

interface Shelf {
  readonly documents: ReadonlyMap<string, Document>;
  readonly login: Login;
  readonly origin: string;
}

function answer(request: SeenRequest, { documents, login, origin }: Shelf): Response {
  const [path = ""] = request.path.split("?");
  if (path === "/token" && login.kind === "token") return giveToken(request, login);
  const repository = /^\/v2\/(.+)\/(?:manifests|blobs)\//.exec(path)?.[1] ?? "";
  const challenge = challengeFor(request, { login, repository, origin });
  if (challenge !== undefined) {
    return Response.json({ errors: [{ code: "UNAUTHORIZED" }] }, {
      status: 401,
      headers: { "www-authenticate": challenge },
    });
  }
  const document = documents.get(path);
  if (document === undefined) return Response.json({ errors: [{ code: "MANIFEST_UNKNOWN" }] }, { status: 404 });
  const headers = { "content-type": document.mediaType, "docker-content-digest": document.digest };
  return new Response(request.method === "HEAD" ? null : document.text, { headers });
}

function challengeFor(
  { headers }: SeenRequest,
  { login, repository, origin }: { readonly login: Login; readonly repository: string; readonly origin: string },
): string | undefined {
  const authorization = headers.get("authorization");
  if (login.kind === "none") return undefined;
  if (login.kind === "basic") return isUser(authorization, login.users) ? undefined : 'Basic realm="fake"';
  const scope = `repository:${repository}:pull`;
  if (authorization === `Bearer ${btoa(scope)}`) return undefined;
  return `Bearer realm="${login.realm ?? `${origin}/token`}",service="fake",scope="${scope}"`;
}

function giveToken(request: SeenRequest, login: Extract<Login, { kind: "token" }>): Response {
  const form = new URLSearchParams(request.method === "POST" ? request.body : request.path.split("?")[1]);
  const authorization = request.headers.get("authorization");
  const isKnown = request.method === "POST"
    ? login.identityTokens?.includes(form.get("refresh_token") ?? "") === true
    : authorization === null
    ? login.anonymous
    : isUser(authorization, login.users);
  if (!isKnown) return Response.json({ errors: [{ code: "UNAUTHORIZED" }] }, { status: 401 });
  return Response.json({ [login.member ?? "token"]: btoa(form.get("scope") ?? ""), expires_in: 300 });
}

function isUser(authorization: string | null, users: Readonly<Record<string, string>>): boolean {
  return Object.entries(users).some(([name, password]) => authorization === `Basic ${btoa(`${name}:${password}`)}`);
}
