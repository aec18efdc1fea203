// The texts of a Secret, with compare-and-swap: the replica that writes second loses and rereads.
import type { V1Secret } from "@kubernetes/client-node";
import { type KubeApi, readOptional } from "./api.ts";
import { backoffMs, type Clock, jitter } from "../clock.ts";
import { decodeBase64, encodeBase64, textMapAt } from "../json.ts";
import { errorText, type Logger } from "../log.ts";
import { ApiError, classifyWriteFailure } from "./api_error.ts";
import { type KubeObject, Resource, type Wire } from "./types.ts";

export type SecretTexts = Readonly<Record<string, string>>;

export interface StoredSecret {
  /** The text members; undefined without a Secret. */
  readonly texts: SecretTexts | undefined;
  readonly resourceVersion: string | undefined;
}

interface SecretIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly type: string;
}

export class SecretStore {
  readonly #api: Pick<KubeApi, "get" | "create" | "patch">;
  readonly #identity: SecretIdentity;

  constructor(api: Pick<KubeApi, "get" | "create" | "patch">, identity: SecretIdentity) {
    this.#api = api;
    this.#identity = identity;
  }

  async read(signal: AbortSignal): Promise<StoredSecret> {
    const { namespace, name } = this.#identity;
    const secret = await readOptional(this.#api, { type: Resource.secrets, namespace, name, signal });
    return { texts: secret && decode(secret), resourceVersion: secret?.metadata.resourceVersion };
  }

  /** Replaces the texts if the Secret is still as in `before`; false if another replica was faster. */
  async swap(before: StoredSecret, next: SecretTexts, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#write(before, next, signal);
      return true;
    } catch (error) {
      const failure = classifyWriteFailure(error);
      if (failure === "stale" || before.texts !== undefined && failure === "gone") return false;
      throw error;
    }
  }

  async #write(before: StoredSecret, next: SecretTexts, signal: AbortSignal): Promise<void> {
    const { namespace, name } = this.#identity;
    if (before.texts === undefined) {
      await this.#api.create(Resource.secrets, renderSecret(this.#identity, next), { namespace, signal });
      return;
    }
    const operations = [
      { op: "test", path: "/metadata/resourceVersion", value: before.resourceVersion },
      { op: "add", path: "/data", value: encode(next) },
    ] as const;
    await this.#api.patch(Resource.secrets, { namespace, name }, { body: { kind: "json", operations }, signal });
  }
}

interface FollowDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly what: string;
}

const BACKOFF = { baseMs: 250, capMs: 5_000 } as const;
/** Interval between reads of a Secret (ms). */
export const POLL_MS = 30_000;

/** Retries until the API server answers. Rejects with its ApiError (403, 404, 422) or the signal's reason. */
export async function firstRead<T>(read: () => Promise<T>, deps: FollowDeps, signal: AbortSignal): Promise<T> {
  for (let attempt = 1;; attempt++) {
    try {
      return await read();
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ApiError && [403, 404, 422].includes(error.status)) throw error;
      deps.log.warn(`${deps.what} cannot be read yet`, { error: errorText(error), attempt });
    }
    await deps.clock.sleep(backoffMs(attempt, BACKOFF), signal);
    signal.throwIfAborted();
  }
}

export async function keepReading(read: () => Promise<void>, deps: FollowDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await deps.clock.sleep(jitter(POLL_MS), signal);
    if (signal.aborted) return;
    try {
      await read();
    } catch (error) {
      if (!signal.aborted) deps.log.warn(`${deps.what} not read`, { error: errorText(error) });
    }
  }
}

function renderSecret({ namespace, name, type }: SecretIdentity, texts: SecretTexts): KubeObject {
  const labels = { "app.kubernetes.io/name": "archway", "app.kubernetes.io/managed-by": "archway" };
  const metadata = { name, namespace, labels };
  return { apiVersion: "v1", kind: "Secret", metadata, type, data: encode(texts) } satisfies Wire<V1Secret>;
}

function decode(secret: KubeObject): SecretTexts {
  const data = Object.entries(textMapAt(secret, "data") ?? {});
  return Object.fromEntries(data.map(([name, value]) => [name, decodeBase64(value)]));
}

function encode(texts: SecretTexts): SecretTexts {
  return Object.fromEntries(Object.entries(texts).map(([name, value]) => [name, encodeBase64(value)]));
}
