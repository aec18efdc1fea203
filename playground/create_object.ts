// POST of an object: names it, fills in defaults, runs admission, stores it.
import { keyOf, type KubeObject, Resource } from "../lib/k8s/types.ts";
import { type Cluster, findObject, requireKubeObject, withMetadata } from "./cluster.ts";
import { withDefaults } from "./defaults.ts";
import { listAtPath, objectAtPath, textAtPath } from "./json_path.ts";
import { kindNamed, type ServedKind } from "./kinds.ts";
import { newPodStatus } from "./pod_status.ts";
import { alreadyExists, badRequest, nameless } from "./status_error.ts";
import { renderTime } from "../lib/vocabulary/time.ts";

export interface CreateOptions {
  readonly namespace?: string | undefined;
  readonly body: unknown;
  readonly dryRun?: boolean;
}

/**
 * Creates an object and gives its stored form. Throws StatusError: 404 namespace, 409 exists, 422 invalid, or a denial.
 */
export async function createObject(cluster: Cluster, kind: ServedKind, options: CreateOptions): Promise<KubeObject> {
  const { namespace, body, dryRun = false } = options;
  const given = prepareObject(cluster, kind, requireKubeObject(body), namespace);
  const attempt = { operation: "CREATE", kind, oldObject: undefined, subresource: undefined, dryRun } as const;
  const mutated = await cluster.admission.mutate({ ...attempt, object: given }) ?? given;
  const object = finishObject(cluster, kind, identify(cluster, kind, mutated));
  await cluster.admission.validate({ ...attempt, object });
  if (cluster.store.get(kind, keyOf(object)) !== undefined) throw alreadyExists(kind, object.metadata.name);
  return dryRun ? object : storeNew(cluster, kind, object);
}

function storeNew(cluster: Cluster, kind: ServedKind, object: KubeObject): KubeObject {
  const stored = cluster.store.put(kind, object);
  if (kind.plural === Resource.namespaces.plural) {
    const account = { metadata: { name: "default", namespace: stored.metadata.name } };
    cluster.store.put(Resource.serviceAccounts, identify(cluster, kindNamed("ServiceAccount"), account));
  }
  return stored;
}

/** Checks an object and sets defaults, for mutating webhooks. It has no uid yet, and no name if that is generated. */
function prepareObject(
  cluster: Cluster,
  kind: ServedKind,
  object: KubeObject,
  namespace: string | undefined,
): KubeObject {
  const { namespace: given, resourceVersion = "" } = object.metadata;
  if (kind.namespaced && namespace === undefined) throw badRequest("a namespace is required to create this kind");
  if (given !== undefined && namespace !== undefined && given !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  if (resourceVersion !== "") throw badRequest("resourceVersion should not be set on objects to be created");
  if (kind.namespaced) findObject(cluster, kindNamed("Namespace"), { name: namespace ?? "" });
  const cleaned = withMetadata(object, {
    namespace: kind.namespaced ? namespace : undefined,
    resourceVersion: undefined,
    uid: undefined,
    managedFields: undefined,
    deletionTimestamp: undefined,
  });
  return withAccountSecrets(cluster, kind, withDefaults(kind, cleaned));
}

function identify({ clock }: Cluster, kind: ServedKind, object: KubeObject): KubeObject {
  const prefix = textAtPath(object, "metadata", "generateName");
  const name = object.metadata.name === "" && prefix !== undefined ? prefix + suffix() : object.metadata.name;
  if (name === "") throw nameless(kind);
  const { labels } = object.metadata;
  const own = kind.plural === Resource.namespaces.plural ? { "kubernetes.io/metadata.name": name } : undefined;
  return withMetadata(object, {
    name,
    labels: own === undefined ? labels : { ...labels, ...own },
    uid: crypto.randomUUID(),
    creationTimestamp: renderTime(clock.nowMs()),
    generation: 1,
  });
}

function finishObject({ clock }: Cluster, kind: ServedKind, admitted: KubeObject): KubeObject {
  if (kind.plural === Resource.namespaces.plural) return { ...admitted, status: { phase: "Active" } };
  if (kind.plural === Resource.nodes.plural || !kind.hasStatus) return admitted;
  const { status: _status, ...object } = withDefaults(kind, admitted);
  if (kind.plural !== Resource.pods.plural) return object;
  return { ...object, status: newPodStatus(object, clock.nowMs()) };
}

/** The ServiceAccount admission plugin: pull secrets of the account go to pods that name none. */
function withAccountSecrets({ store }: Cluster, kind: ServedKind, object: KubeObject): KubeObject {
  if (kind.plural !== Resource.pods.plural || listAtPath(object, "spec", "imagePullSecrets").length > 0) return object;
  const account = textAtPath(object, "spec", "serviceAccountName") ?? "default";
  const found = store.get(Resource.serviceAccounts, `${object.metadata.namespace ?? ""}/${account}`);
  const imagePullSecrets = listAtPath(found, "imagePullSecrets");
  return imagePullSecrets.length === 0
    ? object
    : { ...object, spec: { ...objectAtPath(object, "spec"), imagePullSecrets } };
}

/** Five characters as the API server appends them to generateName: no vowels, no look-alikes. */
function suffix(): string {
  const alphabet = "bcdfghjklmnpqrstvwxz2456789";
  return [...crypto.getRandomValues(new Uint8Array(5))].map((byte) => alphabet[byte % alphabet.length]).join("");
}
