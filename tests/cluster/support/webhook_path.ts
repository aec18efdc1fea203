// The path by which the API server calls the pod webhook of an Archway that is registered by URL.
import { type ClusterAccess, read } from "./cluster_access.ts";
import { POD_WEBHOOK } from "./objects.ts";
import { waitUntil } from "./wait.ts";

export async function readSecretPath(cluster: ClusterAccess): Promise<string> {
  return await waitUntil("the secret path to be written", async () => {
    const body = await cluster.get(POD_WEBHOOK);
    const path = new URL(String(read(body, "webhooks", 0, "clientConfig", "url"))).pathname;
    return /^\/[0-9a-f]{64}\/add-pod-scheduling-gate$/.test(path) && path;
  });
}
