// Flags of the process itself: addresses, certificates, names and controllers. Where a pure part or one component has the
// effect it is shown there, the others by one `serve` in front of a playground.
import assert from "node:assert/strict";
import { connect as connectTls } from "node:tls";
import { PodPlacement } from "../../../controllers/pod_placement/controller.ts";
import { systemClock } from "../../../lib/clock.ts";
import type { Config } from "../../../lib/config/parse.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import { readKubeconfigAccess } from "../../../lib/k8s/kubeconfig_access.ts";
import { kubeconfigPath } from "../../../lib/k8s/cluster_access.ts";
import { openLogger, silentLogger } from "../../../lib/log.ts";
import { openPlacementMetrics } from "../../support/process_metrics.ts";
import { logLevelOf } from "../../../lib/operator/cluster/configs.ts";
import { webhookEndpoint } from "../../../lib/operator/decide/webhook_clients.ts";
import { makeSettings } from "../../../lib/placement/decide/config/types.ts";
import { issueLoopbackCertificates } from "../../../playground/listen.ts";
import { openHttpsListener } from "../../../lib/server/https_listener.ts";
import { openServingCertificate, readClientCa } from "../../../lib/server/certificate/open_certificate.ts";
import { openScene } from "../../controllers/make.ts";
import { gated } from "../../controllers/pod_placement/make.ts";
import { makeFolder } from "../../lib/oci/config/planner_support.ts";
import { NO_CONFIGS } from "../../lib/placement/decide/make.ts";
import { MemoryCluster } from "../../support/memory_kube_api.ts";
import { ADMIN_HOST, served, WEBHOOK_HOST } from "./served.ts";
import { type Check, type Checks, fileConfig, serveConfig } from "./support.ts";

/** The certificate of the files, with the CA of `--tls-ca` where it is given. */
async function certificateOf(
  ...more: readonly string[]
): Promise<{ readonly own: boolean; readonly caBundle: unknown }> {
  const { serving, authority } = await issueLoopbackCertificates(Date.now());
  using folder = makeFolder({ "tls.crt": serving.cert, "tls.key": serving.key, "ca.pem": authority });
  const files = [`--tls-cert=${folder.path}/tls.crt`, `--tls-key=${folder.path}/tls.key`];
  const config = serveConfig(...files, ...more.map((flag) => flag.replace("FOLDER", folder.path)));
  const deps = { config, api: new MemoryCluster().api, clock: systemClock, log: silentLogger };
  const { cert, caBundle } = (await openServingCertificate(deps, new AbortController().signal)).current();
  return { own: cert !== serving.cert, caBundle };
}

const certificateFiles: Check = async () => {
  assert.deepEqual(await certificateOf(), { own: false, caBundle: undefined });
};

async function parallelWrites(workers: number): Promise<number> {
  const scene = openScene();
  const settings = makeSettings({ operatorNamespace: "archway" });
  let writes = 0;
  const api = scene.cluster.client(({ verb }) => {
    if (verb !== "patch") return;
    writes++;
    return new Promise<void>(() => {});
  });
  for (let n = 0; n < 100; n++) scene.cluster.put(Resource.pods, gated(`p${n}`));
  const controller = new PodPlacement({
    ...{ api, images: scene.images, events: scene.events, metrics: openPlacementMetrics(), clock: scene.clock },
    ...{ board: { record: () => {} }, log: silentLogger, settingsOf: () => settings, configsOf: () => NO_CONFIGS },
    ...{ liveArchitectures: () => undefined, random: () => 0.5, workers },
  });
  void controller.run(new AbortController().signal);
  await scene.clock.advance(0);
  return writes;
}

async function answersStrangers(clientCa: string | undefined): Promise<boolean> {
  const { serving, authority } = await issueLoopbackCertificates(Date.now());
  const handler = (): Response => new Response("ok");
  const listener = await openHttpsListener({ host: "127.0.0.1", port: 0, certificate: serving, handler, clientCa });
  const socket = connectTls({ port: listener.port, host: "127.0.0.1", ca: authority });
  const answered = new Promise<boolean>((resolve) => {
    socket.once("data", () => resolve(true)).once("close", () => resolve(false)).on("error", () => {});
  });
  socket.once("secureConnect", () => socket.write("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"));
  try {
    return await answered;
  } finally {
    socket.destroy();
    await listener.close(0);
  }
}

const KUBECONFIG = JSON.stringify({
  ...{ apiVersion: "v1", kind: "Config", "current-context": "c" },
  clusters: [{ name: "c", cluster: { server: "https://api.example:6443" } }],
  users: [{ name: "u", user: { token: "t" } }],
  contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
});

export const PROCESS_FLAGS: Checks = {
  "config": () => {
    assert.equal(serveConfig().webhookService, "archway-webhook");
    assert.equal(fileConfig("webhookService: front").webhookService, "front");
  },
  "kubeconfig": async () => {
    const places = { home: undefined, exists: () => true };
    assert.equal(kubeconfigPath({ ...places, given: serveConfig().kubeconfig }), undefined, "the ServiceAccount");
    using folder = makeFolder({ "config": KUBECONFIG });
    const path = kubeconfigPath({ ...places, given: serveConfig(`--kubeconfig=${folder.path}/config`).kubeconfig });
    const access = await readKubeconfigAccess(path ?? assert.fail("no file"), { clock: systemClock });
    assert.equal(access.baseUrl, "https://api.example:6443");
  },
  "listen": async () => assert.equal((await served()).webhookAnswersAt, WEBHOOK_HOST),
  "admin-listen": async () => assert.equal((await served()).adminAnswersAt, ADMIN_HOST),
  "tls-cert": certificateFiles,
  "tls-key": certificateFiles,
  "tls-ca": async () => assert.match(String((await certificateOf("--tls-ca=FOLDER/ca.pem")).caBundle), /BEGIN CERT/),
  "webhook-url": async () => {
    assert.equal(webhookEndpoint(serveConfig()).kind, "service");
    assert.match((await served()).webhookUrl, new RegExp(`^https://${WEBHOOK_HOST}:\\d+/`));
  },
  "prewarm": async () => assert.match((await served()).metrics, /^workqueue_depth\{name="prewarm"\} /m),
};

export const PROCESS_SETTINGS: Checks = {
  webhookPath: async () => {
    const { webhookUrl, secrets } = await served();
    assert.equal(new URL(webhookUrl).pathname, "/add-pod-scheduling-gate", "the path of the manifests");
    assert.equal(secrets.includes("archway-webhook-path"), false);
  },
  webhookClientCa: async () => {
    using folder = makeFolder({ "ca.pem": (await issueLoopbackCertificates(Date.now())).authority });
    const { webhookClientCa = assert.fail() } = fileConfig(`webhookClientCa: ${folder.path}/ca.pem`);
    assert.equal(await answersStrangers(undefined), true);
    assert.equal(await answersStrangers(await readClientCa(webhookClientCa)), false);
  },
  workers: async () => {
    assert.equal(await parallelWrites(serveConfig().workers), 32);
    assert.equal(await parallelWrites(fileConfig("workers: 2").workers), 2);
  },
  webhookService: () => {
    assert.deepEqual(webhookEndpoint(fileConfig("webhookService: front")), {
      kind: "service",
      namespace: "archway-system",
      name: "front",
    });
  },
  fallbackLogLevel: () => {
    assert.equal(logLevelOf(undefined), undefined, "the cluster config does not say");
    const linesBy = ({ fallbackLogLevel }: Config): number => {
      let lines = 0;
      const log = openLogger({ level: fallbackLogLevel, write: () => void lines++ });
      log.debug("detail");
      log.close();
      return lines;
    };
    assert.deepEqual([linesBy(serveConfig()), linesBy(fileConfig("fallbackLogLevel: debug"))], [0, 1]);
  },
};
