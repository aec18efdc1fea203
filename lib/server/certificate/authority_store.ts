// The authority in a Secret of Archway's namespace, shared by all replicas.
import * as z from "zod";
import type { KubeApi } from "../../k8s/api.ts";
import { SecretStore, type SecretTexts, type StoredSecret } from "../../k8s/secret_store.ts";
import type { Authority } from "./authority.ts";

export const AUTHORITY_SECRET = "archway-tls";

interface StoredAuthority {
  readonly authority: Authority | undefined;
  readonly secret: StoredSecret;
}

const text = z.string();
const members = z.object({
  "tls.crt": text,
  "tls.key": text,
  "signer.crt": text,
  "signer.key": text,
  "successor.crt": text.optional(),
  "successor.key": text.optional(),
  "successor.signs-at-ms": text.pipe(z.coerce.number()).optional(),
  "predecessor.crt": text.optional(),
});

export class AuthorityStore {
  readonly #store: SecretStore;

  constructor(api: KubeApi, namespace: string) {
    this.#store = new SecretStore(api, { namespace, name: AUTHORITY_SECRET, type: "kubernetes.io/tls" });
  }

  async read(signal: AbortSignal): Promise<StoredAuthority> {
    const secret = await this.#store.read(signal);
    return { secret, authority: parseAuthority(secret.texts) };
  }

  swap({ secret }: StoredAuthority, next: Authority, signal: AbortSignal): Promise<boolean> {
    return this.#store.swap(secret, renderMembers(next), signal);
  }
}

function parseAuthority(texts: SecretTexts | undefined): Authority | undefined {
  const parsed = members.safeParse(texts);
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

function renderMembers({ signer, serving, successor, predecessor }: Authority): SecretTexts {
  return {
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
}
