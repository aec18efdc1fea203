// The floor of B3: a mutating webhook that answers "allowed, no patch", on the same listener as Archway's.
import { openHttpsListener } from "../../lib/server/https_listener.ts";
import { allowedReview } from "../../routes/admission.ts";
import type { ClusterAccess } from "../cluster/support/cluster_access.ts";
import { createAuthority } from "../cluster/support/pki.ts";

const NAME = "bench-no-patch";
const PATH = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";

/** Registers it; dispose it to take it away. */
export async function startNoPatchWebhook(cluster: ClusterAccess): Promise<AsyncDisposable> {
  const authority = await createAuthority("no-patch webhook");
  const serving = await authority.issue({ commonName: NAME, usage: "server" });
  const listener = await openHttpsListener({
    host: "127.0.0.1",
    port: 0,
    certificate: { cert: serving.certificatePem, key: serving.keyPem },
    handler: async (request) => {
      const { request: { uid } } = await request.json();
      return Response.json(allowedReview(uid, []));
    },
  });
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
        url: `https://127.0.0.1:${listener.port}/`,
        caBundle: new TextEncoder().encode(authority.certificatePem).toBase64(),
      },
      rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] }],
    }],
  });
  return {
    [Symbol.asyncDispose]: async () => {
      await cluster.request("DELETE", `${PATH}/${NAME}`);
      await listener.close(1_000);
    },
  };
}
