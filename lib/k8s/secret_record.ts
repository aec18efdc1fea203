// A Secret as one record of texts that replicas read and swap: the one that writes second loses, reads and goes on from
// there.
import type { V1Secret } from "@kubernetes/client-node";
import * as z from "zod";
import type { KubeApi } from "./api.ts";
import { classifyWriteFailure, isNotFound } from "./errors.ts";
import { type KubeObject, Resource, type Wire } from "./types.ts";

export type SecretTexts = Readonly<Record<string, string>>;

export interface StoredSecret {
  /** The members that hold text; undefined when there is no Secret yet. */
  readonly texts: SecretTexts | undefined;
  /** What {@link SecretRecord.swap} writes over. */
  readonly resourceVersion: string | undefined;
}

/** The record. Its calls throw ApiError when the API server refuses or does not answer. */
export interface SecretRecord {
  read(signal: AbortSignal): Promise<StoredSecret>;
  /** Writes over exactly what was read; answers false when another replica was faster. */
  swap(before: StoredSecret, next: SecretTexts, signal: AbortSignal): Promise<boolean>;
}

const data = z.record(z.string(), z.base64()).catch({});

export interface SecretIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly type: string;
}

export function openSecretRecord(
  api: Pick<KubeApi, "get" | "create" | "patch">,
  identity: SecretIdentity,
): SecretRecord {
  const target = { namespace: identity.namespace, name: identity.name };

  async function write(before: StoredSecret, next: SecretTexts, signal: AbortSignal): Promise<void> {
    if (before.texts === undefined) {
      await api.create(Resource.secrets, renderSecret(identity, next), { namespace: target.namespace, signal });
      return;
    }
    const operations = [
      { op: "test", path: "/metadata/resourceVersion", value: before.resourceVersion },
      { op: "add", path: "/data", value: encode(next) },
    ] as const;
    await api.patch(Resource.secrets, target, { body: { kind: "json", operations }, signal });
  }

  return {
    read: async (signal) => {
      try {
        const secret = await api.get(Resource.secrets, target, signal);
        return { texts: decode(secret.data), resourceVersion: secret.metadata.resourceVersion };
      } catch (error) {
        if (isNotFound(error)) return { texts: undefined, resourceVersion: undefined };
        throw error;
      }
    },
    swap: async (before, next, signal) => {
      try {
        await write(before, next, signal);
        return true;
      } catch (error) {
        const failure = classifyWriteFailure(error);
        if (failure === "stale" || before.texts !== undefined && failure === "gone") return false;
        throw error;
      }
    },
  };
}

function renderSecret({ namespace, name, type }: SecretIdentity, texts: SecretTexts): KubeObject {
  const labels = { "app.kubernetes.io/name": "archway", "app.kubernetes.io/managed-by": "archway" };
  const metadata = { name, namespace, labels };
  return { apiVersion: "v1", kind: "Secret", metadata, type, data: encode(texts) } satisfies Wire<V1Secret>;
}

function decode(raw: unknown): SecretTexts {
  const decoder = new TextDecoder();
  return Object.fromEntries(
    Object.entries(data.parse(raw)).map(([name, value]) => [name, decoder.decode(Uint8Array.fromBase64(value))]),
  );
}

function encode(texts: SecretTexts): SecretTexts {
  const encoder = new TextEncoder();
  return Object.fromEntries(Object.entries(texts).map(([name, value]) => [name, encoder.encode(value).toBase64()]));
}
