// Release payloads read with the credentials of the cluster: its pull secret is read anew before each payload, which is rarely.
import type { Clock } from "../../../clock.ts";
import { openRegistryAccess, type RegistryConfig } from "../../../oci/registry_access.ts";
import { type ReadApi, readOptional } from "../../../k8s/api.ts";
import { isForbidden } from "../../../k8s/errors.ts";
import { Resource } from "../../../k8s/types.ts";
import { errorText, type Logger } from "../../../log.ts";
import type { Credential } from "../../../oci/credential.ts";
import { parseDockerConfigSecret } from "../../../oci/credentials/docker_config.ts";
import { SharedCalls } from "../../../oci/shared_call.ts";
import type { Payload } from "../../decide/types/cluster.ts";
import { openPayloadReader, type PayloadReader } from "./payload.ts";

export interface ClusterPayloadsOptions {
  readonly api: ReadApi;
  readonly registries: RegistryConfig;
  /** The pull secret for all pods; undefined: payloads are read without. */
  readonly pullSecret: { readonly namespace: string; readonly name: string } | undefined;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A digest names one payload for good; that its registry still has it is asked again after so long (ms). */
const KEEP_MS = 10 * 60_000;
const MAX_KEPT = 10;

/** Opens the reader; nothing is read yet. Dispose it to close the connections. */
export function openClusterPayloads(options: ClusterPayloadsOptions): PayloadReader & Disposable {
  let { credentials, problem }: PullCredentials = NO_CREDENTIALS;
  const access = openRegistryAccess({ ...options, config: options.registries, clusterCredentials: () => credentials });
  const payloads = openPayloadReader({ access, clock: options.clock });
  const reads = new SharedCalls<Payload>({ clock: options.clock, keepMs: () => KEEP_MS, maxKept: MAX_KEPT });
  return {
    read: (image, { architecture, signal }) =>
      reads.run(`${image} ${architecture}`, { signal }, async (_callers, shared) => {
        ({ credentials, problem } = await readCredentials(options, shared));
        try {
          return await payloads.read(image, { architecture, signal: shared });
        } catch (cause) {
          shared.throwIfAborted();
          if (problem === undefined) throw cause;
          throw new Error(`${errorText(cause)} ${problem}`, { cause });
        }
      }),
    [Symbol.dispose]: () => access[Symbol.dispose](),
  };
}

export interface PullCredentials {
  readonly credentials: readonly Credential[];
  /** Why it cannot be used, as a sentence. */
  readonly problem?: string;
}

const NO_CREDENTIALS: PullCredentials = { credentials: [] };

/** Those of the cluster; none where the secret is absent, must not be read, or is no docker config: the image may be public. */
export async function readCredentials(
  { api, pullSecret, log }: Pick<ClusterPayloadsOptions, "api" | "pullSecret" | "log">,
  signal: AbortSignal,
): Promise<PullCredentials> {
  if (pullSecret === undefined) return NO_CREDENTIALS;
  const { namespace, name } = pullSecret;
  try {
    const secret = await readOptional(api, { type: Resource.secrets, namespace, name, signal });
    if (secret === undefined) return NO_CREDENTIALS;
    const parsed = parseDockerConfigSecret(secret, `pull secret ${namespace}/${name}`);
    if (parsed.kind === "ok") return { credentials: parsed.credentials };
    log.warn("cannot use the pull secret", { namespace, secret: name, reason: parsed.message });
    return { credentials: [], problem: parsed.message };
  } catch (error) {
    if (isForbidden(error)) return NO_CREDENTIALS;
    throw error;
  }
}
