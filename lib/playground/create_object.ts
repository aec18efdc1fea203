// POST of an object: names it, fills in defaults, runs admission, stores it.
import { apiVersionOf, keyOf, type KubeObject, Resource } from "../k8s/types.ts";
import { type Cluster, parseKubeObject, withMetadata } from "./cluster.ts";
import { listAt, objectAt, textAt, timestamp, without } from "./json_value.ts";
import type { ServedKind } from "./kinds.ts";
import { newPodStatus, withPodDefaults } from "./pod_defaults.ts";
import { checkMetadata } from "./metadata_rules.ts";
import { withSecretDefaults } from "./secret_defaults.ts";
import { checkNewPod } from "./pod_rules.ts";
import { alreadyExists, badRequest, invalid, notFound, StatusError } from "./status.ts";

/** Where and how to create. */
export interface CreateOptions {
  /** Namespace of the URL; required for namespaced kinds. */
  readonly namespace?: string | undefined;
  /** Do everything but store. */
  readonly dryRun?: boolean;
}

/** Creates an object and gives its stored form. Throws StatusError: 404 namespace, 409 exists, 422 invalid, or a denial. */
export async function createObject(
  cluster: Cluster,
  kind: ServedKind,
  options: CreateOptions & { readonly body: unknown },
): Promise<KubeObject> {
  const dryRun = options.dryRun ?? false;
  const given = prepareObject(cluster, kind, { ...options, object: parseKubeObject(options.body) });
  const attempt = { operation: "CREATE", kind, oldObject: undefined, subresource: undefined, dryRun } as const;
  const mutated = await cluster.admission.mutate({ ...attempt, object: given }) ?? given;
  const object = finishObject(cluster, kind, identify(cluster, kind, mutated));
  const causes = checkMetadata(object);
  if (causes.length > 0) throw invalid(kind, object.metadata.name, causes);
  await cluster.admission.validate({ ...attempt, object });
  if (cluster.store.get(kind, keyOf(object)) !== undefined) throw alreadyExists(kind, object.metadata.name);
  if (dryRun) return object;
  const stored = cluster.store.put(kind, object);
  if (kind.plural === Resource.namespaces.plural) createDefaultAccount(cluster, stored.metadata.name);
  return stored;
}

/** Checks and defaults: what mutating webhooks get to see. No uid yet, and no name when it is to be generated. */
function prepareObject(
  cluster: Cluster,
  kind: ServedKind,
  options: CreateOptions & { readonly object: KubeObject },
): KubeObject {
  const { object, namespace } = options;
  const given = object.metadata.namespace;
  if (kind.namespaced && namespace === undefined) throw badRequest("a namespace is required to create this kind");
  if (given !== undefined && namespace !== undefined && given !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  if ((object.metadata.resourceVersion ?? "") !== "") {
    throw badRequest("resourceVersion should not be set on objects to be created");
  }
  if (kind.namespaced) checkNamespace(cluster, namespace ?? "");
  const cleaned = withMetadata(object, {
    namespace: kind.namespaced ? namespace : undefined,
    resourceVersion: undefined,
    uid: undefined,
    managedFields: undefined,
    deletionTimestamp: undefined,
  });
  const typed = withSecretDefaults({ ...cleaned, apiVersion: apiVersionOf(kind), kind: kind.kind });
  return kind.plural === Resource.pods.plural ? withAccountSecrets(cluster, withPodDefaults(typed)) : typed;
}

/** Name, uid and birth. */
function identify(cluster: Cluster, kind: ServedKind, object: KubeObject): KubeObject {
  const prefix = textAt(object, "metadata", "generateName");
  const name = object.metadata.name !== "" ? object.metadata.name : prefix === undefined ? "" : prefix + suffix();
  if (name === "") {
    const message = "Required value: name or generateName is required";
    throw invalid(kind, "", [{ reason: "FieldValueRequired", field: "metadata.name", message }]);
  }
  const labels = kind.plural === Resource.namespaces.plural
    ? { labels: { ...object.metadata.labels, "kubernetes.io/metadata.name": name } }
    : {};
  return withMetadata({ ...object, metadata: { ...object.metadata, name } }, {
    ...labels,
    uid: crypto.randomUUID(),
    creationTimestamp: timestamp(cluster.clock.nowMs()),
    generation: 1,
  });
}

function finishObject(cluster: Cluster, kind: ServedKind, admitted: KubeObject): KubeObject {
  if (kind.plural === Resource.namespaces.plural) return { ...admitted, status: { phase: "Active" } };
  if (kind.plural === Resource.nodes.plural || !kind.hasStatus) return admitted;
  if (kind.plural !== Resource.pods.plural) return parseKubeObject(without(admitted, "status"));
  const pod = withPodDefaults(admitted);
  const causes = checkNewPod(pod);
  if (causes.length > 0) throw invalid(kind, pod.metadata.name, causes);
  return { ...pod, status: newPodStatus(pod, cluster.clock.nowMs()) };
}

function checkNamespace(cluster: Cluster, namespace: string): void {
  const found = cluster.store.get(Resource.namespaces, namespace);
  if (found === undefined) throw notFound(Resource.namespaces, namespace);
  if (found.metadata.deletionTimestamp !== undefined) {
    throw new StatusError(403, "Forbidden", {
      message: `unable to create new content in namespace ${namespace} because it is being terminated`,
      details: { causes: [{ reason: "NamespaceTerminating", message: `namespace ${namespace} is being terminated` }] },
    });
  }
}

/** The ServiceAccount admission plugin: pull secrets of the account go to pods that name none. */
function withAccountSecrets(cluster: Cluster, pod: KubeObject): KubeObject {
  if (listAt(pod, "spec", "imagePullSecrets").length > 0) return pod;
  const account = textAt(pod, "spec", "serviceAccountName") ?? "default";
  const found = cluster.store.get(Resource.serviceAccounts, `${pod.metadata.namespace ?? ""}/${account}`);
  const secrets = listAt(found, "imagePullSecrets");
  return secrets.length === 0
    ? pod
    : parseKubeObject({ ...pod, spec: { ...objectAt(pod, "spec"), imagePullSecrets: secrets } });
}

function createDefaultAccount(cluster: Cluster, namespace: string): void {
  cluster.store.put(Resource.serviceAccounts, {
    metadata: {
      name: "default",
      namespace,
      uid: crypto.randomUUID(),
      creationTimestamp: timestamp(cluster.clock.nowMs()),
    },
  });
}

/** Five characters as the API server appends them to generateName: no vowels, no look-alikes. */
function suffix(): string {
  const alphabet = "bcdfghjklmnpqrstvwxz2456789";
  return [...crypto.getRandomValues(new Uint8Array(5))].map((byte) => alphabet[byte % alphabet.length]).join("");
}
