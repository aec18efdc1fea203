// The two ways to hold the machine config operator's own builder, as their components have them.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import type { ClusterAccess } from "./cluster_access.ts";
import { createAuthority } from "./pki.ts";
import { findFreePort } from "./ports.ts";

const COMPONENTS = fileURLToPath(new URL("../../../manifests/components/", import.meta.url));

export interface BuilderHold {
  /** Of the process of image builds. */
  readonly args: readonly string[];
  /** Once that runs. */
  readonly install: () => Promise<void>;
}

export function holdByPolicy(cluster: ClusterAccess): BuilderHold {
  const file = `${COMPONENTS}image-builds-hold/policy.yaml`;
  return {
    args: [],
    install: async () => {
      const { code, stderr } = await cluster.kubectl(["apply", "-f", file]);
      assert.deepEqual([code, stderr], [0, ""]);
    },
  };
}

/** The process is called by address. Its certificate comes after it has started, as from the service CA. */
export async function holdByWebhook(cluster: ClusterAccess): Promise<BuilderHold> {
  const [port, authority] = [findFreePort(), await createAuthority("archway test service CA")];
  const [cert, key] = [`${cluster.directory}/hold.crt`, `${cluster.directory}/hold.key`];
  const { certificatePem, keyPem } = await authority.issue({ commonName: "hold", usage: "server" });
  const manifest = await Deno.readTextFile(`${COMPONENTS}image-builds-hold-webhook/webhook.yaml`);
  const { webhooks: [webhook], ...configuration } = Object(parse(manifest));
  const url = `https://127.0.0.1:${port}${webhook.clientConfig.service.path}`;
  const clientConfig = { url, caBundle: btoa(authority.certificatePem) };
  return {
    args: [`--listen=127.0.0.1:${port}`, `--tls-cert=${cert}`, `--tls-key=${key}`],
    install: async () => {
      await Deno.writeTextFile(key, keyPem);
      await Deno.writeTextFile(cert, certificatePem);
      await cluster.apply([{ ...configuration, webhooks: [{ ...webhook, clientConfig }] }]);
    },
  };
}
