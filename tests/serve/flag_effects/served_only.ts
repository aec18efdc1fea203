// One `archway serve --only=…` in front of a playground: which Lease it takes, and what it serves.
import { systemClock } from "../../../lib/clock.ts";
import { readKubeconfigAccess } from "../../../lib/k8s/kubeconfig_access.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import { openLogger, silentLogger } from "../../../lib/log.ts";
import { textAt } from "../../../playground/json_value.ts";
import { openPlayground } from "../../../playground/playground.ts";
import { serve } from "../../../serve/serve.ts";
import { until } from "../../support/until.ts";
import { serveConfig, settingsOf } from "./support.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";

export interface ServedOnly {
  readonly leases: readonly string[];
  readonly webhooks: number;
  readonly metrics: string;
  readonly readyStatus: number;
}

/** Serves with these flags until a Lease is held, observes and stops. */
export async function servedOnly(...flags: readonly string[]): Promise<ServedOnly> {
  await using workDir = await temporaryFolder();
  const options = { clock: systemClock, log: silentLogger, workDir: workDir.path, namespaces: ["archway-system"] };
  await using playground = await openPlayground(options);
  const config = serveConfig(
    ...playground.serveFlags,
    "--listen=127.0.0.1:0",
    "--admin-listen=127.0.0.1:0",
    ...flags,
  );
  const log = openLogger({ level: "error", write: () => {} });
  const stop = new AbortController();
  const listening = Promise.withResolvers<number>();
  const serving = serve({
    ...{ config, settings: settingsOf(config), clock: systemClock, log, identity: "only", lingerMs: 0 },
    access: await readKubeconfigAccess(playground.files.kubeconfig, { clock: systemClock }),
    userAgent: "archway/test",
    onListening: ({ adminPort }) => listening.resolve(adminPort),
  }, stop.signal);
  serving.catch(listening.reject);
  try {
    const base = `http://127.0.0.1:${await listening.promise}`;
    const { store } = playground.cluster;
    const held = (): readonly string[] =>
      store.list(Resource.leases).filter((lease) => textAt(lease, "spec", "holderIdentity") === "only")
        .map(({ metadata }) => metadata.name);
    await until("a Lease", () => held().length > 0);
    const ready = await fetch(`${base}/readyz`);
    await ready.body?.cancel();
    return {
      leases: held(),
      webhooks: store.list(Resource.mutatingWebhooks).length,
      metrics: await (await fetch(`${base}/metrics`)).text(),
      readyStatus: ready.status,
    };
  } finally {
    stop.abort();
    await serving;
    log.close();
  }
}
