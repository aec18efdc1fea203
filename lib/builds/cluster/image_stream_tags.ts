// Tags of OpenShift's own registry, which are ImageStreamTags of its API: other names of that registry, and their deletion.
import { type DeleteBy, deleteBy, namesRegistryService } from "../decide/publish/delete_by.ts";
import { listAt, objectAt, textAt } from "../../json.ts";
import { type KubeApi, type ReadApi, readOptional } from "../../k8s/api.ts";
import { ApiError, isForbidden, isNotFound } from "../../k8s/errors.ts";
import { Resource } from "../../k8s/types.ts";

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

/** Deletes one. Rejects only with the signal's reason and for faults that are not the API server's. */
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
