// The webhook that holds the machine config operator's own builder. It opens once the files of --tls-cert and --tls-key
// hold a certificate. OpenShift's service CA writes it once the component image-builds-hold-webhook is applied.
import type { Runnable } from "../controllers/controller.ts";
import { BUILDER_HOLD_PATH } from "../lib/builds/decide/names.ts";
import { errorText } from "../lib/log.ts";
import { openLoadLimit, OTHER_LOAD } from "../lib/server/load_limit.ts";
import { openCertificateFiles } from "../lib/server/certificate/files.ts";
import type { ServingCertificate } from "../lib/server/certificate/serving_certificate.ts";
import { holdBuilder } from "../routes/hold_builder.ts";
import type { ServeDeps } from "./capability.ts";
import { openPublicListener } from "./public_listener.ts";

type HoldDeps = Pick<ServeDeps, "config" | "clock" | "log">;

const POLL_MS = 5_000;
const DRAIN_MS = 1_000;

export function builderHold(deps: HoldDeps): Runnable {
  return {
    async run(signal): Promise<void> {
      const certificate = await firstCertificate(deps, signal);
      if (certificate === undefined) return;
      const { config, clock, log } = deps;
      const app = holdBuilder(openLoadLimit(OTHER_LOAD, { clock, log }));
      const listener = await openPublicListener({
        path: BUILDER_HOLD_PATH,
        handler: (request) => app.fetch(request),
        certificate: certificate.current(),
        config,
      });
      log.info("holding the machine config operator's builder", { webhookPort: listener.port });
      certificate.onChange((next) => listener.setCertificate(next));
      await certificate.run(signal);
      await listener.close(DRAIN_MS);
    },
  };
}

/** Waits until the files hold a certificate; undefined without files, or when the process ends first. */
async function firstCertificate(
  { config: { tlsCert, tlsKey }, clock, log }: HoldDeps,
  signal: AbortSignal,
): Promise<ServingCertificate | undefined> {
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  while (!signal.aborted) {
    try {
      return await openCertificateFiles({ certPath: tlsCert, keyPath: tlsKey, caPath: undefined }, { clock, log });
    } catch (error) {
      log.debug("the builder is not held by a webhook", { error: errorText(error) });
    }
    await clock.sleep(POLL_MS, signal);
  }
  return undefined;
}
