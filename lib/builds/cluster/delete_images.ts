// Deletes what tags name, if they still name what was recorded: another client may have moved them since.
import { problemOf } from "../../images/assemble/problem.ts";
import type { Repositories } from "../../oci/repositories.ts";
import type { DeleteBy } from "../decide/publish/delete_by.ts";
import type { KubeApi } from "../../k8s/api.ts";
import { deleteImageStreamTag, type TagDeletion, waysToDelete } from "./image_stream_tags.ts";

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
