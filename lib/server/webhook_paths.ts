// Which paths the API server calls us by: those that the three configurations carry at this moment, watched. The plain
// paths of the manifests are accepted as long as one of the configurations carries one, so that neither an installation,
// nor an upgrade, nor a tool that writes the manifests' paths back makes the API server meet a 404.
import type { Clock } from "../clock.ts";
import type { ReadApi } from "../k8s/api.ts";
import { KEPT } from "../k8s/kept.ts";
import { Reflector } from "../k8s/reflector.ts";
import { Resource } from "../k8s/types.ts";
import type { Logger } from "../log.ts";
import { WebhookName, WebhookPath } from "../names.ts";
import { carriedPaths } from "../operator/decide/webhook_clients.ts";
import type { WebhookEndpoint } from "../operator/decide/webhooks.ts";

export interface WebhookPaths {
  /** Follows the configurations until the signal aborts; never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** Whether the plain paths are in use, were until recently, or the configurations were not read yet. */
  acceptsPlain(): boolean;
  /** Whether all configurations are read and every path in them is what `pathOf` makes of its route. */
  carriesOnly(pathOf: (route: string) => string): boolean;
  /** Whether it is known what the configurations carry, or that they may not be read. */
  isSettled(): boolean;
  /** Whether any configuration carries a path that is none of the manifests'. */
  carriesSecret(): boolean;
  onChange(listener: () => void): void;
}

interface WebhookPathsDeps {
  readonly api: ReadApi;
  readonly clock: Clock;
  readonly log: Logger;
  readonly endpoint: WebhookEndpoint;
}

/** Every API server has read a changed configuration by then (ms). */
const PLAIN_GRACE_MS = 60_000;

const ROUTES: readonly string[] = Object.values(WebhookPath);

const WATCHED = [
  { resource: Resource.mutatingWebhooks, name: WebhookName.configuration },
  { resource: Resource.validatingWebhooks, name: WebhookName.validatingConfiguration },
  { resource: Resource.customResourceDefinitions, name: WebhookName.convertedDefinition },
] as const;

/** Opens the view; no request is sent to the API server before `run`. */
export function openWebhookPaths({ api, clock, log, endpoint }: WebhookPathsDeps): WebhookPaths {
  const listeners: (() => void)[] = [];
  let lastPlainMs: number | undefined;
  const reflectors = WATCHED.map(({ resource, name }) =>
    new Reflector<readonly string[]>({
      api,
      resource,
      fieldSelector: `metadata.name=${name}`,
      parse: (object) => carriedPaths(object, endpoint),
      keep: KEPT.ownObjects,
      onChange: ({ value, ...change }) => {
        const before = "previous" in change ? change.previous ?? [] : [];
        if ([...value, ...before].some(isPlain)) lastPlainMs = clock.monotonicMs();
        for (const listener of listeners) listener();
      },
      clock,
      log,
      name: `webhook paths of ${resource.plural}`,
    })
  );
  const carried = (): readonly string[] => reflectors.flatMap((reflector) => [...reflector.values()].flat());
  return {
    run: async (signal) => {
      await Promise.all(reflectors.map((reflector) => reflector.run(signal)));
    },
    acceptsPlain: () =>
      !reflectors.every(isRead) || carried().some(isPlain) ||
      lastPlainMs !== undefined && clock.monotonicMs() - lastPlainMs < PLAIN_GRACE_MS,
    carriesOnly: (pathOf) =>
      reflectors.every(isRead) && carried().every((path) => ROUTES.some((route) => path === pathOf(route))),
    isSettled: () => reflectors.every((reflector) => reflector.state() !== "starting"),
    carriesSecret: () => carried().some((path) => !isPlain(path)),
    onChange: (listener) => void listeners.push(listener),
  };
}

function isPlain(path: string): boolean {
  return ROUTES.includes(path);
}

/** A kind that the server does not serve counts as read: there is no such configuration. */
function isRead(reflector: Reflector<readonly string[]>): boolean {
  return ["synced", "missing"].includes(reflector.state());
}
