// Whether pods can be given the tolerations that they lack, by a dry run of the very patch.
import { ApiError, classifyWriteFailure } from "../../k8s/errors.ts";
import { splitKey } from "../../k8s/types.ts";
import type { PodNeed } from "./types.ts";

/** What the API server answers for a policy or a webhook that denies a request, whatever status it chose. */
const DENIED = /denied (?:the )?request/;

export type Trial =
  | { readonly kind: "accepted" }
  /** The API server, or a policy or webhook of the cluster, does not let it have the toleration. */
  | { readonly kind: "refused"; readonly why: string }
  /** It was not tried, or the answer does not say. */
  | { readonly kind: "unknown"; readonly why: string };

const MAX_TRIED = 100;

/** Of a pod that was left out because of {@link MAX_TRIED}, or of the time that trying may take. */
export const NOT_TRIED: Trial = { kind: "unknown", why: "not tried: too many pods" };

/** What the RBAC authorizer answers: it says something of the user and nothing of the pod. */
const LACKS_RIGHT = /is forbidden: User .* cannot patch resource "pods"/;
/** What the API server answers ahead of a webhook that may have side effects. */
const NO_DRY_RUN = /does not support dry run/;

/** Whether the text of a fault says that admission refused the write. A webhook may use the status of a conflict. */
export function isDenial(text: string): boolean {
  return DENIED.test(text);
}

/** The pods to try, the namespaces in turn: policies mostly differ by namespace. */
export function choosePods(needs: readonly PodNeed[], max: number = MAX_TRIED): readonly PodNeed[] {
  const queues = [...Map.groupBy(needs, ({ pod }) => splitKey(pod.key).namespace).values()];
  const longest = Math.max(0, ...queues.map(({ length }) => Math.min(length, max)));
  const rounds = Array.from({ length: longest }, (_, round) => queues.flatMap((queue) => queue[round] ?? []));
  return rounds.flat().slice(0, max);
}

export function judgeTrial(error: unknown, text: string): Trial {
  // First: what a policy or a webhook says can contain any text of the pod.
  if (isDenial(text)) return { kind: "refused", why: text };
  const status = error instanceof ApiError ? error.status : 0;
  if (status === 403 && LACKS_RIGHT.test(text)) return { kind: "unknown", why: `you may not patch it: ${text}` };
  if (status === 400 && NO_DRY_RUN.test(text)) return { kind: "unknown", why: text };
  const failure = classifyWriteFailure(error);
  if (failure === "gone" || failure === "stale") return { kind: "unknown", why: "it changed meanwhile" };
  return { kind: failure === "refused" || status === 403 ? "refused" : "unknown", why: text };
}
