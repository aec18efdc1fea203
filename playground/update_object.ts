// PUT, PATCH and apply: one optimistic read → change → admit → check → write loop.
import { isDeepStrictEqual } from "node:util";
import { keyOf, type KubeObject } from "../lib/k8s/types.ts";
import { errorText } from "../lib/log.ts";
import { type Cluster, findObject, isStored, type ObjectTarget, requireKubeObject, withMetadata } from "./cluster.ts";
import { createObject } from "./create_object.ts";
import { withDefaults } from "./defaults.ts";
import { storeObject } from "./delete_object.ts";
import type { ServedKind } from "./kinds.ts";
import { applyJsonPatch, mergePatch } from "./patches.ts";
import { badRequest, conflict } from "./status_error.ts";

interface UpdateTarget extends ObjectTarget {
  readonly subresource?: string | undefined;
  readonly dryRun?: boolean;
}

export type PatchKind = "json" | "merge" | "apply";

interface PatchOptions extends UpdateTarget {
  readonly patchKind: PatchKind;
  readonly body: string;
}

/** PUT: the body replaces the object; a resourceVersion in it must be the current one (409). */
export function updateObject(
  cluster: Cluster,
  kind: ServedKind,
  target: UpdateTarget & { readonly body: unknown },
): Promise<KubeObject> {
  return writeObject(cluster, kind, target, () => target.body);
}

/** PATCH with the text of its body. An apply of a missing object creates it. A failed `test` is 422 without causes. */
export async function patchObject(cluster: Cluster, kind: ServedKind, options: PatchOptions): Promise<KubeObject> {
  const { patchKind, namespace, name } = options;
  const patch = parseBody(options.body);
  if (patchKind === "apply" && !isStored(cluster, kind, options)) {
    const body = withMetadata(requireKubeObject(patch), { name });
    return await createObject(cluster, kind, { namespace, body, dryRun: options.dryRun ?? false });
  }
  const change = patchKind === "json" ? applyJsonPatch : mergePatch;
  return await writeObject(cluster, kind, options, (current) => change(current, patch));
}

export function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw badRequest(`the body is not JSON: ${errorText(error)}`);
  }
}

/**
 * Tries again when another write came between read and write, as the real server does for patches without a version.
 */
async function writeObject(
  cluster: Cluster,
  kind: ServedKind,
  target: UpdateTarget,
  change: (current: KubeObject) => unknown,
): Promise<KubeObject> {
  const { subresource, dryRun = false } = target;
  for (;;) {
    const current = findObject(cluster, kind, target);
    const proposed = requireKubeObject(change(current));
    checkVersions(kind, current, proposed);
    const merged = subresource === "status"
      ? { ...current, status: proposed["status"] }
      : mergeObject(kind, current, proposed);
    const attempt = { operation: "UPDATE", kind, oldObject: current, subresource, dryRun } as const;
    const next = withGeneration(current, await cluster.admission.mutate({ ...attempt, object: merged }) ?? merged);
    await cluster.admission.validate({ ...attempt, object: next });
    if (dryRun) return next;
    if (cluster.store.get(kind, keyOf(current)) !== current) continue;
    return isDeepStrictEqual(current, next) ? current : storeObject(cluster, kind, next);
  }
}

function checkVersions(kind: ServedKind, current: KubeObject, proposed: KubeObject): void {
  const { name, uid: currentUid = "", resourceVersion: currentVersion } = current.metadata;
  const { resourceVersion = "", uid = "" } = proposed.metadata;
  if (resourceVersion !== "" && resourceVersion !== currentVersion) throw conflict(kind, name);
  if (uid !== "" && uid !== currentUid) {
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${currentUid}`;
    throw conflict(kind, name, why);
  }
  if (proposed.metadata.name !== name) throw badRequest("the name of the object does not match the name on the URL");
}

/** The proposed object, with the current values of members that a client cannot change. */
function mergeObject(kind: ServedKind, current: KubeObject, proposed: KubeObject): KubeObject {
  const { namespace, uid, creationTimestamp, deletionTimestamp, generation, resourceVersion } = current.metadata;
  const { status: given, ...rest } = proposed;
  const status = kind.hasStatus ? current["status"] : given;
  const kept = withMetadata(status === undefined ? requireKubeObject(rest) : { ...rest, status }, {
    namespace,
    uid,
    creationTimestamp,
    deletionTimestamp,
    generation,
    resourceVersion,
    managedFields: undefined,
  });
  return withDefaults(kind, kept);
}

function withGeneration(current: KubeObject, admitted: KubeObject): KubeObject {
  const { metadata: _metadata, status: _status, ...before } = current;
  const { metadata: _now, status: _its, ...after } = admitted;
  const { generation = 1 } = current.metadata;
  return withMetadata(admitted, { generation: isDeepStrictEqual(before, after) ? generation : generation + 1 });
}
