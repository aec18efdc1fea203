// Deletes what a tag names, if it still names what was recorded: another client may have moved it since.
import { problemOf } from "../assemble/problem.ts";
import type { PublishImagesDeps } from "./publish_images.ts";

/** What to delete. */
export interface ImageDeletion {
  /** `registry/repository:tag`. */
  readonly image: string;
  /** What the tag named when it was recorded. */
  readonly digest: string;
}

/** What came of it. `moved`: the tag names something else. `unsupported`, `denied`: the registry keeps it. */
export type DeletionResult =
  | { readonly kind: "deleted" | "absent" | "moved" | "unsupported" | "denied" }
  | { readonly kind: "unknown"; readonly message: string };

/** Deletes it. Rejects only with the signal's reason and for faults that are no registry's. */
export async function deleteImage(
  { image, digest }: ImageDeletion,
  { repositories, signal }: PublishImagesDeps,
): Promise<DeletionResult> {
  try {
    const place = repositories.targetOf(image);
    const target = await repositories.target(place);
    const named = await target.digestOf(place.reference);
    if (named === undefined) return { kind: "absent" };
    return { kind: named === digest ? await target.deleteManifest(digest) : "moved" };
  } catch (error) {
    const problem = signal.aborted ? undefined : problemOf(error);
    if (problem === undefined) throw error;
    if (["Unauthorized", "PushDenied"].includes(problem.reason)) return { kind: "denied" };
    return { kind: "unknown", message: problem.message };
  }
}
