// What the walks on a real API server share, whatever nodes are behind it. Namespaces of a walk get a number, since a namespace
// takes long to go.
import { parseKubeObject } from "../../../lib/k8s/kube_object.ts";
import { apiVersionOf, type KubeObject, Resource, resourcePath, type ResourceType } from "../../../lib/k8s/types.ts";
import { SCHEDULING_GATE } from "../../../lib/names.ts";
import { listAtPath, objectAtPath, textAtPath } from "../../../playground/json_path.ts";
import { OPERATOR_NAMESPACE, type WalkRegistries } from "../../support/walk/registries.ts";
import type { WalkPod, WalkSetting, WalkSubject } from "../../support/walk/subject.ts";
import { type ClusterAccess, expectStatus } from "./cluster_access.ts";
import { GiveUp, waitUntil } from "./wait.ts";

const PATIENCE_MS = 60_000;
export const GLOBAL_SECRETS = "openshift-config";
const KEPT_NAMES = [OPERATOR_NAMESPACE, GLOBAL_SECRETS];

export interface ClusterWalk extends WalkSubject {
  /** Name in the cluster of a namespace of the walk. */
  place(namespace: string): string;
  read(pod: WalkPod): Promise<KubeObject>;
}

export interface WalkParts {
  readonly registries: WalkRegistries;
  readonly node: string;
  readonly number: number;
}

export function clusterWalk(cluster: ClusterAccess, { registries, node, number }: WalkParts): ClusterWalk {
  const place = (namespace: string): string => KEPT_NAMES.includes(namespace) ? namespace : `${namespace}-${number}`;
  const targetOf = (
    name: string,
    namespace: string | undefined,
  ): { readonly name: string; readonly namespace?: string } =>
    namespace === undefined ? { name } : { name, namespace: place(namespace) };
  const read: ClusterWalk["read"] = async ({ namespace, name }) => {
    const answer = await cluster.request("GET", resourcePath(Resource.pods, targetOf(name, namespace)));
    expectStatus(`read pod "${name}"`, answer, [200]);
    return parseKubeObject(answer.body);
  };
  return {
    ...registries,
    node,
    place,
    read,
    create: async (kind, body, namespace) => {
      const type = typeNamed(kind);
      const metadata = objectAtPath(body, "metadata");
      const named = kind === "Namespace"
        ? { ...body, metadata: { ...metadata, name: place(textAtPath(metadata, "name") ?? "") } }
        : body;
      return await post(cluster, type, named, namespace === undefined ? {} : { namespace: place(namespace) });
    },
    remove: async (kind, name, namespace) => {
      const answer = await cluster.request("DELETE", resourcePath(typeNamed(kind), targetOf(name, namespace)));
      expectStatus(`delete ${kind} "${name}"`, answer, [200, 202]);
    },
    names: async (kind) => {
      const body = await cluster.get(resourcePath(typeNamed(kind)));
      return listAtPath(body, "items").map((item) => textAtPath(item, "metadata", "name") ?? "");
    },
    decided: async (namespace, name) => {
      const pod = await read({ namespace, name });
      return isGated(pod) ? undefined : pod;
    },
    until: async (what, holds) => void await waitUntil(what, holds, { deadlineMs: PATIENCE_MS }),
  };
}

export function isGated(pod: KubeObject): boolean {
  return listAtPath(pod, "spec", "schedulingGates").some((gate) => textAtPath(gate, "name") === SCHEDULING_GATE);
}

export async function layOut(
  subject: WalkSubject,
  { spec, namespaces }: WalkSetting,
  prepare?: (walk: WalkSubject) => Promise<void>,
): Promise<void> {
  for (const [name, labels] of Object.entries(namespaces)) {
    await subject.create("Namespace", { metadata: { name, labels } });
  }
  // Namespace configs are refused while there is no cluster config.
  await subject.create("ClusterPodPlacementConfig", { metadata: { name: "cluster" }, spec });
  await prepare?.(subject);
  await subject.until(
    "the webhook is registered",
    async () => (await subject.names("MutatingWebhookConfiguration")).length > 0,
  );
}

/** What each walk has besides its own: the namespace of the global pull secret, and Archway's for pods of any kind. */
export async function openNamespaces(cluster: ClusterAccess): Promise<void> {
  await post(cluster, Resource.namespaces, { metadata: { name: GLOBAL_SECRETS } });
  const metadata = { labels: { "pod-security.kubernetes.io/enforce": "privileged" } };
  const operator = resourcePath(Resource.namespaces, { name: OPERATOR_NAMESPACE });
  await cluster.patch(operator, { metadata });
}

function typeNamed(kind: string): ResourceType {
  const type = Object.values(Resource).find((each) => each.kind === kind);
  if (type === undefined) throw new Error(`no kind ${kind}`);
  return type;
}

/** Creates an object; the validating webhooks fail closed until they have the CA, so a refusal by them is tried again. */
async function post(
  cluster: ClusterAccess,
  type: ResourceType,
  body: Readonly<Record<string, unknown>>,
  target: { readonly namespace?: string } = {},
): Promise<unknown> {
  const object = { apiVersion: apiVersionOf(type), kind: type.kind, ...body };
  return await waitUntil(`${type.kind} is created`, async () => {
    const answer = await cluster.request("POST", resourcePath(type, target), object);
    if (answer.status === 500 || answer.status === 403) throw new Error(JSON.stringify(answer.body));
    if (answer.status === 201) return answer.body ?? true;
    throw new GiveUp(new Error(`Cannot create ${type.kind}: ${answer.status} ${JSON.stringify(answer.body)}`));
  });
}
