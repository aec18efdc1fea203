// APIs of others that overlays use, defined without a schema and without what serves them elsewhere; and that other
// party's part, played: certificates in a Secret, the CA in the webhooks.
import { type ClusterAccess, isTrue } from "../../cluster/support/cluster_access.ts";
import { createAuthority } from "../../cluster/support/pki.ts";
import { waitUntil } from "../../cluster/support/wait.ts";
import { NAMESPACE } from "./install.ts";

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const ADMISSION = "/apis/admissionregistration.k8s.io/v1";

/** Kinds that a plain cluster lacks. */
const FOREIGN_KINDS = {
  ServiceMonitor: { group: "monitoring.coreos.com", scope: "Namespaced", version: "v1" },
  PrometheusRule: { group: "monitoring.coreos.com", scope: "Namespaced", version: "v1" },
  Issuer: { group: "cert-manager.io", scope: "Namespaced", version: "v1" },
  Certificate: { group: "cert-manager.io", scope: "Namespaced", version: "v1" },
  AdmissionCheck: { group: "kueue.x-k8s.io", scope: "Cluster", version: "v1beta2" },
  ResourceFlavor: { group: "kueue.x-k8s.io", scope: "Cluster", version: "v1beta2" },
  Workload: { group: "kueue.x-k8s.io", scope: "Namespaced", version: "v1beta2" },
} as const;

export type ForeignKind = keyof typeof FOREIGN_KINDS;

/** Defines the kinds. Dispose the answer to take them away. */
export async function defineKinds(cluster: ClusterAccess, kinds: readonly ForeignKind[]): Promise<AsyncDisposable> {
  const names = kinds.map((kind) => `${kind.toLowerCase()}s.${FOREIGN_KINDS[kind].group}`);
  for (const kind of kinds) await defineKind(cluster, kind);
  for (const name of names) {
    await waitUntil(`"${name}" to be served`, async () => {
      return isTrue(await cluster.get(`${DEFINITIONS}/${name}`), "Established");
    });
  }
  return {
    [Symbol.asyncDispose]: async () => {
      for (const name of names) await cluster.request("DELETE", `${DEFINITIONS}/${name}`);
    },
  };
}

async function defineKind(cluster: ClusterAccess, kind: ForeignKind): Promise<void> {
  const { group, scope, version } = FOREIGN_KINDS[kind];
  const singular = kind.toLowerCase();
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  await cluster.create(DEFINITIONS, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${singular}s.${group}` },
    spec: {
      group,
      scope,
      names: { kind, plural: `${singular}s`, singular },
      versions: [{ name: version, served: true, storage: true, schema, subresources: { status: {} } }],
    },
  });
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
  const patches = target === "gate"
    ? [{
      path: `${ADMISSION}/mutatingwebhookconfigurations/pod-placement-mutating-webhook-configuration`,
      at: ["/webhooks/0"],
    }]
    : [
      {
        path: `${ADMISSION}/validatingwebhookconfigurations/multiarch-tuning-operator-validating-webhook-configuration`,
        at: ["/webhooks/0", "/webhooks/1"],
      },
      {
        path: `${DEFINITIONS}/clusterpodplacementconfigs.multiarch.openshift.io`,
        at: ["/spec/conversion/webhook"],
      },
    ];
  for (const { path, at } of patches) {
    const operations = at.map((each) => ({ op: "add", path: `${each}/clientConfig/caBundle`, value: btoa(pem) }));
    await waitUntil(
      `the CA to be in ${path}`,
      async () => (await cluster.request("PATCH", path, operations)).status === 200,
    );
  }
}
