// The secret path of the webhooks where others keep the certificates: overlays cert-manager and openshift, through the Service.
// Archway writes its path into all three configurations, and leaves the CA that the other party injects alone.
import assert from "node:assert/strict";
import { renderFolder } from "../../manifests/generate/kustomize.ts";
import { WebhookPath } from "../../lib/names.ts";
import { defineKinds, type ForeignKind } from "../node/support/foreign_apis.ts";
import { lacks } from "../support/needs.ts";
import { askWebhook } from "../cluster/support/ask_webhook.ts";
import { type CertificateKeeper, playCertManager, playServiceCa } from "../cluster/support/certificate_keepers.ts";
import { type ClusterAccess, read } from "../cluster/support/cluster_access.ts";
import { argumentsOf } from "../cluster/support/installation.ts";
import { CHECKS, CONFIG, DEFINITION, POD_WEBHOOK } from "../cluster/support/objects.ts";
import { createAuthority } from "../cluster/support/pki.ts";
import { failedWebhookCalls } from "../cluster/support/pod_load.ts";
import { renderPod } from "../cluster/support/pods.ts";
import {
  applyBehindService,
  enableBehindService,
  NAMESPACE,
  ServiceReplica,
  untilGated,
} from "../cluster/support/service_bed.ts";
import { bareControlPlane } from "../cluster/support/shared_control_plane.ts";
import { pause, waitUntil } from "../cluster/support/wait.ts";

interface Overlay {
  readonly path: string;
  readonly needs: readonly ForeignKind[];
  readonly play: (cluster: ClusterAccess) => Promise<CertificateKeeper>;
  /** The annotation that a user adds for the CA to be injected; undefined where the manifests have it. */
  readonly asks?: Readonly<Record<string, string>>;
}

const OVERLAYS: readonly Overlay[] = [
  { path: "overlays/openshift", needs: ["ServiceMonitor", "PrometheusRule"], play: playServiceCa },
  {
    path: "overlays/cert-manager",
    needs: ["Issuer", "Certificate"],
    play: playCertManager,
    asks: { "cert-manager.io/inject-ca-from": `${NAMESPACE}/archway-webhook` },
  },
];

interface Client {
  readonly path: string;
  readonly ca: string;
}

async function clientsOf(cluster: ClusterAccess): Promise<readonly Client[]> {
  const [pods, checks, definition] = await Promise.all([POD_WEBHOOK, CHECKS, DEFINITION].map(cluster.get));
  const clients = [
    read(pods, "webhooks", 0, "clientConfig"),
    read(checks, "webhooks", 0, "clientConfig"),
    read(checks, "webhooks", 1, "clientConfig"),
    read(definition, "spec", "conversion", "webhook", "clientConfig"),
  ];
  return clients.map((client) => ({
    path: String(read(client, "service", "path")),
    ca: atob(String(read(client, "caBundle") ?? "")),
  }));
}

/** Lays the Secret out as the kubelet does, and the trusted CAs of an OpenShift cluster. */
async function mount(cluster: ClusterAccess, directory: string): Promise<void> {
  const data = await waitUntil("the Secret of the serving certificate", async () => {
    const answer = await cluster.request("GET", `/api/v1/namespaces/${NAMESPACE}/secrets/archway-webhook-tls`);
    return answer.status === 200 && read(answer.body, "data");
  });
  for (const folder of ["etc/archway/tls", "etc/archway/trusted-ca", "var/cache/archway"]) {
    await Deno.mkdir(`${directory}/${folder}`, { recursive: true });
  }
  for (const [name, text] of Object.entries(Object(data))) {
    await Deno.writeTextFile(`${directory}/etc/archway/tls/${name}`, atob(String(text)));
  }
  const { certificatePem } = await createAuthority("archway test cluster");
  await Deno.writeTextFile(`${directory}/etc/archway/trusted-ca/ca-bundle.crt`, certificatePem);
}

const ROUTES = [
  WebhookPath.gatePod,
  WebhookPath.validateClusterConfig,
  WebhookPath.validateNamespaceConfig,
  WebhookPath.convert,
];

const NAME = OVERLAYS.map(({ path }) => path).join(" and ") +
  ": secret paths are in all three configurations, the CA that another party injects stays, and pods are gated";

Deno.test(NAME, { ignore: lacks("address") }, async () => {
  // Side by side: most of the time each waits for the minute after which its roll-out counts as over.
  const ended = await Promise.allSettled(OVERLAYS.map(holds));
  for (const [at, { path }] of OVERLAYS.entries()) {
    const result = ended[at];
    if (result?.status === "rejected") throw new Error(`${path} fails`, { cause: result.reason });
  }
});

interface Bed {
  readonly cluster: ClusterAccess;
  readonly directory: string;
  readonly keeper: CertificateKeeper;
  readonly replica: ServiceReplica;
}

async function open({ path, needs, play, asks }: Overlay, undo: AsyncDisposableStack): Promise<Bed> {
  const directory = await Deno.makeTempDir({ prefix: "archway-overlay-" });
  undo.defer(() => Deno.remove(directory, { recursive: true }));
  const cluster = undo.use(await bareControlPlane());
  await cluster.addNodes(["amd64", "arm64"].map((arch) => ({ name: `${arch}-1`, arch })));
  await defineKinds(cluster, needs);
  const objects = await renderFolder(path);
  await applyBehindService(cluster, { objects, pods: "played" });
  for (const object of asks === undefined ? [] : [CHECKS, DEFINITION]) {
    await cluster.patch(object, { metadata: { annotations: asks } });
  }
  const keeper = undo.use(await play(cluster));
  await mount(cluster, directory);
  const kubeconfig = await cluster.serviceAccountKubeconfig({ namespace: NAMESPACE, name: "archway" });
  const args = [...argumentsOf(objects, directory).filter((argument) => argument !== "serve"), "--max-gate-age=600s"];
  assert.ok(args.some((argument) => argument.startsWith("--tls-cert=")), "the certificate is Archway's own");
  const replica = undo.use(new ServiceReplica(cluster, { name: "archway", kubeconfig, args }));
  await replica.start();
  await enableBehindService(cluster);
  await untilGated(cluster);
  return { cluster, directory, keeper, replica };
}

async function holds(overlay: Overlay): Promise<void> {
  await using undo = new AsyncDisposableStack();
  const bed = await open(overlay, undo);
  const paths = await becomeSecret(bed);
  await refusePlainPaths(bed, paths);
  await callBySecretPaths(bed);
  await followRotation(bed, paths);
}

async function assertCa({ cluster, keeper }: Bed): Promise<void> {
  for (const { ca } of await clientsOf(cluster)) assert.equal(ca, keeper.bundle);
}

/** A minute after the roll-out: a replica that terminates still answers by the plain paths. */
async function becomeSecret(bed: Bed): Promise<readonly string[]> {
  const { cluster, keeper } = bed;
  const plain = (await clientsOf(cluster)).map((client) => client.path);
  assert.deepEqual(plain, ROUTES, "plain while a roll-out may go on");
  const injected = keeper.injections;
  const paths = await waitUntil("a secret path to be in every configuration", async () => {
    const found = (await clientsOf(cluster)).map((client) => client.path);
    return found.every((each, at) => /^\/[0-9a-f]{64}$/.test(each.replace(ROUTES[at] ?? "", ""))) && found;
  }, { deadlineMs: 150_000, intervalMs: 500 });
  assert.deepEqual([paths.length, new Set(paths).size], [ROUTES.length, ROUTES.length]);
  await assertCa(bed);
  assert.equal(keeper.injections, injected, "Archway took the CA out with its write of the paths");
  return paths;
}

/** A process that has never seen a plain path answers none. */
async function refusePlainPaths({ replica, keeper }: Bed, paths: readonly string[]): Promise<void> {
  assert.equal(await replica.stop(), 0);
  await replica.start();
  const port = replica.webhookPort;
  const ask = (path: string): Promise<number | "refused"> => askWebhook({ port, path, ca: keeper.bundle });
  await waitUntil("plain paths to be refused", async () => await ask(WebhookPath.gatePod) === 404);
  assert.deepEqual(await Promise.all(ROUTES.map(ask)), [404, 404, 404, 404]);
  assert.deepEqual(await Promise.all(paths.map(ask)), [400, 400, 400, 400]);
}

async function callBySecretPaths({ cluster }: Bed): Promise<void> {
  await untilGated(cluster);
  const before = await failedWebhookCalls(cluster);
  const pod = renderPod({ name: "by-secret", images: ["registry.invalid/team/app:1"] });
  const created = await cluster.request("POST", "/api/v1/namespaces/default/pods", pod);
  assert.notEqual(read(created.body, "spec", "schedulingGates"), undefined, "not gated");
  assert.equal(await failedWebhookCalls(cluster) - before, 0);
  await cluster.patch(CONFIG, { metadata: { labels: { round: "1" } } });
  const converted = await cluster.request("GET", CONFIG.replace("v1beta1", "v1alpha1"));
  assert.equal(read(converted.body, "apiVersion"), "multiarch.openshift.io/v1alpha1", JSON.stringify(converted));
}

/** The other party changes its CA: Archway follows or leaves it alone, and neither overwrites the other. */
async function followRotation(bed: Bed, paths: readonly string[]): Promise<void> {
  const { cluster, directory, keeper, replica } = bed;
  await keeper.rotate();
  await mount(cluster, directory);
  await waitUntil(
    "the new certificate to be served, and its CA to be in every configuration",
    async () =>
      await replica.metric("archway_certificate_reloads_total") >= 1 &&
      (await clientsOf(cluster)).every(({ ca }) => ca === keeper.bundle),
  );
  const injections = keeper.injections;
  await cluster.patch(CONFIG, { metadata: { labels: { round: "2" } } });
  await pause(5_000);
  assert.equal(keeper.injections, injections, "written again and again");
  await assertCa(bed);
  assert.deepEqual((await clientsOf(cluster)).map((client) => client.path), paths);
  await untilGated(cluster);
}
