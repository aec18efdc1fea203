// The pull secret for all pods (OpenShift's `openshift-config/pull-secret`): watched, optional.
import { KEPT } from "../../k8s/kept.ts";
import { Reflector, type ReflectorDeps } from "../../k8s/reflector.ts";
import { Resource } from "../../k8s/types.ts";
import { parseDockerConfigSecret } from "../../oci/credentials/docker_config.ts";
import type { Credential } from "../../oci/credential.ts";

export function openGlobalPullSecret(
  { namespace, name, log, ...deps }: ReflectorDeps & {
    readonly namespace: string;
    readonly name: string;
    readonly onChange: () => void;
  },
): Reflector<readonly Credential[]> {
  return new Reflector({
    ...deps,
    log,
    resource: Resource.secrets,
    namespace,
    fieldSelector: `metadata.name=${name}`,
    keep: KEPT.globalPullSecret,
    parse: (secret) => {
      const parsed = parseDockerConfigSecret(secret, `global pull secret ${namespace}/${name}`);
      if (parsed.kind === "ok") return parsed.credentials;
      log.warn("cannot use the global pull secret", { namespace, secret: name, reason: parsed.message });
      return undefined;
    },
    name: "global pull secret",
  });
}
