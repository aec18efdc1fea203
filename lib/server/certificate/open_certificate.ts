// Opens the configured serving certificate, from files or Archway's own authority; and the CA of client certificates.
import { X509Certificate } from "node:crypto";
import type { Clock } from "../../clock.ts";
import type { Config } from "../../config/parse.ts";
import type { KubeApi } from "../../k8s/api.ts";
import { errorText, type Logger } from "../../log.ts";
import { DEFAULT_TERMS } from "./authority.ts";
import { openCertificateFiles } from "./files.ts";
import { AuthorityStore } from "./authority_store.ts";
import { openSelfManagedCertificate } from "./self_managed.ts";
import type { ServingCertificate } from "./serving_certificate.ts";

type CertificateConfig = Pick<Config, "tlsCert" | "tlsKey" | "tlsCa" | "namespace" | "webhookService" | "webhookUrl">;

/** Rejects with an Error naming the unusable file, or the ApiError of a refusal. */
export async function openServingCertificate(
  deps: { readonly config: CertificateConfig; readonly api: KubeApi; readonly clock: Clock; readonly log: Logger },
  signal: AbortSignal,
): Promise<ServingCertificate> {
  const { config, api, clock, log } = deps;
  if (config.tlsCert !== undefined && config.tlsKey !== undefined) {
    const files = { certPath: config.tlsCert, keyPath: config.tlsKey, caPath: config.tlsCa };
    return await openCertificateFiles(files, { clock, log });
  }
  const terms = { ...DEFAULT_TERMS, names: servedNames(config) };
  return await openSelfManagedCertificate(
    { store: new AuthorityStore(api, config.namespace), terms, clock, log },
    signal,
  );
}

/** Read once: a new file needs a restart. Rejects with an Error naming the file when it has no CA. */
export async function readClientCa(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  try {
    const pem = await Deno.readTextFile(path);
    if (new X509Certificate(pem).ca) return pem;
  } catch (cause) {
    throw new Error(`Cannot read the client CA "${path}": ${errorText(cause)}. Give a PEM certificate.`, { cause });
  }
  throw new Error(`Cannot use "${path}" as client CA: its first certificate is none of a CA.`);
}

function servedNames({ webhookService, namespace, webhookUrl }: CertificateConfig): readonly string[] {
  const service = [webhookService, `${webhookService}.${namespace}`, `${webhookService}.${namespace}.svc`];
  const names = [...service, `${webhookService}.${namespace}.svc.cluster.local`];
  return webhookUrl === undefined ? names : [...names, new URL(webhookUrl).hostname.replace(/^\[|\]$/g, "")];
}
