// `archway serve` in front of a playground, for what only a whole process can show.
import assert from "node:assert/strict";
import { systemClock } from "../../../lib/clock.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import { silentLogger } from "../../../lib/log.ts";
import { listAtPath, textAtPath } from "../../../playground/json_path.ts";
import { openPlayground, type Playground } from "../../../playground/playground.ts";
import { findFreePort } from "../../cluster/support/ports.ts";
import { serveFlags, whileServing } from "../../playground/serving.ts";
import { settingsFlag } from "../../support/settings_file.ts";
import { until } from "../../support/until.ts";
import { serveConfig } from "./support.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";

/** Where the webhooks listen: not the default, and not where the admin pages are. */
export const WEBHOOK_HOST = "127.0.0.2";
export const ADMIN_HOST = "127.0.0.3";
const NAMESPACE = "archway-elsewhere";
const IDENTITY = "replica-of-test";

/** Serves with the playground's flags and these until `look` has ended, and stops. */
async function observing<T>(
  { namespace, flags }: { readonly namespace: string; readonly flags: readonly string[] },
  look: (store: Playground["cluster"]["store"], adminPort: number) => Promise<T>,
): Promise<T> {
  await using workDir = await temporaryFolder();
  const options = { clock: systemClock, log: silentLogger, workDir: workDir.path, namespaces: [namespace] };
  await using playground = await openPlayground(options);
  const config = serveConfig(...serveFlags(playground), ...flags);
  const { store } = playground.cluster;
  return await whileServing(playground, { config, identity: IDENTITY }, (adminPort) => look(store, adminPort));
}

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

/** Serves once, with many flags, observes and stops; later calls have the same observations. */
export function served(): Promise<Served> {
  return running ??= observe();
}

async function observe(): Promise<Served> {
  await using folder = await temporaryFolder();
  const port = findFreePort();
  const flags = [
    `--namespace=${NAMESPACE}`,
    `--listen=${WEBHOOK_HOST}:${port}`,
    `--admin-listen=${ADMIN_HOST}:0`,
    `--webhook-url=https://${WEBHOOK_HOST}:${port}`,
    settingsFlag(folder.path, { webhookPath: "plain" }),
    "--prewarm",
    "--daemonsets=warn",
  ];
  return await observing({ namespace: NAMESPACE, flags }, async (store, adminPort) => {
    const webhook = (): unknown => listAtPath(store.list(Resource.mutatingWebhooks)[0], "webhooks")[0];
    await until("a webhook", () => webhook() !== undefined);
    const answer = await fetch(`http://${ADMIN_HOST}:${adminPort}/metrics`);
    return {
      webhookAnswersAt: (await Promise.all(["127.0.0.1", WEBHOOK_HOST].map((host) => answersAt(host, port)))).join(""),
      adminAnswersAt: (await Promise.all(["127.0.0.1", ADMIN_HOST].map((host) => answersAt(host, adminPort)))).join(""),
      metrics: await answer.text(),
      webhookUrl: textAtPath(webhook(), "clientConfig", "url") ?? "",
      secrets: store.list(Resource.secrets).filter(({ metadata }) => metadata.namespace === NAMESPACE)
        .map(({ metadata }) => metadata.name),
    };
  });
}

export interface ServedOnly extends Pick<Served, "metrics"> {
  readonly leases: readonly string[];
  readonly webhooks: number;
}

/** Serves with these flags until a Lease is held, observes and stops. */
export async function servedOnly(...more: readonly string[]): Promise<ServedOnly> {
  const flags = ["--listen=127.0.0.1:0", "--admin-listen=127.0.0.1:0", ...more];
  return await observing({ namespace: "archway-system", flags }, async (store, adminPort) => {
    const held = (): readonly string[] =>
      store.list(Resource.leases).filter((lease) => textAtPath(lease, "spec", "holderIdentity") === IDENTITY)
        .map(({ metadata }) => metadata.name);
    await until("a Lease", () => held().length > 0);
    const answer = await fetch(`http://127.0.0.1:${adminPort}/metrics`);
    return {
      leases: held(),
      webhooks: store.list(Resource.mutatingWebhooks).length,
      metrics: await answer.text(),
    };
  });
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
