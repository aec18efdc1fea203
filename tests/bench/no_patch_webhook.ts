// The floor of B3: a mutating webhook that answers "allowed, no patch", on the same listener as Archway's and in a process of
// its own.
import type { ClusterAccess } from "../cluster/support/cluster_access.ts";
import { startServer, WEBHOOK_PATH } from "./start_server.ts";

const NAME = "bench-no-patch";
const PATH = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";

export async function startNoPatchWebhook(cluster: ClusterAccess): Promise<AsyncDisposable> {
  await using undo = new AsyncDisposableStack();
  const server = undo.use(await startServer("echo"));
  await cluster.request("POST", PATH, {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name: NAME },
    webhooks: [{
      name: "no-patch.bench.example.com",
      admissionReviewVersions: ["v1"],
      sideEffects: "None",
      failurePolicy: "Fail",
      clientConfig: {
        url: `https://127.0.0.1:${server.port}${WEBHOOK_PATH}`,
        caBundle: new TextEncoder().encode(server.caPem).toBase64(),
      },
      rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] }],
    }],
  });
  undo.defer(async () => void await cluster.request("DELETE", `${PATH}/${NAME}`));
  return undo.move();
}
