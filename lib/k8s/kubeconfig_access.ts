// Access from outside the cluster, by a kubeconfig file. Only this file loads client-node, which is large.
import type { RequestOptions } from "node:https";
import { dirname, resolve } from "node:path";
import type { KubeConfig } from "@kubernetes/client-node";
import { parse as parseYaml } from "yaml";
import type { Clock } from "../clock.ts";
import { listAt, objectAt, textAt } from "../json.ts";
import {
  type ClusterAccess,
  type ClusterCredentials,
  CredentialsCache,
  type TlsClientConfig,
} from "./cluster_access.ts";

interface KubeconfigOptions {
  readonly context?: string | undefined;
  readonly clock: Clock;
  readonly warn?: ((message: string) => void) | undefined;
}

/** Obtains credentials before it resolves. Throws an error that names the file and the fault. */
export async function readKubeconfigAccess(path: string, options: KubeconfigOptions): Promise<ClusterAccess> {
  let config = await loadKubeconfig(path, options.context);
  const server = serverOf(config, path);
  if (server.skipsTlsVerify === true) {
    options.warn?.(
      `kubeconfig "${path}" sets insecure-skip-tls-verify: whoever answers at ${server.baseUrl} gets the credentials. ` +
        "Put the CA of the server into certificate-authority-data instead.",
    );
  }
  let tls: TlsClientConfig = { caCerts: [] };
  let isCurrent = true;
  const cache = new CredentialsCache(options.clock, async () => {
    if (!isCurrent) config = await loadKubeconfig(path, options.context);
    isCurrent = hasExecPlugin(config);
    const credentials = await readCredentials(config, path);
    const token = await readTokenFile(config, path);
    if (!isSameTls(tls, credentials.tls)) tls = credentials.tls;
    const bearer = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return { headers: { ...credentials.headers, ...bearer }, tls };
  });
  await cache.credentials();
  return {
    ...server,
    credentials: () => cache.credentials(),
    discardCredentials: () => {
      isCurrent = false;
      cache.discard();
    },
  };
}

async function loadKubeconfig(path: string, context: string | undefined): Promise<KubeConfig> {
  const { KubeConfig } = await import("@kubernetes/client-node");
  const config = new KubeConfig();
  try {
    config.loadFromFile(path);
  } catch (cause) {
    // The error has no cause, since a parser's message quotes the file and its credentials.
    throw new Error(
      `Cannot read kubeconfig "${path}": ${unquoted(wordsOf(cause))}. Pass the path of a valid kubeconfig.`,
    );
  }
  const known = config.getContexts().map(({ name }) => name);
  const wanted = context ?? config.getCurrentContext();
  if (!known.includes(wanted)) {
    throw new Error(
      `Cannot use context "${wanted ?? ""}" of kubeconfig "${path}": it has no such context. ` +
        `Choose one of: ${known.join(", ") || "(none)"}.`,
    );
  }
  config.setCurrentContext(wanted);
  return config;
}

function serverOf(config: KubeConfig, path: string): Omit<ClusterAccess, "credentials" | "discardCredentials"> {
  const cluster = config.getCurrentCluster();
  if (cluster === null || !URL.canParse(cluster.server)) {
    throw new Error(
      `Cannot use kubeconfig "${path}": context "${config.getCurrentContext()}" names no cluster with a valid server.`,
    );
  }
  const url = new URL(cluster.server);
  const { tlsServerName, proxyUrl } = cluster;
  const namespace = config.getContextObject(config.getCurrentContext())?.namespace;
  const serverName = tlsServerName === url.hostname ? undefined : tlsServerName;
  if (serverName !== undefined && proxyUrl !== undefined) {
    throw new Error(
      `Cannot use kubeconfig "${path}": cluster "${cluster.name}" sets tls-server-name "${serverName}" beside proxy-url, which ` +
        "is not supported. Let that name resolve to the server's address and put it into the server URL.",
    );
  }
  return {
    baseUrl: `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, "")}`,
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
    ...(serverName === undefined ? {} : { serverName }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(cluster.skipTLSVerify ? { skipsTlsVerify: true } : {}),
  };
}

async function readCredentials(config: KubeConfig, path: string): Promise<ClusterCredentials> {
  const options: RequestOptions = {};
  try {
    await config.applyToHTTPSOptions(options);
  } catch (cause) {
    const plugin = hasExecPlugin(config) ? "its exec plugin failed: " : "";
    throw new Error(
      `Cannot get the credentials of user "${config.getCurrentUser()?.name ?? ""}" in kubeconfig "${path}": ` +
        `${plugin}${wordsOf(cause)}. Check that kubectl works with the same file and context.`,
      { cause },
    );
  }
  const [ca, cert, key] = [pemOf(options.ca), pemOf(options.cert), pemOf(options.key)];
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    if (typeof value === "string") headers[name.toLowerCase()] = value.trim();
  }
  if (typeof options.auth === "string") headers["authorization"] ??= `Basic ${btoa(options.auth)}`;
  return {
    headers,
    tls: { caCerts: ca === undefined ? [] : [ca], ...(cert && key ? { client: { cert, key } } : {}) },
  };
}

/** The current token from a user's `tokenFile`, which client-node ignores (it expects `token-file`). */
async function readTokenFile(config: KubeConfig, path: string): Promise<string | undefined> {
  const users = listAt(parseYaml(await Deno.readTextFile(path)), "users") ?? [];
  const current = users.find((user) => textAt(user, "name") === config.getCurrentUser()?.name);
  const tokenFile = textAt(objectAt(current, "user"), "tokenFile");
  if (tokenFile === "") return undefined;
  const file = resolve(dirname(path), tokenFile);
  try {
    return (await Deno.readTextFile(file)).trim();
  } catch (cause) {
    throw new Error(`Cannot read token file "${file}" of kubeconfig "${path}": ${wordsOf(cause)}.`, { cause });
  }
}

function hasExecPlugin(config: KubeConfig): boolean {
  return config.getCurrentUser()?.exec !== undefined && config.getCurrentUser()?.exec !== null;
}

/** PEM text from node's TLS options, which hold text or bytes; undefined for anything else. */
function pemOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  return undefined;
}

function isSameTls(a: TlsClientConfig, b: TlsClientConfig): boolean {
  return a.caCerts.join() === b.caCerts.join() && a.client?.cert === b.client?.cert && a.client?.key === b.client?.key;
}

function unquoted(message: string): string {
  return (message.split("\n")[0] ?? "").replace(/["'`!<].*/, "").trimEnd().replace(/[,:] open$/, "") ||
    "it is not valid";
}

function wordsOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).trim().replace(/\.$/, "") || "no reason was given";
}
