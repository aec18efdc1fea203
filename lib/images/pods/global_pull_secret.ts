// The pull secret for all pods (OpenShift's `openshift-config/pull-secret`): watched, fine if absent.
import type { Clock } from "../../clock.ts";
import type { ReadApi } from "../../k8s/api.ts";
import { KEPT } from "../../k8s/kept.ts";
import { Reflector } from "../../k8s/reflector.ts";
import { Resource } from "../../k8s/types.ts";
import type { Logger } from "../../log.ts";
import { parseDockerConfigSecret } from "../../oci/credentials/docker_config.ts";
import type { Credential } from "../../oci/credential.ts";

export interface GlobalPullSecret {
  run(signal: AbortSignal): Promise<void>;
  credentials(): readonly Credential[];
  /** Whether it was read, is absent, or must not be read: nothing is missing any more. */
  isSettled(): boolean;
}

/** Opens the view. `onChange` is called at every change of the credentials. */
export function openGlobalPullSecret(options: {
  readonly api: ReadApi;
  readonly namespace: string;
  readonly name: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onChange: () => void;
}): GlobalPullSecret {
  const { api, namespace, name, clock, log, onChange } = options;
  const secrets = new Reflector<readonly Credential[]>({
    api,
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
    onChange,
    clock,
    log,
    name: "global pull secret",
  });
  return {
    run: (signal) => secrets.run(signal),
    credentials: () => secrets.get(`${namespace}/${name}`) ?? [],
    isSettled: () => secrets.hasSynced() || secrets.state() === "forbidden" || secrets.state() === "missing",
  };
}
