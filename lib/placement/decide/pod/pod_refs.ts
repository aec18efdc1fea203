// References to a pod: as the object of an event, and as the scope of the pull secrets for its images.
import type { PullScope } from "../../../vocabulary/pull_scope.ts";
import type { PodView } from "../types.ts";

interface PodReference {
  readonly apiVersion: "v1";
  readonly kind: "Pod";
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export function podRef({ namespace, name, uid }: Pick<PodView, "namespace" | "name" | "uid">): PodReference {
  return { apiVersion: "v1", kind: "Pod", namespace, name, uid };
}

export function pullScopeOf(
  { namespace, serviceAccountName, imagePullSecrets }: Pick<
    PodView,
    "namespace" | "serviceAccountName" | "imagePullSecrets"
  >,
): PullScope {
  return { namespace, serviceAccount: serviceAccountName, pullSecrets: imagePullSecrets };
}
