// APIs of others that overlays use, defined without a schema and without what serves them elsewhere; and that other
// party's part, played: certificates in a Secret, the CA in the webhooks.
import type { ClusterAccess } from "../../cluster/support/cluster_access.ts";
import { CHECKS, defineKind, DEFINITION, POD_WEBHOOK } from "../../cluster/support/objects.ts";
import { createAuthority } from "../../cluster/support/pki.ts";
import { waitUntil } from "../../cluster/support/wait.ts";
import { NAMESPACE } from "./install.ts";

/** Kinds that a plain cluster lacks. */
const FOREIGN_KINDS = {
  ServiceMonitor: { group: "monitoring.coreos.com" },
  PrometheusRule: { group: "monitoring.coreos.com" },
  Issuer: { group: "cert-manager.io" },
  Certificate: { group: "cert-manager.io" },
  AdmissionCheck: { group: "kueue.x-k8s.io", scope: "Cluster", version: "v1beta2" },
  ResourceFlavor: { group: "kueue.x-k8s.io", scope: "Cluster", version: "v1beta2" },
  Workload: { group: "kueue.x-k8s.io", version: "v1beta2" },
} as const;

export type ForeignKind = keyof typeof FOREIGN_KINDS;

/** Defines the kinds. Dispose the answer to take them away. */
export async function defineKinds(cluster: ClusterAccess, kinds: readonly ForeignKind[]): Promise<AsyncDisposable> {
  const paths: string[] = [];
  for (const kind of kinds) paths.push(await defineKind(cluster, { kind, ...FOREIGN_KINDS[kind] }));
  return {
    [Symbol.asyncDispose]: async () => {
      for (const path of paths) await cluster.request("DELETE", path);
    },
  };
}

/** What cert-manager or OpenShift's service CA keep: the serving certificate. Gives the CA, PEM. */
export async function keepCertificate(cluster: ClusterAccess): Promise<string> {
  const authority = await createAuthority("archway test certificates");
  const names = [`archway-webhook.${NAMESPACE}.svc`];
  const { certificatePem, keyPem } = await authority.issue({ commonName: "archway", usage: "server", names });
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } };
  await cluster.create("/api/v1/namespaces", namespace);
  const secret = {
    ...{ apiVersion: "v1", kind: "Secret", type: "kubernetes.io/tls", metadata: { name: "archway-webhook-tls" } },
    stringData: { "tls.crt": certificatePem, "tls.key": keyPem, "ca.crt": authority.certificatePem },
  };
  await cluster.create(`/api/v1/namespaces/${NAMESPACE}/secrets`, secret);
  return authority.certificatePem;
}

/** OpenShift's network operator fills the ConfigMap of trusted CAs. */
export async function keepTrustedCa(cluster: ClusterAccess, pem: string): Promise<void> {
  const map = {
    ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "archway-trusted-ca" } },
    data: { "ca-bundle.crt": pem },
  };
  await cluster.create(`/api/v1/namespaces/${NAMESPACE}/configmaps`, map);
}

/** OpenShift's service CA writes the CA into whatever asks for it by an annotation, as soon as it is there. */
export async function injectCa(cluster: ClusterAccess, pem: string, target: "checks" | "gate"): Promise<void> {
  const checks = [[CHECKS, ["/webhooks/0", "/webhooks/1"]], [DEFINITION, ["/spec/conversion/webhook"]]] as const;
  const patches = target === "gate" ? [[POD_WEBHOOK, ["/webhooks/0"]]] as const : checks;
  for (const [path, at] of patches) {
    const operations = at.map((each) => ({ op: "add", path: `${each}/clientConfig/caBundle`, value: btoa(pem) }));
    await waitUntil(
      `the CA to be in ${path}`,
      async () => (await cluster.request("PATCH", path, operations)).status === 200,
    );
  }
}
