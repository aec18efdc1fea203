// How to delete an image. In OpenShift's registry it is by ImageStreamTag: who may push there may not delete manifests.
import { canonicalHost } from "../../../oci/registry_host.ts";

export type DeleteBy =
  | { readonly kind: "manifest" }
  /** By OpenShift's API: `name` is `STREAM:TAG`. */
  | { readonly kind: "image stream tag"; readonly namespace: string; readonly name: string }
  /** It is in OpenShift's own registry, and the reference is no tag of an ImageStream. */
  | { readonly kind: "nothing" };

const SERVICE = "image-registry.openshift-image-registry.svc";
const SERVICE_NAMES = [SERVICE, `${SERVICE}.cluster.local`];
const SERVICE_HOSTS: readonly string[] = SERVICE_NAMES.flatMap((name) => [name, `${name}:5000`]);

/** `NAMESPACE/STREAM:TAG`, as a repository of OpenShift's registry is named. */
const STREAM_TAG = /^([^/:@]+)\/([^/:@]+:[^/:@]+)$/;

/** Whether `registry/repository:tag` names OpenShift's own registry by its Service, which every such cluster has. */
export function namesRegistryService(reference: string): boolean {
  return SERVICE_HOSTS.includes(hostOf(reference));
}

export function deleteBy(reference: string, hosts: readonly string[]): DeleteBy {
  const host = hostOf(reference);
  const isKnownHost = host !== "" && hosts.some((one) => canonicalHost(one) === host);
  if (!isKnownHost && !namesRegistryService(reference)) return { kind: "manifest" };
  const [, namespace, name] = STREAM_TAG.exec(reference.slice(reference.indexOf("/") + 1)) ?? [];
  return namespace === undefined || name === undefined
    ? { kind: "nothing" }
    : { kind: "image stream tag", namespace, name };
}

function hostOf(reference: string): string {
  return canonicalHost(reference.slice(0, Math.max(0, reference.indexOf("/"))));
}
