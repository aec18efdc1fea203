// The webhook of UpgradeConfigs: its listener, its certificate, and its CA in the configuration that the manifests install.
import { planReview, type PlanReviewDeps } from "../routes/check_plan.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/log.ts";
import { type Config, withValues } from "../lib/config/parse.ts";
import { PlanWebhook } from "../lib/upgrades/names.ts";
import { webhookEndpoint } from "../lib/operator/decide/webhook_clients.ts";
import { CONNECTION_LIMITS } from "../lib/server/connection_table.ts";
import { type HttpsListener, type HttpsListenerOptions, openHttpsListener } from "../lib/server/https_listener.ts";
import { openLoadLimit, OTHER_LOAD } from "../lib/server/load_limit.ts";
import { makePathCheck } from "../lib/server/path_check.ts";
import { openServingCertificate, readClientCa } from "../lib/tls/open_certificate.ts";
import type { ServingCertificate } from "../lib/tls/serving_certificate.ts";
import type { Runnable } from "../controllers/mod.ts";
import { openPlanWebhookRegistration } from "../controllers/plan_webhook/controller.ts";
import type { CapabilityParts, ServeDeps } from "./capability.ts";

export interface OpenPlanWebhook {
  readonly listener: HttpsListener;
  readonly certificate: ServingCertificate;
  readonly registration: Runnable;
}

export async function openPlanWebhook(deps: ServeDeps, parts: CapabilityParts): Promise<OpenPlanWebhook> {
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

/** The one path is the manifests': its answers say no more than the CRD, and reads do not grow with requests. */
export async function openPlanListener(
  { api, clock, log, signal }: Omit<PlanReviewDeps, "limit" | "clock"> & {
    readonly clock: Clock;
    readonly log: Logger;
  },
  { listen: { host, port }, certificate, webhookClientCa }:
    & Pick<HttpsListenerOptions, "certificate">
    & Pick<Config, "listen" | "webhookClientCa">,
): Promise<HttpsListener> {
  const app = planReview({ api, clock, signal, limit: openLoadLimit(OTHER_LOAD, { clock, log }) });
  return await openHttpsListener({
    host,
    port,
    certificate,
    clientCa: await readClientCa(webhookClientCa),
    handler: (request) => app.fetch(request),
    guard: {
      limits: CONNECTION_LIMITS,
      // This path is public.
      check: makePathCheck({ routes: [PlanWebhook.path], proving: undefined, pathsOf: (route) => [route] }),
      plainProves: () => false,
      dropped: () => {},
      began: () => {},
    },
  });
}
