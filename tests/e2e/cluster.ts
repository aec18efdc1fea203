// What the checks do in a cluster: namespaces of their own, pods in them, what became of those, and everything away again.
import { systemClock } from "../../lib/clock.ts";
import { listAt, objectAt, textAt } from "../../lib/json.ts";
import type { KubeApi } from "../../lib/k8s/api.ts";
import { ApiError } from "../../lib/k8s/api_error.ts";
import { type KubeObject, Resource } from "../../lib/k8s/types.ts";
import { CLUSTER_CONFIG_NAME } from "../../lib/names.ts";

/** Beginning of the names of all namespaces that are made. */
export const NAMESPACE_PREFIX = "archway-e2e-";

export interface WantedPod {
  readonly name: string;
  readonly image: string;
  readonly nodeSelector?: Readonly<Record<string, string>>;
}

/** The cluster, as far as a user sees it. Dispose it to delete what was made. */
export interface EndToEndCluster extends AsyncDisposable {
  readonly namespace: string;
  clusterConfig(): Promise<KubeObject>;
  create(pod: WantedPod): Promise<void>;
  read(name: string): Promise<KubeObject>;
  /** The events about a pod, one line each: type, reason, message. */
  events(name: string): Promise<readonly string[]>;
  /** The architecture of a node; undefined when nodes may not be read. */
  architectureOf(node: string): Promise<string | undefined>;
  /** Asks until the answer is something, or the time is over: then undefined. */
  until<T>(probe: () => Promise<T | undefined>): Promise<T | undefined>;
}

export interface EndToEndDeps {
  readonly api: KubeApi;
  readonly namespaceLabels: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

const LOOK_MS = 500;
/** Deleting must not depend on the signal that ended the checks (ms). */
const CLEAN_UP_MS = 30_000;

export async function openEndToEndCluster(deps: EndToEndDeps): Promise<EndToEndCluster> {
  const { api, signal } = deps;
  const namespace = `${NAMESPACE_PREFIX}${crypto.randomUUID().slice(0, 8)}`;
  const metadata = { name: namespace, labels: deps.namespaceLabels };
  await api.create(Resource.namespaces, { apiVersion: "v1", kind: "Namespace", metadata }, { signal });
  const until = <T>(probe: () => Promise<T | undefined>): Promise<T | undefined> => poll(deps, probe);
  return {
    namespace,
    clusterConfig: () => api.get(Resource.clusterConfigs, { name: CLUSTER_CONFIG_NAME }, signal),
    create: (pod) => createPod(deps, namespace, pod),
    read: (name) => api.get(Resource.pods, { namespace, name }, signal),
    events: (name) => listEvents(deps, namespace, name),
    architectureOf: async (name) => {
      try {
        const { metadata: { labels } } = await api.get(Resource.nodes, { name }, signal);
        return labels?.["kubernetes.io/arch"];
      } catch (error) {
        if (error instanceof ApiError && error.status === 403) return undefined;
        throw error;
      }
    },
    until,
    [Symbol.asyncDispose]: async () => {
      const options = { propagationPolicy: "Background", signal: AbortSignal.timeout(CLEAN_UP_MS) } as const;
      await api.delete(Resource.namespaces, { name: namespace }, options);
    },
  };
}

async function poll<T>(
  { timeoutMs, signal }: EndToEndDeps,
  probe: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const endMs = systemClock.monotonicMs() + timeoutMs;
  for (;;) {
    const found = await probe();
    if (found !== undefined || systemClock.monotonicMs() >= endMs) return found;
    await systemClock.sleep(LOOK_MS, signal);
    signal.throwIfAborted();
  }
}

/** As strict as Pod Security wants it: the namespaces are the cluster's usual ones. */
const SECURITY = {
  runAsNonRoot: true,
  runAsUser: 65532,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  seccompProfile: { type: "RuntimeDefault" },
};

async function createPod(deps: EndToEndDeps, namespace: string, pod: WantedPod): Promise<void> {
  const { name, image, nodeSelector } = pod;
  const resources = { requests: { cpu: "1m", memory: "8Mi" } };
  const object = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: {
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 0,
      containers: [{ name: "app", image, resources, securityContext: SECURITY }],
      ...(nodeSelector === undefined ? {} : { nodeSelector }),
    },
  };
  const { api, signal } = deps;
  let refusal: unknown;
  const created = await poll(deps, async () => {
    try {
      return await api.create(Resource.pods, object, { namespace, signal });
    } catch (error) {
      // The ServiceAccount of a new namespace comes a moment later.
      if (!(error instanceof ApiError) || error.status !== 403 || !/serviceaccount/i.test(error.message)) throw error;
      refusal = error;
      return undefined;
    }
  });
  if (created === undefined) throw refusal;
}

async function listEvents(
  { api, signal }: EndToEndDeps,
  namespace: string,
  name: string,
): Promise<readonly string[]> {
  const fieldSelector = `involvedObject.kind=Pod,involvedObject.name=${name}`;
  const { items } = await api.list(Resource.events, { namespace, fieldSelector }, signal);
  return items.map((event) => `${textAt(event, "type")} ${textAt(event, "reason")} ${textAt(event, "message")}`);
}

/** The value of a condition of an object: `True`, `False`; empty when there is none. */
export function conditionOf(object: KubeObject, type: string): { readonly status: string; readonly message: string } {
  const condition = (listAt(objectAt(object, "status"), "conditions") ?? []).find((one) =>
    textAt(one, "type") === type
  );
  return { status: textAt(condition, "status"), message: textAt(condition, "message") };
}
