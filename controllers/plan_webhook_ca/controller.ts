// Keeps the CA in the webhook configuration for UpgradeConfigs, which the manifests install without one.
//
//   new certificate, time ─▶ key ─▶ read the configuration ─▶ plan (lib/operator/decide/webhook_clients) ─▶ patch
import { type KubeApi, readOptional } from "../../lib/k8s/api.ts";
import { Resource } from "../../lib/k8s/types.ts";
import { type ClientSettings, planWebhookClients } from "../../lib/operator/decide/webhook_clients.ts";
import { PlanWebhook } from "../../lib/upgrades/names.ts";
import { type Controller, type ControllerDeps, openController, requeueAfter } from "../controller.ts";

interface PlanWebhookCaDeps extends ControllerDeps {
  /** Writes fail after the Lease has expired. */
  readonly api: KubeApi;
  /** What the API server should currently call. */
  readonly settings: () => ClientSettings;
}

const NAME = PlanWebhook.configuration;
/** Interval of reads (ms): the role cannot watch, and reapplying the manifests removes the CA. */
const CHECK_MS = 60_000;
const BACKOFF = { baseMs: 1_000, capMs: 10_000 } as const;

export function openPlanWebhookCa(deps: PlanWebhookCaDeps): Controller {
  const { api, settings, log } = deps;
  const type = Resource.validatingWebhooks;
  return openController({
    ...deps,
    name: "plan-webhook",
    watches: [],
    firstKey: NAME,
    parallel: 1,
    queue: { backoff: BACKOFF },
    reconcile: async (name, signal) => {
      // The configuration is optional: administrators may not want the webhook.
      const configuration = await readOptional(api, { type, name, signal });
      const operations = configuration === undefined ? [] : planWebhookClients(configuration, settings());
      if (operations.length > 0) {
        await api.patch(type, { name }, { body: { kind: "json", operations }, signal });
        log.info("CA bundle written", { object: name });
      }
      return requeueAfter(CHECK_MS);
    },
  });
}
