// A credential for a registry, and the interface to the credentials of the cluster and the node.
import type { Callers } from "./callers.ts";

/** One way to authenticate to a registry. Holds secrets: never log, never store. */
export interface Credential {
  /** The credential's key in a docker config: host, `host/path` or a glob. */
  readonly scope: string;
  /** Where it comes from, for users: `secret team-a/pull`, `global pull secret`, `config.json`, `plugin ecr`. */
  readonly source: string;
  /** `basic`: user and password; `identity`: a refresh token; `registry`: a bearer token as it is. */
  readonly secret:
    | { readonly kind: "basic"; readonly username: string; readonly password: string }
    | { readonly kind: "identity"; readonly token: string }
    | { readonly kind: "registry"; readonly token: string };
}

export interface KeyringEndpoint {
  readonly host: string;
  readonly repository: string;
  /** Who needs the credentials. Programs that give credentials run in turn for the callers' namespaces. */
  readonly callers: Callers;
}

/** Finds the cluster- and node-level credentials for an endpoint, best first, without the anonymous one. */
export interface Keyring {
  credentialsFor(endpoint: KeyringEndpoint, signal: AbortSignal): Promise<readonly Credential[]>;
}
