// The arguments of commands that take objects: the pod of `archway explain`, the images of `archway index`.
import { splitKey } from "../k8s/types.ts";
import { VERBS } from "./flags.ts";
import { parseReference } from "../oci/reference.ts";

const POD = /^(?:pods?|po)\/(.+)$/i;
/** Kinds that users name besides pods, as kubectl abbreviates them. */
const OTHER_KIND =
  /^(?:svc|services?|deploy|deployments?|rs|replicasets?|sts|statefulsets?|ds|daemonsets?|jobs?|cj|cronjobs?|no|nodes?|[^/.]*\.[^/]*)\//i;

/** `pod/NAME` and `NAME` are in the namespace of the flag; `NAMESPACE/NAME` says its own. Pure. */
export function podTarget(
  word: string,
  namespace: string,
): { readonly namespace: string; readonly name: string } {
  const name = POD.exec(word)?.[1];
  return name === undefined ? { namespace, ...splitKey(word) } : { namespace, name };
}

/** Why the positionals name no single pod; `namespace` is that of `-n` where it was given. Pure. */
export function podProblem(positionals: readonly string[], namespace: string | undefined): string | undefined {
  const [word = ""] = positionals;
  if (positionals.length !== 1 || !/^[^/]+(?:\/[^/]+)?$/.test(word)) {
    return "Cannot explain: name one pod as pod/NAME (with -n NAMESPACE) or NAMESPACE/NAME.";
  }
  if (OTHER_KIND.test(word)) return `Cannot explain "${word}": only pods are explained. Name one as pod/NAME.`;
  const named = podTarget(word, namespace ?? "").namespace;
  if (namespace === undefined || named === namespace) return undefined;
  return `Cannot explain "${word}" with -n ${namespace}: they name two namespaces. Leave one of them out.`;
}

export type IndexVerb = typeof VERBS.index[number];

const USAGE =
  "use `archway index assemble --to REGISTRY/REPOSITORY:TAG IMAGE…`, `archway index append INDEX IMAGE…`, " +
  "`archway index remove INDEX PLATFORM…` or `archway index inspect INDEX`";

/** The verb and its images, or platforms after the first; undefined when the first word is no verb. Pure. */
export function indexTarget(
  [first, ...images]: readonly string[],
): { readonly verb: IndexVerb; readonly images: readonly string[] } | undefined {
  const verb = VERBS.index.find((one) => one === first);
  return verb && { verb, images };
}

export function indexProblem(
  positionals: readonly string[],
  { to, annotation }: { readonly to: readonly string[]; readonly annotation: readonly string[] },
): string | undefined {
  const target = indexTarget(positionals);
  if (target === undefined) return `Cannot run index: ${USAGE}.`;
  const { verb, images: [first = "", ...others] } = target;
  if (verb === "inspect") {
    if (to.length + annotation.length > 0) {
      return "Cannot use --to or --annotation with index inspect: it writes nothing.";
    }
    return first !== "" && others.length === 0
      ? undefined
      : "Cannot inspect: name one index as `archway index inspect IMAGE`.";
  }
  if (verb === "assemble") {
    if (to.length === 0) return "Cannot assemble: say where the index goes by --to REGISTRY/REPOSITORY:TAG.";
    if (first === "") return "Nothing to assemble: name one image for each architecture.";
  } else if (others.length === 0) {
    const what = verb === "append" ? "IMAGE" : "PLATFORM";
    return `Nothing to ${verb}: use \`archway index ${verb} INDEX ${what}…\`.`;
  }
  const wrong = annotation.find((text) => !/^[^=]+=/.test(text));
  if (wrong !== undefined) return `Cannot use --annotation "${wrong}": write it as KEY=VALUE.`;
  return (to.length === 0 ? [first] : to).map(targetProblem).find((problem) => problem !== undefined);
}

/** A repository to push to is named in full: no part of it has a default. */
function targetProblem(to: string): string | undefined {
  const parsed = parseReference(to);
  if (parsed.kind === "unparsable") return `Cannot use --to: ${parsed.fault.message}`;
  const { isShort, tag, digest } = parsed.value;
  if (isShort) return `Cannot use --to "${to}": it names no registry. Write it as REGISTRY/REPOSITORY:TAG.`;
  if (digest !== undefined) return `Cannot use --to "${to}": an index gets its digest from its images. Name a tag.`;
  return tag === undefined ? `Cannot use --to "${to}": it has no tag. Write it as REGISTRY/REPOSITORY:TAG.` : undefined;
}
