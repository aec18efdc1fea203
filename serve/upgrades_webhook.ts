// The webhook of UpgradeConfigs: its listener, its certificate, and its CA in the configuration that the manifests install.
import { planReview, type PlanReviewDeps } from "../routes/check_plan.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/log.ts";
import { type Config, withValues } from "../lib/config/parse.ts";
import { PlanWebhook } from "../lib/upgrades/names.ts";
import { webhookEndpoint } from "../lib/operator/decide/webhook_clients.ts";
import type { HttpsListener, HttpsListenerOptions } from "../lib/server/https_listener.ts";
import { openLoadLimit, OTHER_LOAD } from "../lib/server/load_limit.ts";
import { openServingCertificate } from "../lib/server/certificate/open_certificate.ts";
import type { ServingCertificate } from "../lib/server/certificate/serving_certificate.ts";
import type { Runnable } from "../controllers/controller.ts";
import { openPlanWebhookRegistration } from "../controllers/plan_webhook/controller.ts";
import type { CapabilityParts, ServeDeps } from "./capability.ts";
import { openPublicListener } from "./public_listener.ts";

export async function openPlanWebhook(deps: ServeDeps, parts: CapabilityParts): Promise<{
  readonly listener: HttpsListener;
  readonly certificate: ServingCertificate;
  readonly registration: Runnable;
}> {
  const { clock, log } = deps;
  const { readApi, replicaApi, stop } = parts;
  const config = withValues(deps.config, { webhookService: PlanWebhook.service });
  const certificate = await openServingCertificate({ config, api: replicaApi, clock, log }, stop);
  const listener = await openPlanListener(
    { api: readApi, clock, log, signal: stop },
    { listen: config.listen, certificate: certificate.current(), webhookClientCa: config.webhookClientCa },
  );
  const endpoint = webhookEndpoint(config);
  const registration = openPlanWebhookRegistration({
    api: parts.leaderApi,
    clock,
    log: log.with({ controller: "plan-webhook" }),
    settings: () => ({ endpoint, caBundle: certificate.current().caBundle, pathOf: (route) => route }),
    queueMetrics: parts.clientMetrics.queue,
  });
  certificate.onChange((next) => {
    listener.setCertificate(next);
    registration.enqueue(PlanWebhook.configuration);
  });
  return { listener, certificate, registration };
}

/** Its path may be public: answers say no more than the CRD, and reads do not grow with requests. */
export async function openPlanListener(
  { api, clock, log, signal }: Omit<PlanReviewDeps, "limit" | "clock"> & {
    readonly clock: Clock;
    readonly log: Logger;
  },
  { listen, certificate, webhookClientCa }:
    & Pick<HttpsListenerOptions, "certificate">
    & Pick<Config, "listen" | "webhookClientCa">,
): Promise<HttpsListener> {
  const app = planReview({ api, clock, signal, limit: openLoadLimit(OTHER_LOAD, { clock, log }) });
  return await openPublicListener({
    path: PlanWebhook.path,
    handler: (request) => app.fetch(request),
    certificate,
    config: { listen, webhookClientCa },
  });
}
