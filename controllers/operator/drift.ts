// Follows the webhook configuration, so that drift is repaired when it happens and not at the next resync.
import { openReflector, type Reflector } from "../../lib/k8s/reflector.ts";
import { Resource } from "../../lib/k8s/types.ts";
import { WebhookName } from "../../lib/names.ts";
import type { OperatorDeps } from "./deps.ts";

/** Calls `onChange` whenever the webhook configuration changes. */
export function openDriftWatch({ api, clock, log }: OperatorDeps, onChange: () => void): Reflector<unknown> {
  return openReflector({
    api,
    resource: Resource.mutatingWebhooks,
    fieldSelector: `metadata.name=${WebhookName.configuration}`,
    // Only that it changed matters: the operator reads the object itself.
    parse: ({ metadata }) => metadata.resourceVersion,
    onChange,
    clock,
    log,
    name: "operator webhooks",
  });
}
