// The token that Prometheus and Alertmanager of OpenShift take: that of their own ServiceAccount, requested, or from its Secret
// where tokens must not be requested.
import type { AuthenticationV1TokenRequest, V1TokenRequestSpec } from "@kubernetes/client-node";
import * as z from "zod";
import type { Clock } from "../../../clock.ts";
import type { KubeApi } from "../../../k8s/api.ts";
import { isForbidden } from "../../../k8s/errors.ts";
import { Resource, type Wire } from "../../../k8s/types.ts";
import { type Keepable, KeptValue } from "../http/kept_value.ts";
import { UpstreamError } from "../http/upstream_error.ts";

export const MONITORING_NAMESPACE = "openshift-monitoring";
const SERVICE_ACCOUNT = "prometheus-k8s";
const SECRET_NAME = "prometheus-k8s-token";

const MINUTE_MS = 60_000;
const DAY_SECONDS = 86_400;
/** A Secret's token is valid until the Secret is deleted: it is read again. */
const SECRET_KEEP_MS = 10 * MINUTE_MS;
/** Of a token's life, the part in which it is used. */
const USED_SHARE = 0.8;

/** Without audiences, which the client's type demands, the token is for the API server. */
type TokenRequest = Omit<Wire<AuthenticationV1TokenRequest>, "spec"> & {
  readonly spec: Partial<Wire<V1TokenRequestSpec>>;
};

const TokenSecret = z.object({ data: z.object({ token: z.base64() }) });
const TokenAnswer = z.object({
  status: z.object({ token: z.string().min(1), expirationTimestamp: z.string().optional() }),
});

export function openMonitoringToken(
  { api, clock }: { readonly api: Pick<KubeApi, "list" | "create">; readonly clock: Clock },
): KeptValue<string> {
  return new KeptValue(
    clock,
    async (signal) => {
      try {
        return await requestToken({ api, clock, signal });
      } catch (error) {
        if (!isForbidden(error)) throw error;
        const found = await readSecretToken(api, signal);
        if (found === undefined) throw error;
        return found;
      }
    },
  );
}

/** undefined where there is none, or Secrets must not be read: the right to read all of a namespace is more than a token. */
async function readSecretToken(
  api: Pick<KubeApi, "list">,
  signal: AbortSignal,
): Promise<Keepable<string> | undefined> {
  const fieldSelector = "type=kubernetes.io/service-account-token";
  try {
    const { items } = await api.list(Resource.secrets, { namespace: MONITORING_NAMESPACE, fieldSelector }, signal);
    const secret = items.find(({ metadata }) => metadata.name.includes(SECRET_NAME));
    const parsed = TokenSecret.safeParse(secret);
    if (!parsed.success) return undefined;
    return { value: new TextDecoder().decode(Uint8Array.fromBase64(parsed.data.data.token)), keepMs: SECRET_KEEP_MS };
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}

async function requestToken(
  { api, clock, signal }: {
    readonly api: Pick<KubeApi, "create">;
    readonly clock: Clock;
    readonly signal: AbortSignal;
  },
): Promise<Keepable<string>> {
  const body = {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    // The API server's answer has the name of the ServiceAccount; what is sent needs one for readers of objects.
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
  const { token, expirationTimestamp = "" } = parsed.data.status;
  const leftMs = Date.parse(expirationTimestamp) - clock.nowMs();
  return { value: token, keepMs: Number.isFinite(leftMs) && leftMs > 0 ? leftMs * USED_SHARE : MINUTE_MS };
}
