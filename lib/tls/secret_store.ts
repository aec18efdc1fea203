// The authority in a Secret of Archway's namespace, shared by all replicas. Whoever writes second loses, reads and goes
// on with what the first one wrote. Used by self_managed.ts.
import * as z from "zod";
import type { KubeApi } from "../k8s/api.ts";
import { classifyWriteFailure, isNotFound } from "../k8s/errors.ts";
import { type KubeObject, Resource } from "../k8s/types.ts";
import type { Authority } from "./authority.ts";

/** Name of the Secret. */
export const AUTHORITY_SECRET = "archway-tls";

/** What is stored. `authority` is undefined when the Secret holds none that can be read. */
export interface StoredAuthority {
  /** What the Secret holds. */
  readonly authority: Authority | undefined;
  /** undefined when there is no Secret yet. */
  readonly secret: KubeObject | undefined;
}

/** The Secret, as one value that can be read and swapped. Throws ApiError when the API server does not play along. */
export interface AuthorityStore {
  /** Reads the Secret live. */
  read(signal: AbortSignal): Promise<StoredAuthority>;
  /** Writes over exactly what was read. Answers false when someone else was faster. */
  swap(before: StoredAuthority, next: Authority, signal: AbortSignal): Promise<boolean>;
}

const text = z.base64().transform((value) => new TextDecoder().decode(Uint8Array.fromBase64(value)));
const data = z.object({
  "tls.crt": text,
  "tls.key": text,
  "signer.crt": text,
  "signer.key": text,
  "successor.crt": text.optional(),
  "successor.key": text.optional(),
  "successor.signs-at-ms": text.pipe(z.coerce.number()).optional(),
  "predecessor.crt": text.optional(),
});

/** Opens the store; nothing is read yet. */
export function openAuthorityStore(api: KubeApi, namespace: string): AuthorityStore {
  const target = { namespace, name: AUTHORITY_SECRET };
  return {
    read: async (signal) => {
      try {
        const secret = await api.get(Resource.secrets, target, signal);
        return { secret, authority: parseAuthority(secret) };
      } catch (error) {
        if (isNotFound(error)) return { secret: undefined, authority: undefined };
        throw error;
      }
    },
    swap: async ({ secret }, next, signal) => {
      try {
        if (secret === undefined) {
          await api.create(Resource.secrets, renderSecret(next, namespace), { namespace, signal });
        } else {
          const operations = [
            { op: "test", path: "/metadata/resourceVersion", value: secret.metadata.resourceVersion },
            { op: "add", path: "/data", value: renderData(next) },
          ] as const;
          await api.patch(Resource.secrets, target, { body: { kind: "json", operations }, signal });
        }
        return true;
      } catch (error) {
        if (classifyWriteFailure(error) === "stale") return false;
        throw error;
      }
    },
  };
}

/** The authority in a Secret, or undefined when members are missing or not what they should be. */
export function parseAuthority(secret: KubeObject): Authority | undefined {
  const parsed = data.safeParse(secret.data);
  if (!parsed.success) return undefined;
  const found = parsed.data;
  const [cert, key, signsAtMs] = [found["successor.crt"], found["successor.key"], found["successor.signs-at-ms"]];
  return {
    signer: { cert: found["signer.crt"], key: found["signer.key"] },
    serving: { cert: found["tls.crt"], key: found["tls.key"] },
    successor: cert === undefined || key === undefined || signsAtMs === undefined
      ? undefined
      : { pair: { cert, key }, signsAtMs },
    predecessor: found["predecessor.crt"] ?? "",
  };
}

function renderSecret(authority: Authority, namespace: string): KubeObject {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: AUTHORITY_SECRET,
      namespace,
      labels: { "app.kubernetes.io/name": "archway", "app.kubernetes.io/managed-by": "archway" },
    },
    type: "kubernetes.io/tls",
    data: renderData(authority),
  };
}

function renderData({ signer, serving, successor, predecessor }: Authority): Readonly<Record<string, string>> {
  const texts = {
    "tls.crt": serving.cert,
    "tls.key": serving.key,
    "signer.crt": signer.cert,
    "signer.key": signer.key,
    ...(successor === undefined ? {} : {
      "successor.crt": successor.pair.cert,
      "successor.key": successor.pair.key,
      "successor.signs-at-ms": String(successor.signsAtMs),
    }),
    ...(predecessor === "" ? {} : { "predecessor.crt": predecessor }),
  };
  return Object.fromEntries(
    Object.entries(texts).map(([name, value]) => [name, new TextEncoder().encode(value).toBase64()]),
  );
}
