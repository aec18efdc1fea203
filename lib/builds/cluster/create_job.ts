// Creates what a Job mounts, then the Job, and makes the Job an owner of these objects, which go with the last Job.
import { canonicaliseSecret, DOCKER_CONFIG_JSON } from "../decide/parse/secret.ts";
import type { BuildEffect, SecretCopy } from "../decide/effects.ts";
import { ignoring, type KubeApi } from "../../k8s/api.ts";
import { isConflict, isNotFound } from "../../k8s/api_error.ts";
import { asParsed, type Parsed } from "../../parsed.ts";
import { apiVersionOf, type KubeObject, type OwnerReference, Resource, type ResourceType } from "../../k8s/types.ts";

export interface CreateJobDeps {
  readonly api: KubeApi;
  readonly namespace: string;
  readonly signal: AbortSignal;
}

/** Objects that exist are used as they are. Throws ApiError, and Error for a secret without registry credentials. */
export async function createJob(
  { job, configMaps, secrets }: Pick<Extract<BuildEffect, { kind: "create job" }>, "job" | "configMaps" | "secrets">,
  deps: CreateJobDeps,
): Promise<void> {
  const made: { readonly type: ResourceType; readonly object: KubeObject }[] = [];
  for (const map of configMaps) {
    made.push({ type: Resource.configMaps, object: await ensure(Resource.configMaps, map, deps) });
  }
  for (const copy of secrets) {
    made.push({ type: Resource.secrets, object: await ensureCopy(copy, deps) });
  }
  const { metadata: { name, uid = "" } } = await ensure(Resource.jobs, job, deps);
  const { kind } = Resource.jobs;
  const owner = { apiVersion: apiVersionOf(Resource.jobs), kind, name, uid, blockOwnerDeletion: false };
  for (const { type, object } of made) await addOwner({ type, object, owner }, deps);
}

async function ensure(
  type: ResourceType,
  object: KubeObject,
  { api, namespace, signal }: CreateJobDeps,
): Promise<KubeObject> {
  try {
    return await api.create(type, object, { namespace, signal });
  } catch (error) {
    if (!isConflict(error)) throw error;
    return await api.get(type, { namespace, name: object.metadata.name }, signal);
  }
}

async function ensureCopy({ object, from }: SecretCopy, deps: CreateJobDeps): Promise<KubeObject> {
  const content = await readContent(from, deps);
  if (content.kind === "unparsable") throw new Error(content.fault.message);
  return await ensure(Resource.secrets, { ...object, type: DOCKER_CONFIG_JSON, data: content.value }, deps);
}

/** Leaves the copy as it is where the user's secret has no usable credentials any more. */
export async function refreshCopy(
  { target: { name, uid, resourceVersion }, copy }: Omit<Extract<BuildEffect, { kind: "refresh secret" }>, "kind">,
  deps: CreateJobDeps,
): Promise<void> {
  const { api, namespace, signal } = deps;
  const content = await readContent(copy.from, deps);
  if (content.kind === "unparsable") return;
  const { labels } = copy.object.metadata;
  const document = { metadata: { uid, resourceVersion, labels }, data: content.value };
  await api.patch(Resource.secrets, { namespace, name }, { body: { kind: "merge", document }, signal });
}

/** The only place where a secret's content goes back to the API server, in the form that build programs read. */
async function readContent(
  name: string,
  { api, namespace, signal }: CreateJobDeps,
): Promise<Parsed<{ readonly ".dockerconfigjson": string }>> {
  const content = canonicaliseSecret(await api.get(Resource.secrets, { namespace, name }, signal));
  return content.kind === "unparsable" ? content : asParsed({ ".dockerconfigjson": content.value });
}

async function addOwner(
  { type, object, owner }: {
    readonly type: ResourceType;
    readonly object: KubeObject;
    readonly owner: OwnerReference;
  },
  { api, namespace, signal }: CreateJobDeps,
): Promise<void> {
  const { name, ownerReferences = [], resourceVersion } = object.metadata;
  if (ownerReferences.some(({ uid }) => uid === owner.uid)) return;
  const document = { metadata: { resourceVersion, ownerReferences: [...ownerReferences, owner] } };
  // The object was garbage collected with its former owner, or changed meanwhile: the next reconcile adds the owner.
  const isLeft = (error: unknown): boolean => isNotFound(error) || isConflict(error);
  await ignoring(isLeft, api.patch(type, { namespace, name }, { body: { kind: "merge", document }, signal }));
}
