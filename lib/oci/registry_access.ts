// How registries are reached, from the configuration: plans, credentials, connections and limits.
import type { Clock } from "../clock.ts";
import type { Logger } from "../log.ts";
import { openPullPlanner, type PullPlanner } from "./config/planner.ts";
import { NO_REGISTRY_ENVIRONMENT, type RegistryEnvironment, systemPaths } from "./config/registry_environment.ts";
import type { NamedPaths } from "./config/settings_files.ts";
import type { Credential, Keyring } from "./credential.ts";
import { type KeyringOptions, openKeyring } from "./credentials/keyring.ts";
import { runCommand } from "./credentials/run_command.ts";
import { Transport, type TransportDeps } from "./http/transport.ts";
import type { HostState } from "./limits/host_state.ts";
import { WorkLimits } from "./limits/work_limits.ts";
import { HostLimiters } from "./limits/host_limiters.ts";
import { makeClientDeps, type RepositoryClientDeps } from "./repository_client.ts";

export interface RegistryConfig
  extends NamedPaths, Pick<KeyringOptions, "dockerConfig" | "credentialProviderConfig" | "credentialProviderBinDir"> {
  /** Absent: the environment is ignored. */
  readonly registryEnvironment?: RegistryEnvironment;
}

export interface RegistryAccessOptions {
  readonly config: RegistryConfig;
  readonly clock: Clock;
  readonly log: Logger;
  readonly userAgent: string;
  readonly clusterCredentials: () => readonly Credential[];
  /** Who reads the errors; absent: tenants. */
  readonly audience?: TransportDeps["audience"];
}

export interface RegistryAccess extends Disposable {
  readonly planner: PullPlanner;
  readonly keyring: Keyring;
  /** What all clients of repositories are made with. It keeps what they learn about hosts. */
  readonly clientDeps: RepositoryClientDeps;
  publicHostStates(): readonly HostState[];
}

/** Opens the access without a connection. Never throws for a bad file: its problems are logged. */
export function openRegistryAccess(options: RegistryAccessOptions): RegistryAccess {
  const { config, clock, log, clusterCredentials, userAgent, audience } = options;
  const { home, cacheHome, proxies } = config.registryEnvironment ?? NO_REGISTRY_ENVIRONMENT;
  const planner = openPullPlanner({ ...config, system: systemPaths({ home, cacheHome }), log, clock });
  const limits = new WorkLimits();
  const keyring = openKeyring({
    ...config,
    extra: () => [...clusterCredentials(), ...planner.credentials()],
    helpers: planner.credentialHelpers,
    limits,
    log,
    clock,
    run: runCommand,
  });
  const transport = new Transport({
    limits,
    clock,
    resolve: resolveAddresses,
    userAgent,
    proxies,
    audience,
  });
  const hosts = new HostLimiters({ clock, log, declared: [...config.registry, ...config.insecureRegistry] });
  return {
    planner,
    keyring,
    clientDeps: makeClientDeps({ transport, hosts, limits, clock }),
    publicHostStates: () => hosts.publicHostStates(),
    [Symbol.dispose]: () => transport[Symbol.dispose](),
  };
}

/** Addresses of a name, by the system's own resolver (hosts file included); none when the name does not resolve. */
async function resolveAddresses(hostname: string): Promise<readonly string[]> {
  const { lookup } = await import("node:dns/promises");
  try {
    return (await lookup(hostname, { all: true })).map(({ address }) => address);
  } catch {
    return [];
  }
}
