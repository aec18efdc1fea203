// The token request: its address, its form or header, and which token servers are allowed.
import type { Challenge } from "./challenge.ts";
import type { Credential } from "../credential.ts";
import { inspectionError } from "../errors.ts";
import type { RegistryRequest } from "../http/exchange.ts";
import type { InspectionContext } from "../request_log.ts";
import { type Endpoint, transportElsewhere } from "../pull_plan.ts";

export interface TokenRequest {
  readonly endpoint: Endpoint;
  readonly challenge: Extract<Challenge, { kind: "bearer" }>;
  readonly scopes: readonly string[];
  readonly credential: Credential | undefined;
  readonly context: InspectionContext;
}

const MAX_TOKEN_BYTES = 1024 * 1024;

/** GET with Basic (or nothing) for passwords, POST with the refresh token for identity tokens. */
export function tokenExchange({ endpoint, challenge, scopes, credential, context }: TokenRequest): RegistryRequest {
  const url = realmUrl(endpoint, challenge.realm);
  const isSameHost = url.host === endpoint.host;
  const transport = isSameHost ? endpoint.transport : transportElsewhere(endpoint.transport, endpoint.host, url);
  const { log: requestLog, callers } = context;
  const common = { transport, maxBytes: MAX_TOKEN_BYTES, kind: "token", requestLog, callers } as const;
  // An anonymous token is not requested there either, unless the registry is declared: image names come from tenants.
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
  throw inspectionError("Malformed", message, { registry: endpoint.host });
}

export function basicAuthorization(secret: { readonly username: string; readonly password: string }): string {
  return `Basic ${new TextEncoder().encode(`${secret.username}:${secret.password}`).toBase64()}`;
}
