// `archway serve` in this process, in front of a playground.
import { systemClock } from "../../lib/clock.ts";
import type { Config } from "../../lib/config/parse.ts";
import { readKubeconfigAccess } from "../../lib/k8s/kubeconfig_access.ts";
import { openLogger } from "../../lib/log.ts";
import type { Playground } from "../../playground/playground.ts";
import { serve } from "../../serve/serve.ts";
import { settingsOf } from "../serve/flag_effects/support.ts";

/** The flags that point `serve` at a playground: kubeconfig, certificates and registry. */
export function serveFlags({ files, registryHost }: Playground): readonly string[] {
  return [
    `--kubeconfig=${files.kubeconfig}`,
    `--tls-cert=${files.certificate}`,
    `--tls-key=${files.key}`,
    `--tls-ca=${files.authority}`,
    `--registry=${registryHost}`,
    `--registry-ca=${files.authority}`,
  ];
}

/** Serves until `use` has ended, and stops. */
export async function whileServing<T>(
  playground: Playground,
  { config, identity }: { readonly config: Config; readonly identity: string },
  use: (adminPort: number) => Promise<T>,
): Promise<T> {
  const log = openLogger({ level: "error", write: () => {} });
  const stop = new AbortController();
  const listening = Promise.withResolvers<number>();
  const serving = serve({
    ...{ config, settings: settingsOf(config), clock: systemClock, log, identity, userAgent: "archway/test" },
    ...{ access: await readKubeconfigAccess(playground.files.kubeconfig, { clock: systemClock }), lingerMs: 0 },
    onListening: ({ adminPort }) => listening.resolve(adminPort),
  }, stop.signal);
  serving.catch(listening.reject);
  try {
    return await use(await listening.promise);
  } finally {
    stop.abort();
    await serving;
    log.close();
  }
}
