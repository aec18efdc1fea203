// Watches what the operator owns or reports on, so that drift is repaired when it happens and not at the next resync.
import { openReflector } from "../../lib/k8s/reflector.ts";
import { Resource, type ResourceType } from "../../lib/k8s/types.ts";
import { WebhookName } from "../../lib/names.ts";
import type { OperatorParts } from "./parts.ts";

/** Calls `onChange` whenever the webhook configuration or Archway's own Deployment changes, until the signal aborts. */
export async function watchDrift(
  parts: OperatorParts,
  options: { readonly onChange: () => void; readonly signal: AbortSignal },
): Promise<void> {
  const { namespace, deploymentName } = parts.settings;
  await Promise.all([
    watchOne(parts, { type: Resource.mutatingWebhooks, name: WebhookName.configuration, ...options }),
    ...deploymentName === undefined
      ? []
      : [watchOne(parts, { type: Resource.deployments, namespace, name: deploymentName, ...options })],
  ]);
}

async function watchOne(
  { api, clock, log }: OperatorParts,
  wanted: {
    readonly type: ResourceType;
    readonly namespace?: string;
    readonly name: string;
    readonly onChange: () => void;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { type, namespace, name, onChange, signal } = wanted;
  const reflector = openReflector({
    api,
    resource: type,
    ...(namespace === undefined ? {} : { namespace }),
    fieldSelector: `metadata.name=${name}`,
    // Only that it changed matters: the operator reads the object itself.
    parse: ({ metadata }) => metadata.resourceVersion,
    onChange,
    clock,
    log,
    name: `operator ${type.plural}`,
  });
  await reflector.run(signal);
}
