// One `archway serve` with many flags in front of a playground, run once for all checks that only a whole process can show.
import assert from "node:assert/strict";
import { systemClock } from "../../../lib/clock.ts";
import { readKubeconfigAccess } from "../../../lib/k8s/kubeconfig_access.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import { openLogger, silentLogger } from "../../../lib/log.ts";
import { listAt, textAt } from "../../../playground/json_value.ts";
import { openPlayground, type Playground } from "../../../playground/playground.ts";
import { serve } from "../../../serve/serve.ts";
import { until } from "../../support/until.ts";
import { serveConfig, settingsOf } from "./support.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";

/** Where the webhooks listen: not the default, and not where the admin pages are. */
export const WEBHOOK_HOST = "127.0.0.2";
export const ADMIN_HOST = "127.0.0.3";
const NAMESPACE = "archway-elsewhere";

export interface Served {
  /** The one address of 127.0.0.1 and {@link WEBHOOK_HOST} at which the webhook port answers. */
  readonly webhookAnswersAt: string;
  /** The same of the port of `--admin-listen` and {@link ADMIN_HOST}. */
  readonly adminAnswersAt: string;
  readonly metrics: string;
  readonly webhookUrl: string;
  readonly secrets: readonly string[];
}

let running: Promise<Served> | undefined;

/** Serves once, observes and stops; later calls have the same observations. */
export function served(): Promise<Served> {
  return running ??= observe();
}

async function observe(): Promise<Served> {
  await using workDir = await temporaryFolder();
  const options = { clock: systemClock, log: silentLogger, workDir: workDir.path, namespaces: [NAMESPACE] };
  await using playground = await openPlayground(options);
  await Deno.writeTextFile(`${workDir.path}/archway.yaml`, "webhookPath: plain\n");
  return await serveBeside(playground, workDir.path);
}

async function serveBeside(playground: Playground, workDir: string): Promise<Served> {
  const port = freePort(WEBHOOK_HOST);
  const config = serveConfig(
    ...playground.serveFlags,
    `--namespace=${NAMESPACE}`,
    `--listen=${WEBHOOK_HOST}:${port}`,
    `--admin-listen=${ADMIN_HOST}:0`,
    `--webhook-url=https://${WEBHOOK_HOST}:${port}`,
    `--config=${workDir}/archway.yaml`,
    "--prewarm",
    "--daemonsets=warn",
  );
  const log = openLogger({ level: "error", write: () => {} });
  const stop = new AbortController();
  const listening = Promise.withResolvers<number>();
  const serving = serve({
    ...{ config, settings: settingsOf(config), clock: systemClock, log, identity: "replica-of-test" },
    ...{ access: await readKubeconfigAccess(playground.files.kubeconfig, { clock: systemClock }), lingerMs: 0 },
    userAgent: "archway/test",
    onListening: ({ adminPort }) => listening.resolve(adminPort),
  }, stop.signal);
  serving.catch(listening.reject);
  try {
    const adminPort = await listening.promise;
    const { store } = playground.cluster;
    const webhook = (): unknown => listAt(store.list(Resource.mutatingWebhooks)[0], "webhooks")[0];
    await until("a webhook", () => webhook() !== undefined);
    const answer = await fetch(`http://${ADMIN_HOST}:${adminPort}/metrics`);
    return {
      webhookAnswersAt: (await Promise.all(["127.0.0.1", WEBHOOK_HOST].map((host) => answersAt(host, port)))).join(""),
      adminAnswersAt: (await Promise.all(["127.0.0.1", ADMIN_HOST].map((host) => answersAt(host, adminPort)))).join(""),
      metrics: await answer.text(),
      webhookUrl: textAt(webhook(), "clientConfig", "url") ?? "",
      secrets: store.list(Resource.secrets).filter(({ metadata }) => metadata.namespace === NAMESPACE)
        .map(({ metadata }) => metadata.name),
    };
  } finally {
    stop.abort();
    await serving;
    log.close();
  }
}

/** The host where it answers; empty where it does not. */
async function answersAt(hostname: string, port: number): Promise<string> {
  try {
    (await Deno.connect({ hostname, port })).close();
    return hostname;
  } catch (error) {
    assert.ok(error instanceof Deno.errors.ConnectionRefused, String(error));
    return "";
  }
}

function freePort(hostname: string): number {
  using listener = Deno.listen({ hostname, port: 0 });
  return listener.addr.port;
}
