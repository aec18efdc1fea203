// PUT, PATCH and apply: one optimistic read → change → admit → check → write loop.
import { keyOf, type KubeObject, Resource } from "../k8s/types.ts";
import { errorText } from "../log.ts";
import { type Cluster, parseKubeObject, withMetadata } from "./cluster.ts";
import { createObject } from "./create_object.ts";
import { applyJsonPatch, JsonPatchError } from "./json_patch.ts";
import { isEqualJson, listAt, numberAt, objectAt, textAt, without } from "./json_value.ts";
import type { ServedKind } from "./kinds.ts";
import { mergePatch, strategicMergePatch } from "./merge_patch.ts";
import { checkMetadata } from "./metadata_rules.ts";
import { withSecretDefaults } from "./secret_defaults.ts";
import { withPodDefaults } from "./pod_defaults.ts";
import { checkPodUpdate } from "./pod_rules.ts";
import { badRequest, conflict, invalid, notFound, StatusError, unapplicablePatch } from "./status.ts";

/** Which object to change, and whether it is a dry run. */
export interface UpdateTarget {
  /** Absent for cluster-scoped kinds. */
  readonly namespace?: string | undefined;
  /** Name of the object. */
  readonly name: string;
  /** `status` changes nothing else. */
  readonly subresource?: string | undefined;
  /** Do everything but store. */
  readonly dryRun?: boolean;
}

/** How a PATCH body is to be read: the four content types of the API. */
export type PatchKind = "json" | "merge" | "strategic" | "apply";

/** PUT: the body replaces the object; a resourceVersion in it must be the current one (409). */
export function updateObject(
  cluster: Cluster,
  kind: ServedKind,
  options: UpdateTarget & { readonly body: unknown },
): Promise<KubeObject> {
  return writeObject(cluster, kind, { ...options, change: () => options.body });
}

/** PATCH with the text of its body. An apply of a missing object creates it. A failed `test` is 422 without causes. */
export async function patchObject(
  cluster: Cluster,
  kind: ServedKind,
  options: UpdateTarget & { readonly patchKind: PatchKind; readonly body: string },
): Promise<KubeObject> {
  const { patchKind, body } = options;
  const existing = cluster.store.get(kind, keyOf({ metadata: target(options) }));
  if (existing === undefined && patchKind === "apply") {
    const fresh = parseKubeObject(parseBody(body));
    return await createObject(cluster, kind, {
      namespace: options.namespace,
      body: { ...fresh, metadata: { ...fresh.metadata, name: options.name } },
      dryRun: options.dryRun ?? false,
    });
  }
  return await writeObject(cluster, kind, { ...options, change: (current) => patched(current, { patchKind, body }) });
}

/** The JSON of a request's body; 400 when it is none. */
export function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw badRequest(`the body is not JSON: ${errorText(error)}`);
  }
}

function target(options: UpdateTarget): { readonly namespace?: string; readonly name: string } {
  return options.namespace === undefined
    ? { name: options.name }
    : { namespace: options.namespace, name: options.name };
}

function patched(current: KubeObject, patch: { readonly patchKind: PatchKind; readonly body: string }): unknown {
  switch (patch.patchKind) {
    case "json":
      try {
        return applyJsonPatch(current, patch.body);
      } catch (error) {
        if (!(error instanceof JsonPatchError)) throw error;
        throw error.problem === "malformed" ? badRequest(error.message) : unapplicablePatch();
      }
    case "merge":
      return mergePatch(current, parseBody(patch.body));
    case "strategic":
    case "apply":
      return strategicMergePatch(current, parseBody(patch.body));
  }
}

/** Tries again when another write came between read and write, as the real server does for patches without a version. */
async function writeObject(
  cluster: Cluster,
  kind: ServedKind,
  options: UpdateTarget & { readonly change: (current: KubeObject) => unknown },
): Promise<KubeObject> {
  const key = keyOf({ metadata: target(options) });
  for (;;) {
    const current = cluster.store.get(kind, key);
    if (current === undefined) throw notFound(kind, options.name);
    const proposed = parseKubeObject(options.change(current));
    checkVersions(kind, current, proposed);
    const merged = merge(kind, { current, proposed, subresource: options.subresource });
    const attempt = {
      operation: "UPDATE",
      kind,
      oldObject: current,
      subresource: options.subresource,
      dryRun: options.dryRun ?? false,
    } as const;
    const next = finish(kind, current, await cluster.admission.mutate({ ...attempt, object: merged }) ?? merged);
    await cluster.admission.validate({ ...attempt, object: next });
    if (options.dryRun === true) return next;
    if (cluster.store.get(kind, key) !== current) continue;
    return store(cluster, kind, { current, next });
  }
}

function checkVersions(kind: ServedKind, current: KubeObject, proposed: KubeObject): void {
  const name = current.metadata.name;
  const { resourceVersion, uid } = proposed.metadata;
  if (resourceVersion !== undefined && resourceVersion !== "" && resourceVersion !== current.metadata.resourceVersion) {
    throw conflict(kind, name);
  }
  if (uid !== undefined && uid !== "" && uid !== current.metadata.uid) {
    throw conflict(
      kind,
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.metadata.uid ?? ""}`,
    );
  }
  if (proposed.metadata.name !== name) throw badRequest("the name of the object does not match the name on the URL");
}

function merge(
  kind: ServedKind,
  write: { readonly current: KubeObject; readonly proposed: KubeObject; readonly subresource: string | undefined },
): KubeObject {
  const { current, proposed, subresource } = write;
  if (subresource === "status") return { ...current, status: proposed.status };
  const { namespace, uid, creationTimestamp, deletionTimestamp, generation, resourceVersion } = current.metadata;
  const kept = withMetadata(proposed, {
    ...{ namespace, uid, creationTimestamp, deletionTimestamp, generation, resourceVersion },
    deletionGracePeriodSeconds: numberAt(current, "metadata", "deletionGracePeriodSeconds"),
    managedFields: undefined,
  });
  const withStatus = !kind.hasStatus
    ? kept
    : current.status === undefined
    ? parseKubeObject(without(kept, "status"))
    : { ...kept, status: current.status };
  const typed = withSecretDefaults({ ...withStatus, apiVersion: current.apiVersion ?? kind.version, kind: kind.kind });
  return kind.plural === Resource.pods.plural ? withPodDefaults(typed) : typed;
}

function finish(kind: ServedKind, current: KubeObject, admitted: KubeObject): KubeObject {
  const causes = [
    ...checkMetadata(admitted),
    ...(kind.plural === Resource.pods.plural ? checkPodUpdate(current, admitted) : []),
  ];
  if (causes.length > 0) throw invalid(kind, current.metadata.name, causes);
  const sameSpec = isEqualJson(without(current, "metadata", "status"), without(admitted, "metadata", "status"));
  const generation = (numberAt(current, "metadata", "generation") ?? 1) + (sameSpec ? 0 : 1);
  return withMetadata(admitted, { generation });
}

function store(
  cluster: Cluster,
  kind: ServedKind,
  write: { readonly current: KubeObject; readonly next: KubeObject },
): KubeObject {
  if (isEqualJson(write.current, write.next)) return write.current;
  const stored = cluster.store.put(kind, write.next);
  const leaving = stored.metadata.deletionTimestamp !== undefined &&
    listAt(stored, "metadata", "finalizers").length === 0;
  if (leaving && (numberAt(stored, "metadata", "deletionGracePeriodSeconds") ?? 0) === 0) {
    cluster.store.remove(kind, keyOf(stored));
  }
  return stored;
}

/** POST of a Binding: what a scheduler does. 409 when the pod is bound or gated already. */
export function bindPod(
  cluster: Cluster,
  podKind: ServedKind,
  options: UpdateTarget & { readonly body: unknown },
): KubeObject {
  const pod = cluster.store.get(podKind, keyOf({ metadata: target(options) }));
  if (pod === undefined) throw notFound(podKind, options.name);
  const nodeName = textAt(options.body, "target", "name");
  if (nodeName === undefined) throw badRequest("target.name is required");
  if (textAt(pod, "spec", "nodeName") !== undefined) {
    throw conflict(podKind, options.name, `pod ${options.name} is already assigned to a node`);
  }
  if (listAt(pod, "spec", "schedulingGates").length > 0) {
    throw new StatusError(409, "Conflict", { message: `pod ${options.name} has non-empty .spec.schedulingGates` });
  }
  return cluster.store.put(podKind, { ...pod, spec: { ...objectAt(pod, "spec"), nodeName } });
}
