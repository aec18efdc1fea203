// The path by which the API server calls the pod webhook of an Archway that is registered by URL.
import { WebhookName } from "../../../lib/names.ts";
import { type ClusterAccess, read } from "./cluster_access.ts";
import { waitUntil } from "./wait.ts";

const CONFIGURATION =
  `/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/${WebhookName.configuration}`;

export async function readSecretPath(cluster: ClusterAccess): Promise<string> {
  return await waitUntil("the secret path to be written", async () => {
    const body = await cluster.get(CONFIGURATION);
    const path = new URL(String(read(body, "webhooks", 0, "clientConfig", "url"))).pathname;
    return /^\/[0-9a-f]{64}\/add-pod-scheduling-gate$/.test(path) && path;
  });
}
