// Where the cluster manager (OCM) or its agent is, and the token: cluster id and the pull secret's entry for it.
import ipaddr from "ipaddr.js";
import type { Clock } from "../../../clock.ts";
import { type ReadApi, readOptional } from "../../../k8s/api.ts";
import { Resource } from "../../../k8s/types.ts";
import { memberOf, objectAt, parseObject, textAt } from "../../../json.ts";
import { KeptValue } from "../http/kept_value.ts";
import type { TrustedBundles } from "../http/trusted_bundles.ts";
import type { EndpointSource } from "../http/upstream.ts";
import { UpstreamError } from "../http/upstream_error.ts";

/** `agent`: the agent of the cluster, which represents this cluster alone. */
export type OcmMode = "api" | "agent";

export interface OcmEndpointOptions {
  readonly baseUrl: string;
  readonly api: ReadApi;
  /** `spec.clusterID` of the ClusterVersion. */
  readonly clusterId: (signal: AbortSignal) => Promise<string>;
  readonly proxyUrl?: string | undefined;
  readonly bundles: TrustedBundles;
  readonly clock: Clock;
}

const AGENT = "ocm-agent.openshift-ocm-agent-operator.svc.cluster.local:8081";
const PULL_SECRET = { namespace: "openshift-config", name: "pull-secret" } as const;
const SECRET_KEY = ".dockerconfigjson";
const REGISTRY = "cloud.openshift.com";
const KEEP_MS = 5 * 60_000;

export function ocmModeOf(baseUrl: string): OcmMode {
  return baseUrl.includes(AGENT) ? "agent" : "api";
}

/** The address without a slash at the end. Throws UpstreamError for one that is none, or that would send the token in the clear. */
export function checkedBaseUrl(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== "" || url.search !== "") {
    throw misconfigured("Cannot use configManager.ocmBaseUrl: it is no web address.");
  }
  const isNear = /\.svc(\.cluster\.local)?$|^localhost$/.test(url.hostname) || isLoopback(url.hostname);
  if (url.protocol === "http:" && !isNear) {
    throw misconfigured("Cannot use configManager.ocmBaseUrl: plain HTTP is for services of the cluster. Use https.");
  }
  return `${url.origin}${url.pathname}`.replace(/(?<!\/)\/+$/, "");
}

/** An address in a URL is canonical; a name may begin as one does. */
function isLoopback(hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, "");
  return ipaddr.isValid(address) && ipaddr.process(address).range() === "loopback";
}

export function openOcmEndpoint(options: OcmEndpointOptions): EndpointSource {
  const { baseUrl, bundles, proxyUrl, clock } = options;
  const token = new KeptValue(clock, async (signal) => ({ value: await readToken(options, signal), keepMs: KEEP_MS }));
  return {
    endpoint: async (signal) => ({
      baseUrl: checkedBaseUrl(baseUrl),
      caCerts: await bundles(signal),
      proxyUrl,
      authorization: `AccessToken ${await token.get(signal)}`,
    }),
    discard: () => token.discard(),
  };
}

async function readToken({ api, clusterId }: OcmEndpointOptions, signal: AbortSignal): Promise<string> {
  const id = await clusterId(signal);
  const secret = await readOptional(api, { type: Resource.secrets, ...PULL_SECRET, signal });
  const auth = pullSecretAuth(secret);
  if (auth.kind === "missing") {
    const name = `${PULL_SECRET.namespace}/${PULL_SECRET.name}`;
    throw misconfigured(`Cannot log in to the cluster manager: ${auth.state} in Secret "${name}".`);
  }
  return `${id}:${auth.value}`;
}

/** The entry of a pull secret for the cluster manager, or what is missing. Never a part of its content. */
export function pullSecretAuth(
  secret: unknown,
): { readonly kind: "found"; readonly value: string } | { readonly kind: "missing"; readonly state: string } {
  const encoded = textAt(objectAt(secret, "data"), SECRET_KEY);
  if (encoded === "") return { kind: "missing", state: `there is no ${SECRET_KEY}` };
  const document = decodedObject(encoded);
  if (document === undefined) return { kind: "missing", state: `${SECRET_KEY} is no JSON object` };
  const value = textAt(memberOf(objectAt(document, "auths"), REGISTRY), "auth");
  if (value === "") return { kind: "missing", state: `there is no auths["${REGISTRY}"].auth` };
  return { kind: "found", value };
}

function decodedObject(encoded: string): ReturnType<typeof parseObject> {
  try {
    return parseObject(new TextDecoder().decode(Uint8Array.fromBase64(encoded)));
  } catch {
    return undefined;
  }
}

function misconfigured(message: string): UpstreamError {
  return new UpstreamError(message, { fault: "misconfigured" });
}
