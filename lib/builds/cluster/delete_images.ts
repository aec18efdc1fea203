// Deletes what tags name, if they still name what was recorded: another client may have moved them since.
import { problemOf } from "../../images/assemble/problem.ts";
import type { Repositories } from "../../oci/repositories.ts";
import { type DeleteBy, deleteBy, namesRegistryService } from "../decide/publish/delete_by.ts";
import { type KubeApi, type ReadApi, readOptional } from "../../k8s/api.ts";
import { listAt, objectAt, textAt } from "../../json.ts";
import { ApiError, isForbidden, isNotFound } from "../../k8s/errors.ts";
import { Resource } from "../../k8s/types.ts";

export interface ImageDeletion {
  /** `registry/repository:tag`. */
  readonly reference: string;
  /** What the tag named when it was recorded. */
  readonly digest: string;
}

/** What came of it. `moved`: the tag names something else. `unsupported`, `denied`: the registry keeps it. */
export type DeletionResult =
  | { readonly kind: "moved" | "unsupported" | "denied" }
  | TagDeletion;

export interface DeleteImagesDeps {
  readonly api: KubeApi;
  /** With the push secret. */
  readonly repositories: Repositories;
  readonly signal: AbortSignal;
  readonly onResult: (reference: string, result: DeletionResult) => void;
}

/** Deletes them in their order. Throws ApiError, and otherwise only the signal's reason and faults that are no registry's. */
export async function deleteImages(deletions: readonly ImageDeletion[], deps: DeleteImagesDeps): Promise<void> {
  const ways = await waysToDelete(deletions.map(({ reference }) => reference), deps);
  for (const [at, by] of ways.entries()) {
    const deletion = deletions[at];
    if (deletion !== undefined) deps.onResult(deletion.reference, await deleteImage(deletion, by, deps));
  }
}

async function deleteImage(
  { reference, digest }: ImageDeletion,
  by: DeleteBy,
  { api, repositories, signal }: DeleteImagesDeps,
): Promise<DeletionResult> {
  if (by.kind === "nothing") return { kind: "unsupported" };
  try {
    const place = repositories.targetOf(reference);
    const target = await repositories.target(place);
    const named = await target.digestOf(place.reference);
    if (named === undefined) return { kind: "absent" };
    if (named !== digest) return { kind: "moved" };
    return by.kind === "manifest"
      ? { kind: await target.deleteManifest(digest) }
      : await deleteImageStreamTag(by, { api, signal });
  } catch (error) {
    const problem = problemOf(error, signal);
    if (["Unauthorized", "PushDenied"].includes(problem.reason)) return { kind: "denied" };
    return { kind: "unknown", message: problem.message };
  }
}

/** What came of a deletion. `forbidden`: the account lacks the right to delete ImageStreamTags in that namespace. */
export type TagDeletion =
  | { readonly kind: "deleted" | "absent" }
  | { readonly kind: "forbidden"; readonly namespace: string }
  | { readonly kind: "unknown"; readonly message: string };

/** By what each reference is deleted, in their order. One request to the API server at most. Throws ApiError. */
export async function waysToDelete(
  references: readonly string[],
  { api, signal }: { readonly api: ReadApi; readonly signal: AbortSignal },
): Promise<readonly DeleteBy[]> {
  const isKnown = references.every(namesRegistryService);
  const hosts = isKnown ? [] : await readRegistryHosts(api, signal);
  return references.map((reference) => deleteBy(reference, hosts));
}

/** Names of OpenShift's own registry besides its Service, as the cluster publishes them; empty on other clusters. */
async function readRegistryHosts(api: ReadApi, signal: AbortSignal): Promise<readonly string[]> {
  try {
    const status = objectAt(
      await readOptional(api, { type: Resource.imageConfigs, name: "cluster", signal }),
      "status",
    );
    const routes = listAt(status, "externalRegistryHostnames") ?? [];
    return [textAt(status, "internalRegistryHostname"), ...routes].filter((host) => typeof host === "string");
  } catch (error) {
    // Then a route of that registry is taken for another registry, which deletes no manifest for whoever may only push.
    if (isForbidden(error)) return [];
    throw error;
  }
}

export async function deleteImageStreamTag(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { api, signal }: { readonly api: KubeApi; readonly signal: AbortSignal },
): Promise<TagDeletion> {
  try {
    await api.delete(Resource.imageStreamTags, { namespace, name }, { signal });
    return { kind: "deleted" };
  } catch (error) {
    if (signal.aborted || !(error instanceof ApiError)) throw error;
    if (isNotFound(error)) return { kind: "absent" };
    return isForbidden(error) ? { kind: "forbidden", namespace } : { kind: "unknown", message: error.message };
  }
}
