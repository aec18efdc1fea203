// Archway as an overlay installs it: its objects on a control plane, and the process with the very arguments of its Deployment,
// under its ServiceAccount. What other controllers of such a cluster do (certificates, CA injection) is done here.
import assert from "node:assert/strict";
import { type ManifestObject, renderComposition } from "../../../manifests/generate/kustomize.ts";
import { runArchway } from "../../support/archway_program.ts";
import { type ClusterAccess, listAt, read } from "./cluster_access.ts";
import { CHECKS, DEFINITION, POD_WEBHOOK } from "./objects.ts";
import { createAuthority } from "./pki.ts";
import { findFreePort } from "./ports.ts";
import { type RunningProcess, startArchway } from "./process.ts";

const NAMESPACE = "archway-system";
export interface Composition {
  /** `base`, or an overlay. */
  readonly path: string;
  readonly components: readonly string[];
  /** More arguments of `serve`; a later flag wins over ours. */
  readonly args?: readonly string[];
}

/** An installation. Dispose it to take it away, but for the CRDs. */
export interface Installation extends AsyncDisposable {
  readonly objects: readonly ManifestObject[];
  readonly ownsCertificates: boolean;
  start(): Promise<RunningProcess>;
  run(args: readonly string[]): Promise<{ readonly code: number; readonly stdout: string }>;
  /** Writes the CA where an overlay leaves that to another controller; nothing where the service does it. */
  injectCa(): Promise<void>;
}

export async function install(cluster: ClusterAccess, composition: Composition): Promise<Installation> {
  await using undo = new AsyncDisposableStack();
  const [webhookPort, adminPort] = [findFreePort(), findFreePort()];
  const baseUrl = `https://127.0.0.1:${webhookPort}`;
  const rendered = await renderComposition(composition.path, composition.components);
  const objects = rendered.map((object) => leadTo(baseUrl, object));
  await cluster.apply(objects);
  undo.defer(() => remove(cluster, objects));
  const directory = await Deno.makeTempDir({ prefix: "archway-installation-" });
  undo.defer(() => Deno.remove(directory, { recursive: true }));
  const caPem = await layOutFiles(directory);
  const kubeconfig = await cluster.serviceAccountKubeconfig({ namespace: NAMESPACE, name: "archway" });
  const args = [
    ...argumentsOf(objects, directory),
    `--kubeconfig=${kubeconfig}`,
    `--namespace=${NAMESPACE}`,
    `--webhook-url=${baseUrl}`,
    `--listen=127.0.0.1:${webhookPort}`,
    ...composition.args ?? [],
  ];
  const isInjected = objects.some(({ metadata }) =>
    read(metadata, "annotations", "service.beta.openshift.io/inject-cabundle") === "true"
  );
  const opened = undo.move();
  return {
    objects,
    ownsCertificates: !args.some((argument) => argument.startsWith("--tls-cert=")),
    start: () => startArchway(args, { name: "archway", directory: cluster.directory, adminPort }),
    run: (command) => runArchway([...command, `--kubeconfig=${kubeconfig}`]),
    injectCa: async () => {
      if (isInjected) await injectCa(cluster, btoa(caPem));
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** What a running Archway holds while a config exists, as arguments of kubectl; a stopped one cannot let it go. */
export const HELD_OBJECTS: readonly (readonly string[])[] = [
  ["-n", "archway-system", "serviceaccount/archway"],
  ["clusterrole/archway-uninstall"],
  ["clusterrolebinding/archway-uninstall"],
  // With the plugin execFormatErrorMonitor.
  ["-n", "archway-system", "deployment/archway"],
];

async function remove(cluster: ClusterAccess, objects: readonly ManifestObject[]): Promise<void> {
  for (const held of HELD_OBJECTS) {
    await cluster.kubectl(["patch", ...held, "--type=merge", "-p", '{"metadata":{"finalizers":null}}']);
  }
  // The namespace takes with it what the service made there: Lease, Secret, monitoring.
  const items = objects.filter(({ kind, metadata }) =>
    metadata.namespace === undefined && kind !== "CustomResourceDefinition"
  );
  const stdin = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  await cluster.run(["delete", "--ignore-not-found", "--timeout=60s", "-f", "-"], { stdin });
}

/** What cert-manager or OpenShift would mount; answers the PEM of the CA. */
async function layOutFiles(directory: string): Promise<string> {
  const authority = await createAuthority("archway test installation");
  const serving = await authority.issue({ commonName: "archway", usage: "server" });
  const files = {
    "etc/archway/tls/tls.crt": serving.certificatePem,
    "etc/archway/tls/tls.key": serving.keyPem,
    "etc/archway/tls/ca.crt": authority.certificatePem,
    "etc/archway/trusted-ca/ca-bundle.crt": authority.certificatePem,
  };
  for (const folder of ["etc/archway/tls", "etc/archway/trusted-ca", "var/cache/archway"]) {
    await Deno.mkdir(`${directory}/${folder}`, { recursive: true });
  }
  for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${directory}/${name}`, text);
  return authority.certificatePem;
}

/** The arguments of a Deployment, with the folders of its mounts under ours. */
export function argumentsOf(
  objects: readonly ManifestObject[],
  directory: string,
  name = "archway",
): readonly string[] {
  const found = objects.find(({ kind, metadata }) => kind === "Deployment" && metadata.name === name);
  const args = listAt(found, "spec", "template", "spec", "containers", 0, "args").map(String);
  assert.ok(args.length > 0, `no Deployment ${name}`);
  return args.map((argument) =>
    argument.replace(/=(\/(?:etc|var\/cache)\/archway\/)/, `=${directory}$1`).replace("$(NAMESPACE)", NAMESPACE)
  );
}

/** The API server reaches us by URL here, not through a Service. */
export function leadTo(baseUrl: string, object: ManifestObject): ManifestObject {
  const conversion = read(object, "spec", "conversion");
  if (object.kind === "CustomResourceDefinition" && conversion !== undefined) {
    const webhook = { ...Object(read(conversion, "webhook")), clientConfig: { url: `${baseUrl}/convert` } };
    return { ...object, spec: { ...Object(object["spec"]), conversion: { ...Object(conversion), webhook } } };
  }
  if (object.kind !== "ValidatingWebhookConfiguration") return object;
  const webhooks = listAt(object, "webhooks").map((webhook) => ({
    ...Object(webhook),
    clientConfig: { url: `${baseUrl}${read(webhook, "clientConfig", "service", "path")}` },
  }));
  return { ...object, webhooks };
}

async function injectCa(cluster: ClusterAccess, caBundle: string): Promise<void> {
  const add = (path: string): unknown => ({ op: "add", path: `${path}/clientConfig/caBundle`, value: caBundle });
  await cluster.patch(CHECKS, [0, 1].map((at) => add(`/webhooks/${at}`)));
  await cluster.patch(DEFINITION, [add("/spec/conversion/webhook")]);
  if (await cluster.exists(POD_WEBHOOK)) await cluster.patch(POD_WEBHOOK, [add("/webhooks/0")]);
}

/** Objects of the whole cluster that name Archway. */
export async function remainsOf(cluster: ClusterAccess): Promise<readonly string[]> {
  const kinds = [
    "namespaces",
    "clusterroles",
    "clusterrolebindings",
    "mutatingwebhookconfigurations",
    "validatingwebhookconfigurations",
    "customresourcedefinitions",
  ].join();
  const { items } = JSON.parse(await cluster.run(["get", kinds, "-o", "json"]));
  assert.ok(Array.isArray(items));
  return items.filter((item) => /archway/.test(JSON.stringify({ ...item, metadata: withoutHistory(item) })))
    .map((item) => `${read(item, "kind")}/${read(item, "metadata", "name")}`);
}

/** Who wrote what, and what kubectl applied last, is history. */
function withoutHistory(object: unknown): unknown {
  const { managedFields: _managed, annotations: _annotations, labels: _labels, ...rest } = Object(
    read(object, "metadata"),
  );
  return rest;
}
