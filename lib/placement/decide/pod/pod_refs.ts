// References to a pod: by name and uid, as the object of an event, and as the scope of the pull secrets for its images.
import type { PullIdentity } from "../../../vocabulary/pull_identity.ts";
import type { PodView } from "./pod_view.ts";

/** All that is kept of a pod where there may be many large ones. */
export type PodRef = Pick<PodView, "namespace" | "name" | "uid">;

export function podObject(
  { namespace, name, uid }: PodRef,
): PodRef & { readonly apiVersion: "v1"; readonly kind: "Pod" } {
  return { apiVersion: "v1", kind: "Pod", namespace, name, uid };
}

export function pullIdentityOf(
  { namespace, serviceAccountName, imagePullSecrets }: Pick<
    PodView,
    "namespace" | "serviceAccountName" | "imagePullSecrets"
  >,
): PullIdentity {
  return { namespace, serviceAccount: serviceAccountName, pullSecrets: imagePullSecrets };
}
