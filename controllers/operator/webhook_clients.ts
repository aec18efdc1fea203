// Keeps CA and paths in the validating webhooks and the CRD. Uses secret paths once every replica accepts them.
import { ApiError } from "../../lib/k8s/api_error.ts";
import type { JsonPatch } from "../../lib/k8s/patch.ts";
import { type KubeObject, Resource, type ResourceType } from "../../lib/k8s/types.ts";
import { errorText } from "../../lib/log.ts";
import { CONVERTED_CRD, WebhookName } from "../../lib/names.ts";
import type { Rollout } from "../../lib/operator/decide/rollout.ts";
import {
  type ClientSettings,
  planConversionClient,
  planWebhookClients,
} from "../../lib/operator/decide/webhook_clients.ts";
import type { OperatorRun } from "./deps.ts";

/** How long a terminating replica answers open connections (ms): its grace period and a margin. */
export const TERMINATING_MS = 60_000;

interface WebhookPathChoice {
  readonly pathOf: (route: string) => string;
  readonly retryMs: number | undefined;
}

/** Once a secret path is in use, paths stay secret: a roll-out of the same version must not reopen plain paths. */
export function chooseWebhookPaths(
  { secretPaths, settings, memory }: Pick<OperatorRun, "secretPaths" | "settings" | "memory">,
  rollout: Rollout,
  nowMs: number,
): WebhookPathChoice {
  memory.uniformSinceMs = rollout.uniform ? memory.uniformSinceMs ?? nowMs : undefined;
  const plain: WebhookPathChoice = { pathOf: (route) => route, retryMs: undefined };
  if (secretPaths === undefined) return plain;
  const secret: WebhookPathChoice = { pathOf: (route) => secretPaths.pathOf(route) ?? route, retryMs: undefined };
  if (secretPaths.isInUse()) return secret;
  if (memory.uniformSinceMs === undefined) return plain;
  // Without a Deployment, this is the only replica.
  const waitMs = settings.deploymentName === undefined ? 0 : memory.uniformSinceMs + TERMINATING_MS - nowMs;
  return waitMs <= 0 ? secret : { ...plain, retryMs: waitMs };
}

interface WebhookClientTarget {
  readonly type: ResourceType;
  readonly name: string;
  readonly plan: (live: KubeObject, settings: ClientSettings) => JsonPatch;
}

const TARGETS: readonly WebhookClientTarget[] = [
  { type: Resource.validatingWebhooks, name: WebhookName.validatingConfiguration, plan: planWebhookClients },
  { type: Resource.customResourceDefinitions, name: CONVERTED_CRD, plan: planConversionClient },
];

/** Updates every target. Skips missing ones and logs failures without throwing. */
export async function writeWebhookClients(run: OperatorRun, pathOf: ClientSettings["pathOf"]): Promise<void> {
  const { api, log, signal } = run;
  const settings: ClientSettings = { endpoint: run.settings.endpoint, caBundle: run.caBundle(), pathOf };
  for (const { type, name, plan } of TARGETS) {
    try {
      const operations = plan(await api.get(type, { name }, signal), settings);
      if (operations.length > 0) await api.patch(type, { name }, { body: { kind: "json", operations }, signal });
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.status === 404) continue;
      log.warn("CA bundle and path not written", { object: `${type.kind}/${name}`, error: errorText(error) });
    }
  }
}
