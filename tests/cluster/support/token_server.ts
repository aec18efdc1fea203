// A token server for a registry with `auth: token`: GET with Basic credentials (or anonymous), POST with a refresh token.
// Started by registry.ts.
import { type RepositoryAccess, signToken } from "./json_web_token.ts";
import { type CertificateAuthority, createAuthority, type IssuedCertificate } from "./pki.ts";

const LIFETIME_SECONDS = 300;

export interface TokenServerOptions {
  readonly service: string;
  readonly issuer: string;
  readonly users: Readonly<Record<string, string>>;
  readonly publicRepositories?: readonly string[];
  /** Name of the member that carries the token; registries in the field use either or both. */
  readonly tokenMember?: "token" | "access_token";
  /** A refresh token that is worth a user's password (identity token). */
  readonly identityTokens?: Readonly<Record<string, string>>;
  /** Serves TLS with a certificate of this authority; plain HTTP without. */
  readonly authority?: CertificateAuthority;
  /** Where it listens. Default 127.0.0.1. */
  readonly address?: string;
}

export interface TokenRequest {
  readonly method: string;
  readonly user: string | undefined;
  readonly scopes: readonly string[];
  readonly service: string | undefined;
  readonly status: number;
}

export interface TokenServer extends AsyncDisposable {
  /** URL for `realm`. */
  readonly realm: string;
  /** Certificate that the registry must trust (`rootcertbundle`), PEM. */
  readonly rootCertificatePem: string;
  readonly requests: readonly TokenRequest[];
  /** A token with every right that is asked for, for the test's own pushes. */
  issue(access: readonly RepositoryAccess[]): Promise<string>;
}

export async function startTokenServer(options: TokenServerOptions): Promise<TokenServer> {
  const signers = await createAuthority("archway test token server");
  const signer = await signers.issue({ commonName: "token signer", usage: "client", keyType: "rsa" });
  const requests: TokenRequest[] = [];
  const handler = async (request: Request): Promise<Response> => {
    const asked = await parseTokenRequest(request);
    const outcome = authenticate(asked, options);
    requests.push({ ...asked, user: outcome.user, status: outcome.status });
    if (outcome.status !== 200) {
      return Response.json({ details: "incorrect username or password" }, { status: outcome.status });
    }
    const access = grant(asked.scopes, { user: outcome.user, publicRepositories: options.publicRepositories ?? [] });
    return Response.json(await renderAnswer(signer, { options, access, user: outcome.user ?? "" }));
  };
  const { address = "127.0.0.1" } = options;
  const names = ["localhost", "127.0.0.1", address];
  const certificate = await options.authority?.issue({ commonName: "token server", usage: "server", names });
  const server = Deno.serve({
    hostname: address,
    port: 0,
    onListen: () => {},
    ...(certificate === undefined ? {} : { cert: certificate.certificatePem, key: certificate.keyPem }),
  }, handler);
  return {
    realm: `${certificate === undefined ? "http" : "https"}://${address}:${server.addr.port}/token`,
    rootCertificatePem: signers.certificatePem,
    requests,
    issue: (access) => signToken(signer, claims(options, { access, user: "pusher" })),
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

interface AskedToken {
  readonly method: string;
  readonly scopes: readonly string[];
  readonly service: string | undefined;
  readonly basic: string | undefined;
  readonly refreshToken: string | undefined;
}

async function parseTokenRequest(request: Request): Promise<AskedToken> {
  const form = request.method === "POST"
    ? new URLSearchParams(await request.text())
    : new URL(request.url).searchParams;
  const authorization = request.headers.get("authorization");
  return {
    method: request.method,
    scopes: form.getAll("scope").flatMap((scope) => scope.split(" ")),
    service: form.get("service") ?? undefined,
    basic: authorization?.match(/^Basic (.+)$/i)?.[1],
    refreshToken: form.get("refresh_token") ?? undefined,
  };
}

interface Outcome {
  readonly status: 200 | 401;
  readonly user: string | undefined;
}

function authenticate(asked: AskedToken, options: TokenServerOptions): Outcome {
  if (asked.method === "POST") {
    const user = options.identityTokens?.[asked.refreshToken ?? ""];
    return { status: user === undefined ? 401 : 200, user };
  }
  if (asked.basic === undefined) return { status: 200, user: undefined };
  const [user = "", ...password] = new TextDecoder().decode(Uint8Array.fromBase64(asked.basic)).split(":");
  return { status: options.users[user] === password.join(":") ? 200 : 401, user };
}

/** A known user gets what is asked for; anyone else may only pull what is public. */
function grant(
  scopes: readonly string[],
  { user, publicRepositories }: { readonly user: string | undefined; readonly publicRepositories: readonly string[] },
): readonly RepositoryAccess[] {
  return scopes.flatMap((scope) => {
    const [type = "", ...rest] = scope.split(":");
    const actions = (rest.pop() ?? "").split(",");
    const name = rest.join(":");
    if (user !== undefined) return [{ type, name, actions }];
    return publicRepositories.some((prefix) => name.startsWith(prefix)) ? [{ type, name, actions: ["pull"] }] : [];
  });
}

interface Granted {
  readonly access: readonly RepositoryAccess[];
  readonly user: string;
}

function claims(options: TokenServerOptions, { access, user }: Granted): Parameters<typeof signToken>[1] {
  const { issuer, service } = options;
  return { issuer, audience: service, subject: user, access, lifetimeSeconds: LIFETIME_SECONDS };
}

async function renderAnswer(
  signer: IssuedCertificate,
  { options, ...granted }: Granted & { readonly options: TokenServerOptions },
): Promise<Readonly<Record<string, unknown>>> {
  const token = await signToken(signer, claims(options, granted));
  return {
    [options.tokenMember ?? "token"]: token,
    expires_in: LIFETIME_SECONDS,
    issued_at: new Date().toISOString(),
  };
}
