// Follows the webhook configuration, and the DaemonSet where there may be one, so that drift is repaired when it happens and
// not at the next resync.
import { openReflector, type Reflector } from "../../lib/k8s/reflector.ts";
import { objectAt } from "../../lib/json.ts";
import { Resource } from "../../lib/k8s/types.ts";
import { ExecFormatMonitor, WebhookName } from "../../lib/names.ts";
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

/** Calls `onChange` whenever the DaemonSet of the exec format error monitor changes, or more or fewer of its pods are ready. */
export function openMonitorWatch(
  { api, clock, log, settings }: OperatorDeps,
  onChange: () => void,
): Reflector<unknown> {
  return openReflector({
    api,
    resource: Resource.daemonSets,
    namespace: settings.namespace,
    fieldSelector: `metadata.name=${ExecFormatMonitor.daemon}`,
    parse: (object) => [object.metadata.generation, objectAt(object, "status")?.["numberReady"]],
    onChange,
    clock,
    log,
    name: "exec format error monitor",
  });
}
