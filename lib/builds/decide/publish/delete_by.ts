// How to delete an image. In OpenShift's registry, by ImageStreamTag: accounts with the right to push may not delete
// manifests there.
import { parseReference } from "../../../oci/reference.ts";
import { canonicalHost } from "../../../oci/host_names.ts";

export type DeleteBy =
  | { readonly kind: "manifest" }
  /** By OpenShift's API: `name` is `STREAM:TAG`. */
  | { readonly kind: "image stream tag"; readonly namespace: string; readonly name: string }
  /** The image is in OpenShift's own registry, and the reference is no tag of an ImageStream. */
  | { readonly kind: "nothing" };

const SERVICE = "image-registry.openshift-image-registry.svc";
const SERVICE_NAMES = [SERVICE, `${SERVICE}.cluster.local`];
const SERVICE_HOSTS: readonly string[] = SERVICE_NAMES.flatMap((name) => [name, `${name}:5000`]);

/** Whether `registry/repository:tag` names OpenShift's own registry by its Service, which every such cluster has. */
export function namesRegistryService(reference: string): boolean {
  return deleteBy(reference, []).kind !== "manifest";
}

export function deleteBy(image: string, hosts: readonly string[]): DeleteBy {
  const parsed = parseReference(image);
  if (parsed.kind === "unparsable") return { kind: "manifest" };
  const { host, repository, tag, digest } = parsed.value;
  if (![...SERVICE_HOSTS, ...hosts.map(canonicalHost)].includes(host)) return { kind: "manifest" };
  const [namespace = "", stream, ...more] = repository.split("/");
  return stream === undefined || more.length > 0 || tag === undefined || digest !== undefined
    ? { kind: "nothing" }
    : { kind: "image stream tag", namespace, name: `${stream}:${tag}` };
}
