// Client certificates of API servers (`webhookClientCa`): an API server that has one is answered through the Service of the
// manifests, and no other client gets beyond the handshake, whatever path it uses.
import assert from "node:assert/strict";
import { renderFolder } from "../../manifests/generate/kustomize.ts";
import { WebhookPath } from "../../lib/names.ts";
import { lacks } from "../support/needs.ts";
import { askWebhook, type ClientIdentity } from "./support/ask_webhook.ts";
import { read } from "./support/cluster_access.ts";
import { startControlPlane } from "./support/control_plane.ts";
import { CONFIG, POD_WEBHOOK } from "./support/objects.ts";
import { type CertificateAuthority, createAuthority } from "./support/pki.ts";
import { failedWebhookCalls } from "./support/pod_load.ts";
import { renderPod } from "./support/pods.ts";
import {
  applyBehindService,
  enableBehindService,
  NAMESPACE,
  ServiceReplica,
  untilGated,
} from "./support/service_bed.ts";
import { waitUntil } from "./support/wait.ts";

const ignore = lacks("address");

async function identityOf(authority: CertificateAuthority, usage: "client" | "server"): Promise<ClientIdentity> {
  const { certificatePem: cert, keyPem: key } = await authority.issue({ commonName: "kube-apiserver", usage });
  return { cert, key };
}

/** What the API server presents to webhooks of Archway's namespace, as docs/security.md says. */
async function writeKubeconfig(file: string, identity: ClientIdentity): Promise<void> {
  const user = { "client-certificate-data": btoa(identity.cert), "client-key-data": btoa(identity.key) };
  const users = [{ name: `*.${NAMESPACE}.svc`, user }];
  await Deno.writeTextFile(file, JSON.stringify({ apiVersion: "v1", kind: "Config", users }), { mode: 0o600 });
}

/** Text of the file for `--admission-control-config-file`. */
function renderAdmissionConfiguration(kubeConfigFile: string): string {
  const apiVersion = "apiserver.config.k8s.io/v1";
  const configuration = { apiVersion, kind: "WebhookAdmissionConfiguration", kubeConfigFile };
  const plugins = ["MutatingAdmissionWebhook", "ValidatingAdmissionWebhook"].map((name) => ({ name, configuration }));
  return JSON.stringify({ apiVersion, kind: "AdmissionConfiguration", plugins });
}

Deno.test(
  "client certificates: the API server's is required of every caller, and it gates pods and checks configs with it",
  { ignore },
  async () => {
    const directory = await Deno.makeTempDir({ prefix: "archway-client-certificates-" });
    await using undo = new AsyncDisposableStack();
    undo.defer(() => Deno.remove(directory, { recursive: true }));
    const [ours, foreign] = await Promise.all(["api servers", "somebody else"].map(createAuthority));
    assert.ok(ours !== undefined && foreign !== undefined);
    const kubeconfigFile = `${directory}/webhooks.kubeconfig`;
    const identity = await identityOf(ours, "client");
    await writeKubeconfig(kubeconfigFile, identity);
    await Deno.writeTextFile(`${directory}/admission.json`, renderAdmissionConfiguration(kubeconfigFile));
    await Deno.writeTextFile(`${directory}/client-ca.pem`, ours.certificatePem);
    await Deno.writeTextFile(`${directory}/archway.yaml`, `webhookClientCa: ${directory}/client-ca.pem\n`);

    const flags = {
      "kube-apiserver": [
        "--enable-aggregator-routing=true",
        `--admission-control-config-file=${directory}/admission.json`,
      ],
    };
    const cluster = undo.use(await startControlPlane({ flags, without: ["kube-scheduler", "kwok"] }));
    await applyBehindService(cluster, { objects: await renderFolder("base"), pods: "none" });
    const kubeconfig = await cluster.serviceAccountKubeconfig({ namespace: NAMESPACE, name: "archway" });
    const args = ["--max-gate-age=600s", `--config=${directory}/archway.yaml`];
    const replica = undo.use(new ServiceReplica(cluster, { name: "archway", kubeconfig, args }));
    await replica.start();

    await enableBehindService(cluster);
    await untilGated(cluster);
    const before = await failedWebhookCalls(cluster);
    const create = async (name: string): Promise<boolean> => {
      const pod = renderPod({ name, images: ["registry.invalid/team/app:1"] });
      const answer = await cluster.create("/api/v1/namespaces/default/pods", pod);
      return read(answer, "spec", "schedulingGates") !== undefined;
    };
    assert.equal(await create("with-certificate"), true, "not gated");
    assert.equal(await failedWebhookCalls(cluster) - before, 0);
    const label = async (value: string): Promise<number> =>
      (await cluster.request("PATCH", CONFIG, { metadata: { labels: { round: value } } })).status;
    assert.equal(await label("checked"), 200, "the validating webhook, which fails closed, was not reached");

    const ca = atob(String(read(await cluster.get(POD_WEBHOOK), "webhooks", 0, "clientConfig", "caBundle")));
    const target = { port: replica.webhookPort, path: WebhookPath.gatePod, ca };
    const strangers: readonly (readonly [name: string, identity: ClientIdentity | undefined])[] = [
      ["no certificate", undefined],
      ["one of another CA", await identityOf(foreign, "client")],
      ["one of the CA, but for servers", await identityOf(ours, "server")],
    ];
    for (const [name, other] of strangers) assert.equal(await askWebhook(target, other), "refused", name);
    assert.equal(await askWebhook(target, identity), 400, "a review without content is answered, not refused");
    assert.equal(await askWebhook({ ...target, path: "/other" }, identity), 404, "the certificate opens no other path");

    // An API server whose certificate another CA has signed is any other client: pods pass, configs are not stored.
    await writeKubeconfig(kubeconfigFile, await identityOf(foreign, "client"));
    await cluster.restartApiServer();
    await waitUntil("the API server to know the webhook", async () => await label("unchecked") === 500);
    assert.equal(await create("with-foreign-certificate"), false);
    assert.ok(await failedWebhookCalls(cluster) > 0);
    await writeKubeconfig(kubeconfigFile, identity);
    await cluster.restartApiServer();
    await waitUntil("the API server to be answered again", async () => await label("checked-again") === 200);
    await untilGated(cluster);
  },
);
