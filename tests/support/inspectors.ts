// Inspectors for tests, put together as lib/placement/images does it, over registries on loopback. The planner is a double: every image
// is pulled from the host in its name, or from the endpoints that a test gives.
import assert from "node:assert/strict";
import { type Clock, systemClock } from "../../lib/clock.ts";
import type { KeyValueStore } from "../../lib/kv/store.ts";
import { type Logger, silentLogger } from "../../lib/log.ts";
import { HostLimiters } from "../../lib/oci/limits/host_limiters.ts";
import { ImageCache } from "../../lib/oci/cache/image_cache.ts";
import type { Credential, Keyring } from "../../lib/oci/credential.ts";
import { matchCredentials } from "../../lib/oci/credentials/match.ts";
import { failureOf, RegistryError, type RegistryFailure } from "../../lib/oci/errors.ts";
import type { InspectionReport, PlannedRequest } from "../../lib/oci/inspection_request.ts";
import type { Inspection } from "../../lib/oci/inspection.ts";
import type { HostState } from "../../lib/oci/limits/host_state.ts";
import { RegistryReader } from "../../lib/oci/registry_reader.ts";
import { Inspector } from "../../lib/oci/inspector.ts";
import { type Caller, callersOf } from "../../lib/oci/callers.ts";
import type { RegistryRequest } from "../../lib/oci/http/exchange.ts";
import { NO_PROXIES, type ProxySettings } from "../../lib/oci/http/proxy.ts";
import type { ConnectionSettings, Endpoint } from "../../lib/oci/endpoint.ts";
import type { PullPlan } from "../../lib/oci/config/plan_pull.ts";
import type { PullPlanner } from "../../lib/oci/config/planner.ts";
import { type RequestContext, RequestLog } from "../../lib/oci/request_log.ts";
import { type ImageReference, parseReference } from "../../lib/oci/reference.ts";
import { makeClientDeps } from "../../lib/oci/repository_client.ts";
import { Transport, type TransportDeps } from "../../lib/oci/http/transport.ts";
import { type FakeRegistry, openFakeRegistry } from "./registry.ts";
import { WorkLimits } from "../../lib/oci/limits/work_limits.ts";

/** How to reach a registry on loopback. */
export const PLAIN: ConnectionSettings = { scheme: "http", verifiesTls: true, caCertificates: [], isDeclared: true };

/** A transport that resolves no name. */
export function openTransport(more: Partial<TransportDeps> = {}): Transport {
  return new Transport({
    limits: new WorkLimits(),
    clock: systemClock,
    resolve: () => Promise.resolve([]),
    userAgent: "archway/test",
    proxies: NO_PROXIES,
    ...more,
  });
}

/** A GET without TLS. */
export function makeExchange(url: string, more: Partial<RegistryRequest> = {}): RegistryRequest {
  const common = { method: "GET", connection: PLAIN, maxBytes: 1_000, kind: "manifestGet" } as const;
  return { ...common, url: new URL(url), ...more };
}

/** That of a pod, which does not leave. */
export function makeContext(more: Partial<RequestContext> = {}): RequestContext {
  const callers = callersOf({ namespace: "team", priority: "gated" });
  return { callers, signal: new AbortController().signal, requestLog: new RequestLog(), ...more };
}

/** An inspector with its parts open to a test. */
export interface TestInspector extends Disposable {
  readonly inspector: Inspector;
  readonly registry: Pick<RegistryReader, "head" | "read">;
  /** Asks for an image with the whole inspector. */
  inspect(image: string, more?: RequestParts): Promise<InspectionReport>;
  hostStates(): readonly HostState[];
  cacheSize(): number;
}

export function openTestInspector(
  options: {
    readonly clock?: Clock;
    readonly kv?: KeyValueStore;
    readonly log?: Logger;
    readonly connection?: Partial<ConnectionSettings>;
    readonly plan?: PullPlanner["plan"];
    readonly keyring?: readonly Credential[] | Keyring;
    readonly resolve?: (hostname: string) => Promise<readonly string[]>;
    readonly proxies?: ProxySettings;
    readonly timeouts?: TransportDeps["timeouts"];
    readonly limits?: WorkLimits;
    readonly maxEntries?: number;
    readonly tagTtlMs?: number;
  } = {},
): TestInspector {
  const { clock = systemClock, maxEntries = 100, tagTtlMs = 300_000 } = options;
  const { kv, log = silentLogger } = options;
  const planner = { plan: options.plan ?? ((image: string) => planDirect(image, { ...PLAIN, ...options.connection })) };
  const { limits = new WorkLimits(), resolve = () => Promise.resolve([]), proxies = NO_PROXIES, timeouts } = options;
  const transport = openTransport({ limits, clock, resolve, proxies, timeouts });
  const hosts = new HostLimiters({ clock, log });
  const registry = new RegistryReader(makeClientDeps({ transport, limits, hosts, clock }));
  const cache = new ImageCache({ registry, kv, clock, log, maxEntries, tagTtlMs });
  const { keyring: given = [] } = options;
  const keyring: Keyring = "credentialsFor" in given ? given : {
    credentialsFor: (endpoint) => Promise.resolve(matchCredentials(given, endpoint)),
  };
  const inspector = new Inspector({ cache, planner, keyring });
  return {
    inspector,
    registry: {
      read: (request, signal) => registry.read(planned(request, planner), signal),
      head: (request, signal) => registry.head(planned(request, planner), signal),
    },
    inspect: (image, more = {}) => inspector.inspect(makeRequest(image, more), new AbortController().signal),
    hostStates: () => hosts.hostStates(),
    cacheSize: () => cache.size(),
    [Symbol.dispose]: () => transport[Symbol.dispose](),
  };
}

/** That of a request which nothing known may answer. */
export const LOOK_UP_AGAIN = { lookupSinceMs: Infinity };

/** What a request has beside its image, with its only caller in parts. */
export type RequestParts = Partial<PlannedRequest & Caller>;

/** A request of a gated pod without credentials, and without a plan. */
export function makeRequest(
  image: string,
  { namespace, priority = "gated", ...more }: RequestParts = {},
): PlannedRequest {
  return {
    image,
    reference: referenceOf(image),
    credentials: [],
    freshness: "cached",
    depth: "index",
    callers: callersOf({ namespace, priority }),
    endpoints: [],
    requestLog: new RequestLog(),
    ...more,
  };
}

function planned(request: PlannedRequest, planner: Pick<PullPlanner, "plan">): PlannedRequest {
  const plan = planner.plan(request.image);
  if (plan.kind === "refused") return request;
  const endpoints = plan.endpoints.map((endpoint) => {
    return { ...endpoint, credentials: matchCredentials(request.credentials, endpoint) };
  });
  return { ...request, endpoints };
}

export function makeCredential(
  scope: string,
  options: { readonly username?: string; readonly password?: string; readonly source?: string } = {},
): Credential {
  const { username = "user", password = "password", source = "secret team-a/pull" } = options;
  return { scope, source, secret: { kind: "basic", username, password } };
}

/** One endpoint: the host in the name. */
export function planDirect(image: string, connection: ConnectionSettings): PullPlan {
  const parsed = parseReference(image);
  if (parsed.kind === "unparsable") {
    return { kind: "refused", failure: failureOf("InvalidReference", parsed.fault.message) };
  }
  const { value: reference } = parsed;
  const { host, repository, identifier } = reference;
  const endpoint = makeEndpoint(host, { repository, identifier, connection });
  return { kind: "endpoints", reference, endpoints: [endpoint] };
}

type Found = Extract<Inspection, { readonly kind: "platforms" }>;

/** The architectures that an inspection found; why it failed where it did. */
export function seenIn({ inspection }: Pick<InspectionReport, "inspection">): readonly string[] | string {
  return inspection.kind === "failed"
    ? inspection.failure.reason
    : inspection.platforms.map(({ architecture }) => architecture);
}

/** The kind of what was found; why it failed where it did. */
export function outcomeOf({ inspection }: Pick<InspectionReport, "inspection">): string {
  return inspection.kind === "failed" ? inspection.failure.reason : inspection.kind;
}

/** What an inspection failed with, which it must. */
export function failureIn({ inspection }: Pick<InspectionReport, "inspection">): RegistryFailure {
  return inspection.kind === "failed" ? inspection.failure : assert.fail(inspection.kind);
}

/** The platforms that an inspection found, with what is odd about them; it must. */
export function foundIn({ inspection }: Pick<InspectionReport, "inspection">): Found {
  return inspection.kind === "platforms" ? inspection : assert.fail(outcomeOf({ inspection }));
}

/** What a call fails with, which it must. */
export async function errorOf(work: Promise<unknown>): Promise<RegistryError> {
  const error: unknown = await work.then(() => "no failure", (thrown) => thrown);
  assert.ok(error instanceof RegistryError, String(error));
  return error;
}

/** These endpoints for every image. */
export function planAt(...endpoints: readonly Endpoint[]): PullPlanner["plan"] {
  return (image) => ({ kind: "endpoints", reference: referenceOf(image), endpoints });
}

export function referenceOf(image: string): ImageReference {
  const parsed = parseReference(image);
  if (parsed.kind === "unparsable") throw new Error(parsed.fault.message);
  return parsed.value;
}

export const DIRECT: Pick<PullPlanner, "plan"> = { plan: (image) => planDirect(image, PLAIN) };

export const NO_KEYRING: Keyring = { credentialsFor: () => Promise.resolve([]) };

export function makeEndpoint(
  host: string,
  more: Partial<Endpoint> & Pick<Endpoint, "repository" | "identifier">,
): Endpoint {
  return { host, isMirror: false, pathPrefix: "", connection: PLAIN, ...more };
}

/** A registry on loopback, and an inspector that asks it. */
export interface RegistryBed extends AsyncDisposable {
  readonly registry: FakeRegistry;
  readonly inspector: TestInspector;
  /** Asks for an image by its name behind the host, with the bed's login unless credentials are given. */
  inspect(name: string, more?: RequestParts): Promise<InspectionReport>;
}

export async function openRegistryBed(
  { isLoggedIn = false, inspector: options = {}, ...rest }:
    & Parameters<typeof openFakeRegistry>[0]
    & { readonly isLoggedIn?: boolean; readonly inspector?: Parameters<typeof openTestInspector>[0] } = {},
): Promise<RegistryBed> {
  const registry = await openFakeRegistry(rest);
  const inspector = openTestInspector(options);
  const credentials = isLoggedIn ? [makeCredential(registry.host)] : [];
  return {
    registry,
    inspector,
    inspect: (name, more) => inspector.inspect(`${registry.host}/${name}`, { credentials, ...more }),
    [Symbol.asyncDispose]: () => {
      inspector[Symbol.dispose]();
      return registry[Symbol.asyncDispose]();
    },
  };
}
