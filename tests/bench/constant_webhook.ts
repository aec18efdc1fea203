// The floors of B2 and B3: a mutating webhook that gives every pod the same answer, on the same listener as Archway's and in a
// process of its own; and how webhooks of pods beside Archway's are registered.
import type { ClusterAccess } from "../cluster/support/cluster_access.ts";
import { WEBHOOKS } from "../cluster/support/objects.ts";
import { startServer, WEBHOOK_PATH } from "./start_server.ts";

export async function startConstantWebhook(cluster: ClusterAccess, patch: string): Promise<AsyncDisposable> {
  await using undo = new AsyncDisposableStack();
  const { port, caPem } = undo.use(await startServer("echo", patch));
  const url = `https://127.0.0.1:${port}${WEBHOOK_PATH}`;
  undo.use(await registerPodWebhook(cluster, { name: "constant", url, caPem, failurePolicy: "Fail" }));
  return undo.move();
}

/** Has the API server call it for new pods, until this is disposed. */
export async function registerPodWebhook(
  cluster: ClusterAccess,
  { name, url, caPem, failurePolicy }: {
    readonly name: string;
    readonly url: string;
    readonly caPem: string;
    readonly failurePolicy: "Fail" | "Ignore";
  },
): Promise<AsyncDisposable> {
  await cluster.create(WEBHOOKS, {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name: `bench-${name}` },
    webhooks: [{
      name: `${name}.bench.example.com`,
      admissionReviewVersions: ["v1"],
      sideEffects: "NoneOnDryRun",
      failurePolicy,
      clientConfig: { url, caBundle: btoa(caPem) },
      rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] }],
    }],
  });
  return { [Symbol.asyncDispose]: async () => void await cluster.request("DELETE", `${WEBHOOKS}/bench-${name}`) };
}
