// The pull secret for all pods (OpenShift's `openshift-config/pull-secret`): watched, or read once; optional.
import { ignoring, type ReadApi, readOptional } from "../../k8s/api.ts";
import { isForbidden } from "../../k8s/api_error.ts";
import { RETENTION } from "../../k8s/retention.ts";
import { Reflector, type ReflectorDeps } from "../../k8s/reflector.ts";
import { type KubeObject, Resource } from "../../k8s/types.ts";
import { parseDockerConfigSecret } from "../../oci/credentials/docker_config.ts";
import type { Credential } from "../../oci/credential.ts";
import type { Logger } from "../../log.ts";

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
    retain: RETENTION.globalPullSecret,
    parse: (secret) => {
      const { credentials, problem } = credentialsIn(secret, { namespace, name, log });
      return problem === undefined ? credentials : undefined;
    },
    name: "global pull secret",
  });
}

interface GlobalPullSecretDeps {
  readonly api: ReadApi;
  /** Undefined: images are read without a global pull secret. */
  readonly pullSecret: { readonly namespace: string; readonly name: string } | undefined;
  readonly log: Logger;
}

export interface GlobalCredentials {
  readonly credentials: readonly Credential[];
  readonly problem?: string;
}

export const NO_CREDENTIALS: GlobalCredentials = { credentials: [] };

/** Gives no credentials if the secret is absent, forbidden or malformed, since the image may be public. */
export async function readGlobalPullSecret(
  { api, pullSecret, log }: GlobalPullSecretDeps,
  signal: AbortSignal,
): Promise<GlobalCredentials> {
  if (pullSecret === undefined) return NO_CREDENTIALS;
  const { namespace, name } = pullSecret;
  const read = readOptional(api, { type: Resource.secrets, namespace, name, signal });
  const secret = await ignoring(isForbidden, read);
  return secret === undefined ? NO_CREDENTIALS : credentialsIn(secret, { namespace, name, log });
}

function credentialsIn(
  secret: KubeObject,
  { namespace, name, log }: { readonly namespace: string; readonly name: string; readonly log: Logger },
): GlobalCredentials {
  const source = `global pull secret ${namespace}/${name}`;
  const parsed = parseDockerConfigSecret(secret, source);
  if (parsed.kind === "parsed") return { credentials: parsed.value };
  const reason = parsed.fault.message;
  log.warn("cannot use the global pull secret", { namespace, secret: name, reason });
  return { credentials: [], problem: `Cannot use ${source}: ${reason}.` };
}
