// The arguments of `archway index`: what is done, and to which images.
import { parseReference } from "../oci/reference.ts";

/** What `archway index` can do. */
export type IndexVerb = "assemble" | "inspect";

const USAGE = "use `archway index assemble --to REGISTRY/REPOSITORY:TAG IMAGE…` or `archway index inspect IMAGE`";

/** The verb and its images; undefined when the first word is no verb. Pure. */
export function indexTarget(
  [verb, ...images]: readonly string[],
): { readonly verb: IndexVerb; readonly images: readonly string[] } | undefined {
  return verb === "assemble" || verb === "inspect" ? { verb, images } : undefined;
}

/** Why the arguments and `--to` cannot be used together. Pure. */
export function indexProblem(words: readonly string[], to: string | undefined): string | undefined {
  const target = indexTarget(words);
  if (target === undefined) return `Cannot run index: ${USAGE}.`;
  const { verb, images } = target;
  if (verb === "inspect") {
    if (to !== undefined) return "Cannot use --to with index inspect: it writes nothing.";
    return images.length === 1 ? undefined : "Cannot inspect: name one index as `archway index inspect IMAGE`.";
  }
  if (to === undefined) return "Cannot assemble: say where the index goes by --to REGISTRY/REPOSITORY:TAG.";
  if (images.length === 0) return "Nothing to assemble: name one image for each architecture.";
  return targetProblem(to);
}

/** A repository to push to is named in full: no part of it has a default. */
function targetProblem(to: string): string | undefined {
  const parsed = parseReference(to);
  if (parsed.kind === "unparsable") return `Cannot use --to: ${parsed.message}`;
  const { isShort, tag, digest } = parsed.reference;
  if (isShort) return `Cannot use --to "${to}": it names no registry. Write it as REGISTRY/REPOSITORY:TAG.`;
  if (digest !== undefined) return `Cannot use --to "${to}": an index gets its digest from its images. Name a tag.`;
  return tag === undefined ? `Cannot use --to "${to}": it has no tag. Write it as REGISTRY/REPOSITORY:TAG.` : undefined;
}
