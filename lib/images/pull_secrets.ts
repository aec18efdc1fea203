// Pull secrets of pods, read from the API server when an image needs them. Called by pod_images.ts.
import { LRUCache } from "lru-cache";
import type { Clock } from "../clock.ts";
import type { Logger } from "../log.ts";
import { errorText } from "../log.ts";
import type { KubeApi } from "../k8s/api.ts";
import { ApiError, isNotFound } from "../k8s/errors.ts";
import { Resource } from "../k8s/types.ts";
import { parseDockerConfigSecret } from "../oci/credentials/docker_config.ts";
import type { Credential } from "../oci/credential.ts";
import type { PullScope } from "./known_images.ts";

/** How far pull secrets may be read: those of any pod, only those in Archway's own namespace, none at all. */
export type PullSecretMode = "pod" | "own-namespace" | "none";

/** Reads the credentials a pod names. */
export interface PullSecrets {
  /** In the order of the pod's list. Missing, forbidden or malformed secrets are skipped: the pull may still work. */
  read(scope: PullScope, signal: AbortSignal): Promise<readonly Credential[]>;
}

/** A secret is asked for at most this often, so a burst of pods shares one GET while a rotation is seen at once after. */
const SHARED_MS = 2_000;

/** Opens the reader. Secrets stay in memory for {@link SHARED_MS} only. */
export function openPullSecrets(options: {
  readonly api: Pick<KubeApi, "get">;
  readonly mode: PullSecretMode;
  readonly ownNamespace: string;
  readonly clock: Clock;
  readonly log: Logger;
}): PullSecrets {
  const { api, mode, clock, log } = options;
  const recent = new LRUCache<string, { readonly atMs: number; readonly answer: Promise<readonly Credential[]> }>({
    max: 1_000,
  });

  async function fetchSecret(namespace: string, name: string, signal: AbortSignal): Promise<readonly Credential[]> {
    try {
      const secret = await api.get(Resource.secrets, { namespace, name }, signal);
      const parsed = parseDockerConfigSecret(secret, `secret ${namespace}/${name}`);
      if (parsed.kind === "ok") return parsed.credentials;
      log.warn("cannot use a pull secret", { namespace, secret: name, reason: parsed.message });
    } catch (error) {
      // A later pod asks again: only answers are shared, not failures of the API server.
      if (!(error instanceof ApiError) || ![403, 404].includes(error.status)) recent.delete(`${namespace}/${name}`);
      const level = isNotFound(error) ? "debug" : "warn";
      log[level]("cannot read a pull secret", { namespace, secret: name, reason: errorText(error) });
    }
    return [];
  }

  function readOne(namespace: string, name: string, signal: AbortSignal): Promise<readonly Credential[]> {
    const key = `${namespace}/${name}`;
    const shared = recent.get(key);
    if (shared !== undefined && clock.monotonicMs() - shared.atMs < SHARED_MS) return shared.answer;
    const answer = fetchSecret(namespace, name, signal);
    recent.set(key, { atMs: clock.monotonicMs(), answer });
    return answer;
  }

  return {
    read: async ({ namespace, pullSecrets }, signal) => {
      if (mode === "none" || mode === "own-namespace" && namespace !== options.ownNamespace) return [];
      const lists = await Promise.all(pullSecrets.map((name) => readOne(namespace, name, signal)));
      return lists.flat();
    },
  };
}
