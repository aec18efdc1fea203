// The registries as one MachineOSConfig may use them: with the credentials of its push and pull secrets before those of the
// process. Credentials are read for each reconcile and kept no longer.
import { Repositories, type RepositoriesDeps } from "../../oci/repositories.ts";
import type { KubeObject } from "../../k8s/types.ts";
import type { Credential, Keyring } from "../../oci/credential.ts";
import { parseDockerConfigSecret } from "../../oci/credentials/docker_config.ts";
import { matchCredentials } from "../../oci/credentials/match.ts";
import type { BuildRegistries } from "./answer_questions.ts";

export interface RegistrySecrets {
  readonly push: KubeObject | undefined;
  readonly pull: KubeObject | undefined;
}

export function openBuildRegistries({ push, pull }: RegistrySecrets, deps: RepositoriesDeps): BuildRegistries {
  const open = (secret: KubeObject | undefined): Repositories =>
    new Repositories({
      ...deps,
      access: { ...deps.access, keyring: withFirst(credentialsOf(secret), deps.access.keyring) },
    });
  return { push: open(push), pull: open(pull) };
}

function credentialsOf(secret: KubeObject | undefined): readonly Credential[] {
  if (secret === undefined) return [];
  const { namespace = "", name } = secret.metadata;
  const parsed = parseDockerConfigSecret(secret, `secret ${namespace}/${name}`);
  return parsed.kind === "ok" ? parsed.credentials : [];
}

function withFirst(own: readonly Credential[], keyring: Keyring): Keyring {
  return {
    lookup: async (endpoint, signal) => [
      ...matchCredentials(own, endpoint),
      ...await keyring.lookup(endpoint, signal),
    ],
  };
}
