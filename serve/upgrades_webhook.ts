// The webhook of UpgradeConfigs: its listener, its certificate, and its CA in the configuration that the manifests install.
import { planReview } from "../routes/check_plan.ts";
import type { Clock } from "../lib/clock.ts";
import type { KubeApi, ReadApi } from "../lib/k8s/api.ts";
import { isNotFound } from "../lib/k8s/errors.ts";
import { Resource } from "../lib/k8s/types.ts";
import { errorText, type Logger } from "../lib/log.ts";
import { PlanWebhook } from "../lib/upgrade_names.ts";
import { planWebhookClients } from "../lib/operand/webhook_clients.ts";
import { webhookEndpoint } from "../lib/operand/webhooks.ts";
import { CONNECTION_LIMITS } from "../lib/server/connection_table.ts";
import { type HttpsListener, type KeyPair, openHttpsListener } from "../lib/server/https_listener.ts";
import { openLoadLimit } from "../lib/server/load_limit.ts";
import { makePathCheck } from "../lib/server/path_check.ts";
import { openServingCertificate } from "../lib/tls/open_certificate.ts";
import type { ServingCertificate } from "../lib/tls/serving_certificate.ts";
import type { Runnable } from "../controllers/mod.ts";
import type { CapabilityParts } from "./capability.ts";
import type { ServeDeps } from "./clients.ts";

/** The webhook, open. */
export interface OpenPlanWebhook {
  readonly listener: HttpsListener;
  readonly certificate: ServingCertificate;
  /** For the leader: keeps the CA in the configuration. */
  readonly registration: Runnable;
}

/** Between two looks at the configuration, and after a write that failed (ms). */
const LOOK_MS = 60_000;
const RETRY_MS = 5_000;

/** Opens it. Rejects when the certificate's files are wrong, or the API server refuses its Secret. */
export async function openPlanWebhook(deps: ServeDeps, parts: CapabilityParts): Promise<OpenPlanWebhook> {
  const { clock, log } = deps;
  const { readApi, replicaApi, stop } = parts;
  const config = { ...deps.config, webhookService: PlanWebhook.service };
  const certificate = await openServingCertificate({ config, api: replicaApi, clock, log }, stop);
  const listener = await openPlanListener(
    { api: readApi, clock, log, signal: stop },
    { ...config.listen, certificate: certificate.current() },
  );
  let wake = new AbortController();
  certificate.onChange((next) => {
    listener.setCertificate(next);
    wake.abort();
  });
  const run = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      wake = new AbortController();
      const isWritten = await writeBundle({ config, log }, { api: parts.leaderApi, certificate, signal });
      await clock.sleep(isWritten ? LOOK_MS : RETRY_MS, AbortSignal.any([signal, wake.signal]));
    }
  };
  return { listener, certificate, registration: { run } };
}

/**
 * Opens the listener of the one path, which is that of the manifests: what it answers tells nobody more than the CRD does,
 * and what it reads does not grow with the requests. Connections have the limits of the webhooks of pods.
 */
export async function openPlanListener(
  { api, clock, log, signal }: {
    readonly api: Pick<ReadApi, "get">;
    readonly clock: Clock;
    readonly log: Logger;
    readonly signal: AbortSignal;
  },
  address: { readonly host: string; readonly port: number; readonly certificate: KeyPair },
): Promise<HttpsListener> {
  const app = planReview({ api, clock, limit: openLoadLimit({ clock, log }), signal });
  const acceptsPlain = (): boolean => true;
  return await openHttpsListener({
    ...address,
    handler: (request) => app.fetch(request),
    guard: {
      limits: CONNECTION_LIMITS,
      check: makePathCheck({ routes: [PlanWebhook.path], secretPaths: () => [], acceptsPlain }),
      acceptsPlain,
      dropped: () => {},
      began: () => {},
    },
  });
}

/** Writes the CA where the configuration points at us. Whether it stands there now; a configuration that is absent is fine. */
async function writeBundle(
  { config, log }: Pick<ServeDeps, "config" | "log">,
  { api, certificate, signal }: {
    readonly api: KubeApi;
    readonly certificate: ServingCertificate;
    readonly signal: AbortSignal;
  },
): Promise<boolean> {
  const target = { name: PlanWebhook.configuration };
  const pathOf = (route: string): string => route;
  const settings = { endpoint: webhookEndpoint(config), caBundle: certificate.current().caBundle, pathOf };
  try {
    const operations = planWebhookClients(await api.get(Resource.validatingWebhooks, target, signal), settings);
    if (operations.length === 0) return true;
    await api.patch(Resource.validatingWebhooks, target, { body: { kind: "json", operations }, signal });
    return true;
  } catch (error) {
    if (isNotFound(error)) return true;
    if (!signal.aborted) log.warn("CA bundle not written", { object: target.name, error: errorText(error) });
    return false;
  }
}
