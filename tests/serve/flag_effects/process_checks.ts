// Flags of the process itself: addresses, certificates, names and controllers. Where a pure part or one component has the
// effect it is shown there, the others by one `serve` in front of a playground.
import assert from "node:assert/strict";
import { systemClock } from "../../../lib/clock.ts";
import type { Config } from "../../../lib/config/parse.ts";
import { readKubeconfigAccess } from "../../../lib/k8s/kubeconfig_access.ts";
import { kubeconfigPath } from "../../../lib/k8s/cluster_access.ts";
import { openLogger, silentLogger } from "../../../lib/log.ts";
import { logLevelOf } from "../../../lib/operator/cluster/configs.ts";
import { webhookEndpoint } from "../../../lib/operator/decide/webhook_clients.ts";
import { issueLoopbackCertificates } from "../../../playground/listen.ts";
import { openServingCertificate, readClientCa } from "../../../lib/server/certificate/open_certificate.ts";
import { openScene } from "../../controllers/make.ts";
import { controllerOf, gated } from "../../controllers/pod_placement/make.ts";
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
  const scene = openScene(...Array.from({ length: 100 }, (_, n) => gated(`p${n}`)));
  let writes = 0;
  scene.cluster.beforePatch = () => {
    writes++;
    return new Promise(() => {});
  };
  void controllerOf(scene, NO_CONFIGS, workers).run(new AbortController().signal);
  await scene.clock.advance(0);
  return writes;
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
    const { authority } = await issueLoopbackCertificates(Date.now());
    using folder = makeFolder({ "ca.pem": authority });
    // What a listener does with it is in tests/lib/server/https_listener_test.ts.
    const readBy = ({ webhookClientCa }: Config): Promise<string | undefined> => readClientCa(webhookClientCa);
    assert.equal(await readBy(serveConfig()), undefined);
    assert.equal(await readBy(fileConfig(`webhookClientCa: ${folder.path}/ca.pem`)), authority);
  },
  workers: async () => {
    assert.equal(await parallelWrites(serveConfig().workers), 64);
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
