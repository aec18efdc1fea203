// Which findings belong to a document and which to the reference that led to it.
import type { ImageReference } from "../reference.ts";
import type { Finding } from "../types.ts";
import { isIndexType } from "./manifest.ts";

/** What the reference itself gives rise to: a digest that names one platform's manifest instead of the index. */
export function findingsOfReference(reference: ImageReference, mediaType: string): readonly Finding[] {
  if (reference.digest === undefined || isIndexType(mediaType)) return [];
  const { droppedTag, registry, repository } = reference;
  const hint = droppedTag === undefined
    ? ""
    : ` To run on all of its platforms, pin the digest of ${registry}/${repository}:${droppedTag}.`;
  return [{ kind: "ChildDigestPin", message: `The digest pins an image of a single platform.${hint}` }];
}

export function findingsOfDocument(findings: readonly Finding[]): readonly Finding[] {
  return findings.filter(({ kind }) => kind !== "ChildDigestPin");
}
