// Where Prometheus or Alertmanager of OpenShift is: by its Service with the service CA, or by its Route with the public roots.
import * as z from "zod";
import type { Clock } from "../../../clock.ts";
import { type ReadApi, readOptional } from "../../../k8s/api.ts";
import { Resource, type ResourceType } from "../../../k8s/types.ts";
import { type Keepable, KeptValue } from "../http/kept_value.ts";
import type { EndpointSource, UpstreamEndpoint } from "../http/upstream.ts";
import { UpstreamError } from "../http/upstream_error.ts";
import { MONITORING_NAMESPACE } from "./access_token.ts";

export type MonitoringService = "alertmanager-main" | "prometheus-k8s";

export interface MonitoringEndpointOptions {
  readonly service: MonitoringService;
  /** `route`: for a process outside of the cluster. */
  readonly by: "service" | "route";
  readonly api: ReadApi;
  /** Shared by both servers. */
  readonly token: KeptValue<string>;
  readonly clock: Clock;
}

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
  const place = new KeptValue(
    clock,
    (signal) => by === "service" ? readService(options, signal) : readRoute(options, signal),
  );
  return {
    endpoint: async (signal) => ({
      ...await place.get(signal),
      authorization: `Bearer ${(await token.get(signal)).trim()}`,
    }),
    discard: () => {
      place.discard();
      token.discard();
    },
  };
}

type Place = Keepable<Omit<UpstreamEndpoint, "authorization">>;

async function readService({ api, service }: MonitoringEndpointOptions, signal: AbortSignal): Promise<Place> {
  const target = { namespace: MONITORING_NAMESPACE, name: service };
  const found = Service.safeParse(await readOptional(api, { type: Resource.services, ...target, signal }));
  const port = found.data?.spec.ports.find(({ name }) => name === PORT_NAME)?.port;
  if (port === undefined) {
    throw missing(`Service "${MONITORING_NAMESPACE}/${service}"`, `it has no port "${PORT_NAME}"`);
  }
  const bundle = Bundle.safeParse(await readOptional(api, { type: Resource.configMaps, ...CA_CONFIG_MAP, signal }));
  if (!bundle.success) {
    throw missing(`ConfigMap "${MONITORING_NAMESPACE}/${CA_CONFIG_MAP.name}"`, `it has no "${CA_KEY}"`);
  }
  const baseUrl = `https://${service}.${MONITORING_NAMESPACE}.svc:${port}`;
  return { value: { baseUrl, caCerts: [bundle.data.data[CA_KEY]] }, keepMs: KEEP_MS };
}

async function readRoute({ api, service }: MonitoringEndpointOptions, signal: AbortSignal): Promise<Place> {
  const target = { namespace: MONITORING_NAMESPACE, name: service };
  const found = Route.safeParse(await readOptional(api, { type: ROUTES, ...target, signal }));
  if (!found.success) throw missing(`Route "${MONITORING_NAMESPACE}/${service}"`, "it has no host");
  return { value: { baseUrl: `https://${found.data.spec.host}`, caCerts: [] }, keepMs: KEEP_MS };
}

function missing(what: string, state: string): UpstreamError {
  return new UpstreamError(`Cannot use ${what}: it is missing, or ${state}.`, { fault: "misconfigured" });
}
