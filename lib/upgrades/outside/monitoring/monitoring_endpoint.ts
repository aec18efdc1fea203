// Where OpenShift's Prometheus or Alertmanager is: its Service, or its Route, with the token of Prometheus's
// ServiceAccount.
import * as z from "zod";
import type { Clock } from "../../../clock.ts";
import { decodeBase64 } from "../../../json.ts";
import { MINUTE_MS, parseTime } from "../../../vocabulary/time.ts";
import { ignoring, type KubeApi, type ReadApi, readOptional } from "../../../k8s/api.ts";
import { Resource, type ResourceType, type Wire } from "../../../k8s/types.ts";
import { CachedValue } from "../cached_value.ts";
import type { EndpointSource, UpstreamEndpoint } from "../http/upstream.ts";
import { UpstreamError } from "../http/upstream_error.ts";
import type { AuthenticationV1TokenRequest, V1TokenRequestSpec } from "@kubernetes/client-node";
import { isForbidden } from "../../../k8s/api_error.ts";

export type MonitoringService = "alertmanager-main" | "prometheus-k8s";

interface MonitoringEndpointOptions {
  readonly service: MonitoringService;
  /** `route`: for a process outside of the cluster. */
  readonly by: "service" | "route";
  readonly api: ReadApi;
  readonly token: CachedValue<MonitoringToken>;
  readonly clock: Clock;
}

const MONITORING_NAMESPACE = "openshift-monitoring";
/** The port of the Service that serves the API, behind the proxy that checks the token. */
const PORT_NAME = "web";
const CA_CONFIG_MAP = { namespace: MONITORING_NAMESPACE, name: "serving-certs-ca-bundle" } as const;
const CA_KEY = "service-ca.crt";
const KEEP_MS = 5 * 60_000;

const ROUTES: ResourceType = {
  group: "route.openshift.io",
  version: "v1",
  plural: "routes",
  kind: "Route",
  namespaced: true,
};

const Service = z.object({
  spec: z.object({ ports: z.array(z.object({ name: z.string().optional(), port: z.int() })) }),
});
const Route = z.object({ spec: z.object({ host: z.string().regex(/^[a-z0-9.-]+$/) }) });
const Bundle = z.object({ data: z.object({ [CA_KEY]: z.string().min(1) }) });

export function openMonitoringEndpoint(options: MonitoringEndpointOptions): EndpointSource {
  const { by, token, clock } = options;
  const readAddress = by === "service" ? readService : readRoute;
  const address = new CachedValue({ clock, keepMs: KEEP_MS }, (signal) => readAddress(options, signal));
  return {
    endpoint: async (signal) => ({
      ...await address.get(signal),
      authorization: `Bearer ${(await token.get(signal)).token.trim()}`,
    }),
    discard: () => {
      address.discard();
      token.discard();
    },
  };
}

type Address = Omit<UpstreamEndpoint, "authorization">;

async function readService({ api, service }: MonitoringEndpointOptions, signal: AbortSignal): Promise<Address> {
  const target = { namespace: MONITORING_NAMESPACE, name: service };
  const port = await readServicePort(api, { ...target, portName: PORT_NAME }, signal);
  if (port === undefined) {
    throw missing(`Service "${MONITORING_NAMESPACE}/${service}"`, `it has no port "${PORT_NAME}"`);
  }
  const bundle = Bundle.safeParse(await readOptional(api, { type: Resource.configMaps, ...CA_CONFIG_MAP, signal }));
  if (!bundle.success) {
    throw missing(`ConfigMap "${MONITORING_NAMESPACE}/${CA_CONFIG_MAP.name}"`, `it has no "${CA_KEY}"`);
  }
  const baseUrl = `https://${service}.${MONITORING_NAMESPACE}.svc:${port}`;
  return { baseUrl, caCerts: [bundle.data.data[CA_KEY]] };
}

/** Undefined where the Service or its port is missing. */
export async function readServicePort(
  api: ReadApi,
  { portName, ...target }: Readonly<Record<"namespace" | "name" | "portName", string>>,
  signal: AbortSignal,
): Promise<number | undefined> {
  const service = Service.safeParse(await readOptional(api, { type: Resource.services, ...target, signal }));
  return service.data?.spec.ports.find(({ name }) => name === portName)?.port;
}

async function readRoute({ api, service }: MonitoringEndpointOptions, signal: AbortSignal): Promise<Address> {
  const target = { namespace: MONITORING_NAMESPACE, name: service };
  const found = Route.safeParse(await readOptional(api, { type: ROUTES, ...target, signal }));
  if (!found.success) throw missing(`Route "${MONITORING_NAMESPACE}/${service}"`, "it has no host");
  return { baseUrl: `https://${found.data.spec.host}`, caCerts: [] };
}

function missing(what: string, state: string): UpstreamError {
  return new UpstreamError(`Cannot use ${what}: it is missing, or ${state}.`, { fault: "misconfigured" });
}

const SERVICE_ACCOUNT = "prometheus-k8s";
const SECRET_NAME = "prometheus-k8s-token";

const DAY_SECONDS = 86_400;
/** How long a Secret's token is kept (ms): it is valid only until the Secret is deleted. */
const SECRET_KEEP_MS = 10 * MINUTE_MS;
const USED_SHARE = 0.8;

/** The client's type demands audiences, but a token without them is for the API server. */
type TokenRequest = Omit<Wire<AuthenticationV1TokenRequest>, "spec"> & {
  readonly spec: Partial<Wire<V1TokenRequestSpec>>;
};

const TokenSecret = z.object({ data: z.object({ token: z.base64() }) });
const TokenAnswer = z.object({
  status: z.object({ token: z.string().min(1), expirationTimestamp: z.string().optional() }),
});

interface MonitoringToken {
  readonly token: string;
  readonly keepMs: number;
}

export function openMonitoringToken(
  { api, clock }: { readonly api: Pick<KubeApi, "list" | "create">; readonly clock: Clock },
): CachedValue<MonitoringToken> {
  return new CachedValue({ clock, keepMs: ({ keepMs }) => keepMs }, async (signal) => {
    try {
      return await requestToken({ api, clock, signal });
    } catch (error) {
      if (!isForbidden(error)) throw error;
      const found = await readSecretToken(api, signal);
      if (found === undefined) throw error;
      return found;
    }
  });
}

/** Undefined without such a Secret, or without the right to read Secrets, which reaches farther than this token. */
async function readSecretToken(
  api: Pick<KubeApi, "list">,
  signal: AbortSignal,
): Promise<MonitoringToken | undefined> {
  const fieldSelector = "type=kubernetes.io/service-account-token";
  const target = { namespace: MONITORING_NAMESPACE, fieldSelector };
  const found = await ignoring(isForbidden, api.list(Resource.secrets, target, signal));
  const parsed = TokenSecret.safeParse(found?.items.find(({ metadata }) => metadata.name.includes(SECRET_NAME)));
  if (!parsed.success) return undefined;
  return { token: decodeBase64(parsed.data.data.token), keepMs: SECRET_KEEP_MS };
}

async function requestToken(
  { api, clock, signal }: {
    readonly api: Pick<KubeApi, "create">;
    readonly clock: Clock;
    readonly signal: AbortSignal;
  },
): Promise<MonitoringToken> {
  const body = {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    // The type of objects demands a name; the API server takes that of the ServiceAccount.
    metadata: { name: SERVICE_ACCOUNT, namespace: MONITORING_NAMESPACE },
    spec: { expirationSeconds: DAY_SECONDS },
  } satisfies TokenRequest;
  const target = { namespace: MONITORING_NAMESPACE, name: SERVICE_ACCOUNT, subresource: "token" };
  const parsed = TokenAnswer.safeParse(await api.create(Resource.serviceAccounts, body, { ...target, signal }));
  if (!parsed.success) {
    throw new UpstreamError(
      `Cannot get a token of ServiceAccount "${MONITORING_NAMESPACE}/${SERVICE_ACCOUNT}": the API server gave none.`,
      { fault: "malformed" },
    );
  }
  const { token, expirationTimestamp } = parsed.data.status;
  const leftMs = (parseTime(expirationTimestamp) ?? 0) - clock.nowMs();
  return { token, keepMs: leftMs > 0 ? leftMs * USED_SHARE : MINUTE_MS };
}
