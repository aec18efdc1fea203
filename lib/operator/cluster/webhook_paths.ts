// Which webhook paths are accepted: today's secret ones, and those registered in the three configurations, which are
// watched. So the API server gets no 404 after an upgrade, a new secret, or a tool that restores the plain paths.
import { RETENTION } from "../../k8s/retention.ts";
import { Reflector, type ReflectorDeps } from "../../k8s/reflector.ts";
import { Resource } from "../../k8s/types.ts";
import { CONVERTED_CRD, WebhookName, WebhookPath } from "../../names.ts";
import { registeredPaths, type WebhookEndpoint } from "../decide/webhook_clients.ts";

export interface WebhookPaths {
  run(signal: AbortSignal): Promise<void>;
  /** Paths that a configuration has or had a minute ago; also the manifests' until all configurations are read. */
  registered(): readonly string[];
  /** Whether each configuration has been read, or it is known that it cannot be. */
  hasSynced(): boolean;
  onChange(listener: () => void): void;
}

/** After this time (ms), every API server has read a changed configuration. */
const GRACE_MS = 60_000;

const WATCHED = [
  { resource: Resource.mutatingWebhooks, name: WebhookName.configuration },
  { resource: Resource.validatingWebhooks, name: WebhookName.validatingConfiguration },
  { resource: Resource.customResourceDefinitions, name: CONVERTED_CRD },
] as const;

export function openWebhookPaths(
  { endpoint, ...deps }: ReflectorDeps & { readonly endpoint: WebhookEndpoint },
): WebhookPaths {
  const listeners: (() => void)[] = [];
  /** When each path was last replaced or deleted (monotonic ms). */
  const replaced = new Map<string, number>();
  const reflectors = WATCHED.map(({ resource, name }) =>
    new Reflector<readonly string[]>({
      ...deps,
      resource,
      fieldSelector: `metadata.name=${name}`,
      parse: (object) => registeredPaths(object, endpoint),
      retain: RETENTION.ownObjects,
      onChange: ({ value, ...change }) => {
        for (const path of "previous" in change ? change.previous ?? [] : value) {
          replaced.set(path, deps.clock.monotonicMs());
        }
        for (const listener of listeners) listener();
      },
      name: `webhook paths of ${resource.plural}`,
    })
  );
  return {
    run: async (signal) => {
      await Promise.all(reflectors.map((reflector) => reflector.run(signal)));
    },
    registered: () => {
      for (const [path, atMs] of replaced) if (deps.clock.monotonicMs() - atMs >= GRACE_MS) replaced.delete(path);
      const now = reflectors.flatMap((reflector) => [...reflector.values()].flat());
      return [...now, ...replaced.keys(), ...reflectors.every(isRead) ? [] : Object.values(WebhookPath)];
    },
    hasSynced: () => reflectors.every((reflector) => reflector.state() !== "starting"),
    onChange: (listener) => void listeners.push(listener),
  };
}

/** A kind that the server does not serve counts as read: there is no such configuration. */
function isRead(reflector: Reflector<readonly string[]>): boolean {
  return ["synced", "missing"].includes(reflector.state());
}
