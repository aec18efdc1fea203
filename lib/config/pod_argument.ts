// The argument of `archway explain`: one pod, as kubectl names it or with its namespace in front.
import { splitKey } from "../k8s/types.ts";

const POD = /^(?:pods?|po)\/(.+)$/i;
/** Kinds that users name besides pods, as kubectl abbreviates them. */
const OTHER_KIND =
  /^(?:svc|services?|deploy|deployments?|rs|replicasets?|sts|statefulsets?|ds|daemonsets?|jobs?|cj|cronjobs?|no|nodes?|[^/]*\.[^/]*)\//i;

/** `pod/NAME` and `NAME` are in the namespace of the flag; `NAMESPACE/NAME` says its own. Pure. */
export function podTarget(
  word: string,
  namespace: string,
): { readonly namespace: string; readonly name: string } {
  const name = POD.exec(word)?.[1];
  return name === undefined ? { namespace, ...splitKey(word) } : { namespace, name };
}

/** Why the words name no single pod; `namespace` is that of `-n` where it was given. Pure. */
export function podProblem(words: readonly string[], namespace: string | undefined): string | undefined {
  const [word = ""] = words;
  if (words.length !== 1 || !/^[^/]+(?:\/[^/]+)?$/.test(word)) {
    return "Cannot explain: name one pod as pod/NAME (with -n NAMESPACE) or NAMESPACE/NAME.";
  }
  if (OTHER_KIND.test(word)) return `Cannot explain "${word}": only pods are explained. Name one as pod/NAME.`;
  const named = podTarget(word, namespace ?? "").namespace;
  if (namespace === undefined || named === namespace) return undefined;
  return `Cannot explain "${word}" with -n ${namespace}: they name two namespaces. Leave one of them out.`;
}
