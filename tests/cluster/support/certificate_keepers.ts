// The parties that keep certificates in clusters where Archway does not, played: OpenShift's service CA, and cert-manager with its
// CA injector. Each writes a Secret where it is asked to, and its CA into what asks for it by an annotation, as often as it
// finds something else there.
import { type ClusterAccess, expectStatus, read } from "./cluster_access.ts";
import { type CertificateAuthority, createAuthority } from "./pki.ts";
import { NAMESPACE } from "./service_bed.ts";
import { pause, repeatedly } from "./wait.ts";

const ADMISSION = "/apis/admissionregistration.k8s.io/v1";

/** What is looked at for the annotation, with the API version and the kind of its objects. */
const INJECTED = [
  [`${ADMISSION}/mutatingwebhookconfigurations`, "admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"],
  [`${ADMISSION}/validatingwebhookconfigurations`, "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"],
  [
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "apiextensions.k8s.io/v1",
    "CustomResourceDefinition",
  ],
] as const;

const LOOK_MS = 300;

interface Custom {
  readonly requests: string;
  readonly parse: (object: unknown) => { readonly secret: string; readonly names: readonly string[] } | undefined;
  readonly annotation: readonly [key: string, value: string];
  readonly isCaInSecret: boolean;
}

export function playServiceCa(cluster: ClusterAccess): Promise<CertificateKeeper> {
  return play(cluster, {
    requests: `/api/v1/namespaces/${NAMESPACE}/services`,
    parse: (service) => {
      const annotations = read(service, "metadata", "annotations");
      const secret = read(annotations, "service.beta.openshift.io/serving-cert-secret-name");
      const name = `${read(service, "metadata", "name")}.${NAMESPACE}.svc`;
      return typeof secret === "string" ? { secret, names: [name, `${name}.cluster.local`] } : undefined;
    },
    annotation: ["service.beta.openshift.io/inject-cabundle", "true"],
    isCaInSecret: false,
  });
}

/** cert-manager and its CA injector, for Certificates of an issuer with a CA. */
export function playCertManager(cluster: ClusterAccess): Promise<CertificateKeeper> {
  return play(cluster, {
    requests: `/apis/cert-manager.io/v1/namespaces/${NAMESPACE}/certificates`,
    parse: (certificate) => {
      const [secret, names] = [read(certificate, "spec", "secretName"), read(certificate, "spec", "dnsNames")];
      return typeof secret === "string" && Array.isArray(names) ? { secret, names: names.map(String) } : undefined;
    },
    annotation: ["cert-manager.io/inject-ca-from", `${NAMESPACE}/archway-webhook`],
    isCaInSecret: true,
  });
}

async function play(cluster: ClusterAccess, custom: Custom): Promise<CertificateKeeper> {
  return new CertificateKeeper(cluster, custom, await createAuthority("archway test certificates"));
}

export class CertificateKeeper implements AsyncDisposable {
  /** Its CA as it writes it into configurations, PEM. */
  bundle: string;
  injections = 0;
  readonly #cluster: ClusterAccess;
  readonly #custom: Custom;
  #authority: CertificateAuthority;
  /** Names of Secrets that the present CA has signed for. */
  readonly #kept = new Set<string>();
  #rounds = 0;
  readonly #running: AsyncDisposable;

  constructor(cluster: ClusterAccess, custom: Custom, authority: CertificateAuthority) {
    this.#cluster = cluster;
    this.#custom = custom;
    this.#authority = authority;
    this.bundle = authority.certificatePem;
    this.#running = repeatedly(LOOK_MS, () => this.#look());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running[Symbol.asyncDispose]();
  }

  async #look(): Promise<void> {
    await this.#issue();
    await this.#inject();
    this.#rounds++;
  }

  /** A new CA: the serving certificate is of the new one, both are in the bundle. Resolves when all of it is written. */
  async rotate(): Promise<void> {
    const next = await createAuthority("archway test certificates, later");
    // Those who trust the new one come before it signs.
    this.bundle = `${next.certificatePem}${this.bundle}`;
    this.#authority = next;
    this.#kept.clear();
    // A round that is under way may have begun with the last one.
    const written = this.#rounds + 2;
    while (this.#rounds < written) await pause(LOOK_MS);
  }

  async #issue(): Promise<void> {
    for (const object of await this.#cluster.list(this.#custom.requests)) {
      const wanted = this.#custom.parse(object);
      if (wanted === undefined || this.#kept.has(wanted.secret)) continue;
      const { certificatePem, keyPem } = await this.#authority.issue({
        commonName: wanted.names[0] ?? "",
        usage: "server",
        names: wanted.names,
      });
      const ca = this.#custom.isCaInSecret ? { "ca.crt": btoa(this.bundle) } : {};
      const secret = {
        ...{ apiVersion: "v1", kind: "Secret", type: "kubernetes.io/tls", metadata: { name: wanted.secret } },
        data: { "tls.crt": btoa(certificatePem), "tls.key": btoa(keyPem), ...ca },
      };
      const path = `/api/v1/namespaces/${NAMESPACE}/secrets`;
      const created = await this.#cluster.request("POST", path, secret);
      if (created.status === 409) {
        expectStatus("renew", await this.#cluster.request("PUT", `${path}/${wanted.secret}`, secret), [200]);
      } else expectStatus("issue", created, [201]);
      this.#kept.add(wanted.secret);
    }
  }

  async #inject(): Promise<void> {
    const [key, value] = this.#custom.annotation;
    for (const [path, apiVersion, kind] of INJECTED) {
      for (const object of await this.#cluster.list(path)) {
        if (read(object, "metadata", "annotations", key) !== value) continue;
        const next = withBundle(object, btoa(this.bundle));
        if (JSON.stringify(next) === JSON.stringify(object)) continue;
        const target = `${path}/${read(object, "metadata", "name")}`;
        // A conflict is met at the next look.
        const answer = await this.#cluster.request("PUT", target, { ...next, apiVersion, kind });
        expectStatus("inject", answer, [200, 404, 409]);
        if (answer.status === 200) this.injections++;
      }
    }
  }
}

/** The object with the bundle in each of its client configurations, in the place where it was. */
function withBundle(object: unknown, bundle: string): Readonly<Record<string, unknown>> {
  return JSON.parse(
    JSON.stringify(object),
    (key, value) => key === "clientConfig" ? { ...value, caBundle: bundle } : value,
  );
}
