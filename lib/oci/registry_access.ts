// How registries are reached, from the configuration: plans, credentials, connections and limits.
import type { Clock } from "../clock.ts";
import type { Logger } from "../log.ts";
import { TokenSource } from "./auth/token.ts";
import { openPullPlanner, type PullPlannerHandle } from "./config/planner.ts";
import { NO_REGISTRY_ENVIRONMENT, type RegistryEnvironment, systemPaths } from "./config/registry_environment.ts";
import type { NamedPaths } from "./config/settings_files.ts";
import type { Credential, Keyring } from "./credential.ts";
import { openKeyring } from "./credentials/keyring.ts";
import { Transport, type TransportDeps } from "./http/transport.ts";
import { RequestLimiter } from "./limits/request_limiter.ts";

export interface RegistryConfig extends NamedPaths {
  readonly registry: readonly string[];
  readonly registryCa: readonly string[];
  readonly insecureRegistry: readonly string[];
  readonly dockerConfig?: string | undefined;
  readonly credentialProviderConfig?: string | undefined;
  readonly credentialProviderBinDir?: string | undefined;
  /** Absent: the environment counts for nothing. */
  readonly registryEnvironment?: RegistryEnvironment;
}

export interface RegistryAccessOptions {
  readonly config: RegistryConfig;
  readonly clock: Clock;
  readonly log: Logger;
  readonly userAgent: string;
  readonly clusterCredentials: () => readonly Credential[];
  /** Who reads what failed: tenants, unless it says otherwise. */
  readonly audience?: TransportDeps["audience"];
}

export interface RegistryAccess extends Disposable {
  readonly planner: PullPlannerHandle;
  readonly keyring: Keyring;
  readonly transport: Transport;
  readonly limiter: RequestLimiter;
  readonly tokens: TokenSource;
}

/** Opens it; nothing is connected yet. Never throws for a bad file: what is wrong is logged, and what works is used. */
export function openRegistryAccess(options: RegistryAccessOptions): RegistryAccess {
  const { config, clock, log } = options;
  const planner = openPlanner(options);
  const keyring = openNodeKeyring(options, planner);
  const transport = openRegistryTransport(options);
  const limiter = new RequestLimiter({ clock, log, declared: [...config.registry, ...config.insecureRegistry] });
  const tokens = new TokenSource({ transport, limiter, clock });
  return { planner, keyring, transport, limiter, tokens, [Symbol.dispose]: () => transport[Symbol.dispose]() };
}

function openPlanner({ config, clock, log }: RegistryAccessOptions): PullPlannerHandle {
  const { registriesConf, registriesConfDir, hostsDir, rancherRegistries, certsDir, policy } = config;
  return openPullPlanner({
    registriesConf,
    registriesConfDir,
    hostsDir,
    rancherRegistries,
    certsDir,
    policy,
    declared: config.registry,
    insecure: config.insecureRegistry,
    caFiles: config.registryCa,
    caCertificates: [],
    system: systemPaths(config.registryEnvironment ?? NO_REGISTRY_ENVIRONMENT),
    log,
    clock,
  });
}

/** The credentials that hold for every pod: of the node's files, its providers and helpers, and the cluster's own. */
function openNodeKeyring(options: RegistryAccessOptions, planner: PullPlannerHandle): Keyring {
  const { config, clock, log, clusterCredentials } = options;
  return openKeyring({
    dockerConfigPath: config.dockerConfig,
    kubeletProviderConfig: config.credentialProviderConfig,
    kubeletProviderBinDir: config.credentialProviderBinDir,
    extra: () => [...clusterCredentials(), ...planner.credentials()],
    helpers: planner.credentialHelpers,
    log,
    clock,
  });
}

function openRegistryTransport({ config, clock, userAgent, audience }: RegistryAccessOptions): Transport {
  const { proxies } = config.registryEnvironment ?? NO_REGISTRY_ENVIRONMENT;
  return new Transport({ clock, resolve: resolveAddresses, userAgent, proxies, audience });
}

/** Addresses of a name, by the system's own resolver (hosts file included); none when it has none. */
async function resolveAddresses(hostname: string): Promise<readonly string[]> {
  const { lookup } = await import("node:dns/promises");
  try {
    return (await lookup(hostname, { all: true })).map(({ address }) => address);
  } catch {
    return [];
  }
}
