// Everything that inspects images, opened from the configuration and put together:
//
//   keyring → single flight → cache → limit of inspections → registry → session → limit of requests → transport
import type { Clock } from "../clock.ts";
import { type KnownImages, openKnownImages } from "./known_images.ts";
import { openDenoKv } from "../kv/deno_kv.ts";
import { openMemoryStore } from "../kv/memory_store.ts";
import type { Logger } from "../log.ts";
import { limitInspections } from "../oci/limits/inspection_limit.ts";
import { openRequestLimiter } from "../oci/limits/request_limiter.ts";
import { openCachedInspector } from "../oci/cache/cached.ts";
import { openPullPlanner, type PullPlannerHandle } from "../oci/config/planner.ts";
import { NO_REGISTRY_ENVIRONMENT, type RegistryEnvironment, systemPaths } from "../oci/config/registry_environment.ts";
import { openKeyring } from "../oci/credentials/keyring.ts";
import type { Credential, Keyring } from "../oci/credential.ts";
import type { HostState } from "../oci/limits/host_state.ts";
import { openRegistryInspector } from "../oci/inspect.ts";
import type { Inspector } from "../oci/inspector.ts";
import { singleFlight } from "../oci/cache/single_flight.ts";
import { openTokenSource } from "../oci/auth/token.ts";
import { openSessions } from "../oci/session.ts";
import { openTransport } from "../oci/http/transport.ts";
import { withKeyring } from "../oci/with_keyring.ts";

/** The flags that matter here, as lib/config gives them. */
export interface ImageServiceConfig {
  readonly registry: readonly string[];
  readonly registryCa: readonly string[];
  readonly insecureRegistry: readonly string[];
  readonly registriesConf?: string | undefined;
  readonly registriesConfDir?: string | undefined;
  readonly hostsDir?: string | undefined;
  readonly rancherRegistries?: string | undefined;
  readonly certsDir?: string | undefined;
  readonly policy?: string | undefined;
  readonly dockerConfig?: string | undefined;
  readonly credentialProviderConfig?: string | undefined;
  readonly credentialProviderBinDir?: string | undefined;
  readonly checkConfigs: boolean;
  readonly cachePath?: string | undefined;
  readonly kvUrl?: string | undefined;
  readonly cacheEntries: number;
  readonly tagTtl: number;
  /** Absent: the environment counts for nothing. */
  readonly registryEnvironment?: RegistryEnvironment;
}

/** An inspector with everything that it needs. */
export interface ImageService extends AsyncDisposable {
  readonly inspector: Inspector;
  /** Follows the configuration files until the signal aborts; never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** Images in memory, for decisions that do not wait. */
  readonly known: KnownImages;
  /** Images in memory. */
  cacheSize(): number;
  /** The hosts asked lately, by name. */
  hostStates(): readonly HostState[];
  /** The same for metrics and pages: names that users made up are left out. */
  publicHostStates(): readonly HostState[];
}

/** What the service is opened with. */
export interface ImageServiceOptions {
  readonly config: ImageServiceConfig;
  readonly clock: Clock;
  readonly log: Logger;
  readonly userAgent: string;
  /** The cluster-wide pull secret, as it is now. */
  readonly clusterCredentials: () => readonly Credential[];
}

/** Opens it. Never rejects for a bad file or cache: what is wrong is logged, and what works is used. */
export async function openImageService(options: ImageServiceOptions): Promise<ImageService> {
  const { config, clock, log } = options;
  await using stack = new AsyncDisposableStack();
  const planner = openPlanner(options);
  const keyring = openNodeKeyring(options, planner);
  const kv = await openStore(config, { clock, log });
  stack.defer(() => kv.close());
  const transport = stack.use(openRegistryTransport(options));
  const limiter = openRequestLimiter({ clock, log, declared: [...config.registry, ...config.insecureRegistry] });
  const tokens = openTokenSource({ transport, limiter, clock });
  const openSession = openSessions({ transport, tokens, limiter, clock });
  const registry = openRegistryInspector({ openSession, clock, checkConfigs: config.checkConfigs });
  const cached = openCachedInspector({
    inner: limitInspections(registry),
    kv,
    clock,
    log,
    maxEntries: config.cacheEntries,
    tagTtlMs: config.tagTtl,
  });
  const owned = stack.move();
  return {
    inspector: withKeyring(singleFlight(cached, { clock }), { planner, keyring, clock }),
    run: (signal) => planner.watch(signal),
    known: openKnownImages({ memory: cached, clock, tagTtlMs: config.tagTtl }),
    cacheSize: () => cached.size(),
    hostStates: () => limiter.hostStates(),
    publicHostStates: () => limiter.publicHostStates(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function openPlanner({ config, clock, log }: ImageServiceOptions): PullPlannerHandle {
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
function openNodeKeyring(options: ImageServiceOptions, planner: PullPlannerHandle): Keyring {
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

function openRegistryTransport({ config, clock, userAgent }: ImageServiceOptions): ReturnType<typeof openTransport> {
  const { proxies } = config.registryEnvironment ?? NO_REGISTRY_ENVIRONMENT;
  return openTransport({ clock, resolve: resolveAddresses, userAgent, proxies });
}

function openStore(
  { cachePath, kvUrl }: ImageServiceConfig,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): Promise<Awaited<ReturnType<typeof openDenoKv>>> {
  if (kvUrl !== undefined) return openDenoKv({ url: kvUrl, clock, log });
  if (cachePath !== undefined) return openDenoKv({ path: cachePath, clock, log });
  return Promise.resolve(openMemoryStore({ clock }));
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
