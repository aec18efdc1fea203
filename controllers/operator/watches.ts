// Single objects that the operator watches, to repair drift at once.
import { objectAt } from "../../lib/json.ts";
import type { Change } from "../../lib/k8s/object_cache.ts";
import { RETENTION } from "../../lib/k8s/retention.ts";
import { Reflector } from "../../lib/k8s/reflector.ts";
import { type KubeObject, Resource, type ResourceType } from "../../lib/k8s/types.ts";
import { ExecFormatMonitor, Installation, WebhookName } from "../../lib/names.ts";
import type { OperatorDeps } from "./deps.ts";

interface OwnWatch {
  readonly resource: ResourceType;
  readonly name: string;
  readonly parse: (object: KubeObject) => unknown;
  /** Whether a change matters. Default: all do. */
  readonly matters?: (change: Change<unknown>) => boolean;
  readonly watchName: string;
}

const OWN: readonly OwnWatch[] = [
  {
    resource: Resource.mutatingWebhooks,
    name: WebhookName.configuration,
    parse: ({ metadata }) => metadata.resourceVersion,
    watchName: "operator webhooks",
  },
  {
    resource: Resource.serviceAccounts,
    name: Installation.serviceAccount,
    parse: ({ metadata }) => metadata.deletionTimestamp ?? "",
    // Only the start of the account's deletion matters.
    matters: ({ kind, value }) => kind === "apply" && value !== "",
    watchName: "own account",
  },
];

const OF_MONITOR: readonly OwnWatch[] = [
  {
    resource: Resource.daemonSets,
    name: ExecFormatMonitor.daemon,
    parse: (object) => [object.metadata.generation, objectAt(object, "status")?.["numberReady"]],
    watchName: "exec format error monitor",
  },
  {
    resource: Resource.deployments,
    name: Installation.deployment,
    parse: ({ metadata }) => metadata.deletionTimestamp ?? "",
    // The Deployment's finalizer is removed when its deletion begins, and added to a new Deployment.
    matters: (change) => change.kind === "apply" && change.value !== change.previous,
    watchName: "own deployment",
  },
];

/** Calls `onChange` when a watched object changes. Watches the exec format error monitor only if it may exist. */
export function openOwnWatches(
  { api, clock, log, settings: { namespace, execFormatImage } }: OperatorDeps,
  onChange: () => void,
): readonly Reflector<unknown>[] {
  const watches = execFormatImage === undefined ? OWN : [...OWN, ...OF_MONITOR];
  return watches.map(({ resource, name, parse, matters = () => true, watchName }) =>
    new Reflector<unknown>({
      api,
      clock,
      log,
      resource,
      parse,
      retain: RETENTION.ownObjects,
      name: watchName,
      ...resource.namespaced ? { namespace } : {},
      fieldSelector: `metadata.name=${name}`,
      onChange: (change) => matters(change) ? onChange() : undefined,
    })
  );
}
