// The API server's address and our credentials, from a ServiceAccount's files; and which kubeconfig to read instead.
import type { Clock } from "../clock.ts";

/** CAs and client certificate of a connection. Stays the same object until one of them changes. */
export interface TlsClientConfig {
  /** PEM bundles trusted besides Deno's own roots, which cannot be replaced. */
  readonly caCerts: readonly string[];
  readonly client?: { readonly cert: string; readonly key: string };
}

export interface ClusterCredentials {
  /** Headers of every request: `Authorization`, `Impersonate-User`. Never logged. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsClientConfig;
}

export interface ClusterAccess {
  /** `https://host:port`, without trailing slash. The server's certificate must be for its host. */
  readonly baseUrl: string;
  readonly proxyUrl?: string;
  /** The name in the server's certificate, if not that of `baseUrl`. */
  readonly serverName?: string;
  /** The default namespace of commands; undefined when the kubeconfig's context has none. */
  readonly namespace?: string;
  readonly skipsTlsVerify?: true;
  /** Fresh credentials. Throws when there are none; the message says what to do. */
  credentials(): Promise<ClusterCredentials>;
  discardCredentials(): void;
}

/** Age (ms) at which credentials are read again: after a rotation, the old token stays valid for minutes. */
const CREDENTIALS_MAX_AGE_MS = 60_000;

/** Younger credentials are not discarded (ms). Otherwise each request that a server refuses would read them again. */
const DISCARD_INTERVAL_MS = 1_000;

export const SERVICE_ACCOUNT_DIRECTORY = "/var/run/secrets/kubernetes.io/serviceaccount";

interface InClusterOptions {
  readonly host: string | undefined;
  readonly port: string | undefined;
  /** The home directory that has no default kubeconfig; named in the error. */
  readonly home?: string | undefined;
  /** Where the ServiceAccount's files are. */
  readonly directory: string;
  readonly clock: Clock;
}

/** Access with the pod's own ServiceAccount. Reads its files once before it resolves; throws when one is missing. */
export async function readInClusterAccess(options: InClusterOptions): Promise<ClusterAccess> {
  const { host, port, home, directory } = options;
  if (host === undefined || host === "") {
    const missing = home === undefined ? "" : `, and there is no ${home}/.kube/config`;
    throw new Error(`Not in a pod and no kubeconfig given${missing}. Pass --kubeconfig FILE or set KUBECONFIG.`);
  }
  if (port === undefined || !/^\d+$/.test(port)) {
    throw new Error(
      `Cannot find the API server "${host}": KUBERNETES_SERVICE_PORT is no port. Pass --kubeconfig FILE.`,
    );
  }
  let tls: TlsClientConfig = { caCerts: [] };
  const cache = new CredentialsCache(options.clock, async () => {
    const token = await readPart(directory, "token");
    const ca = await readPart(directory, "ca.crt");
    if (tls.caCerts[0] !== ca) tls = { caCerts: [ca] };
    return { headers: { authorization: `Bearer ${token.trim()}` }, tls };
  });
  await cache.credentials();
  return {
    baseUrl: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    credentials: () => cache.credentials(),
    discardCredentials: () => cache.discard(),
  };
}

/** Keeps credentials for {@link CREDENTIALS_MAX_AGE_MS}; concurrent callers share one read. */
export class CredentialsCache {
  readonly #clock: Clock;
  readonly #read: () => Promise<ClusterCredentials>;
  #kept: { readonly value: ClusterCredentials; readonly atMs: number } | undefined;
  #reading: Promise<ClusterCredentials> | undefined;
  #stale = false;

  constructor(clock: Clock, read: () => Promise<ClusterCredentials>) {
    this.#clock = clock;
    this.#read = read;
  }

  /** Returns kept credentials if fresh, else reads. Old ones serve while another caller reads, and if reading fails. */
  async credentials(): Promise<ClusterCredentials> {
    const kept = this.#kept;
    const isFresh = kept !== undefined && this.#clock.monotonicMs() - kept.atMs < CREDENTIALS_MAX_AGE_MS;
    if (kept !== undefined && (isFresh || this.#reading !== undefined) && !this.#stale) return kept.value;
    this.#reading ??= this.#readNow().finally(() => {
      this.#reading = undefined;
      this.#stale = false;
    });
    return await this.#reading;
  }

  discard(): void {
    const kept = this.#kept;
    this.#stale = kept === undefined || this.#clock.monotonicMs() - kept.atMs >= DISCARD_INTERVAL_MS;
  }

  async #readNow(): Promise<ClusterCredentials> {
    const kept = this.#kept;
    try {
      const value = await this.#read();
      this.#kept = { value, atMs: this.#clock.monotonicMs() };
      return value;
    } catch (error) {
      if (kept === undefined) throw error;
      return kept.value;
    }
  }
}

async function readPart(directory: string, name: string): Promise<string> {
  const path = `${directory}/${name}`;
  try {
    const text = await Deno.readTextFile(path);
    if (text.trim() !== "") return text;
  } catch (cause) {
    throw new Error(
      `Cannot read the ServiceAccount file "${path}": ${cause instanceof Error ? cause.message : String(cause)}. ` +
        "Set automountServiceAccountToken on the pod, or pass --kubeconfig.",
      { cause },
    );
  }
  throw new Error(
    `Cannot use the ServiceAccount file "${path}": it is empty. Restart the pod to have it mounted anew.`,
  );
}

interface KubeconfigSources {
  /** From the flag or KUBECONFIG: one path, or several separated by colons. */
  readonly given: string | undefined;
  /** The user's home; undefined to skip the default file, as in a pod. */
  readonly home: string | undefined;
  readonly exists: (path: string) => boolean;
}

/** The first path in `given` that exists, else `given` itself. Without `given`: the home's default file, if any. */
export function kubeconfigPath({ given, home, exists }: KubeconfigSources): string | undefined {
  if (given !== undefined) return [given, ...given.split(":")].find((path) => path !== "" && exists(path)) ?? given;
  const path = `${home ?? ""}/.kube/config`;
  return home !== undefined && exists(path) ? path : undefined;
}
