// What runs on every replica, and what on the leader alone. Called by serve.
import { ALL_NAMESPACES } from "../controllers/audit/catch_up.ts";
import { openAudit } from "../controllers/audit/controller.ts";
import { openDaemonSetWatch } from "../controllers/daemonsets/controller.ts";
import { runLeading, type Runnable } from "../controllers/mod.ts";
import { watchGating } from "../controllers/gating_status/controller.ts";
import { openPrewarm } from "../controllers/prewarm/controller.ts";
import type { ServeDeps } from "./clients.ts";
import { type Components, followsNodes } from "./components.ts";
import { watchEventLoop } from "../lib/server/event_loop.ts";

/** What runs where: see controllers/mod.ts. Switches of the configuration decide about the optional ones. */
export function controllersOf(parts: ServeDeps, components: Components): Parameters<typeof runLeading>[0] {
  const { config, clock, log, identity } = parts;
  const { api, configs, globalPullSecret, lease, live, audited, verdict } = components;
  const shared = { ...components, clock, log };
  const optional = (wanted: boolean, open: () => Runnable): readonly Runnable[] => wanted ? [open()] : [];
  return {
    api,
    clock,
    log,
    namespace: config.namespace,
    identity,
    everywhere: [
      configs,
      audited,
      components.certificate,
      components.imageService,
      ...globalPullSecret === undefined ? [] : [globalPullSecret],
      ...optional(followsNodes(parts), () => live),
      ...optional(config.prewarm, () => openPrewarm({ ...shared, tagTtlMs: config.tagTtl })),
      { run: (signal) => watchGating({ api, clock, log, verdict }, signal) },
      { run: (signal) => watchEventLoop({ clock, observe: components.metrics.eventLoopDelay }, signal) },
    ],
    leading: [
      components.podPlacement,
      components.operator,
      openAudit({ ...shared, audited: () => config.audit ? [ALL_NAMESPACES] : audited.names() }),
      ...optional(
        config.daemonsets === "warn",
        () => openDaemonSetWatch({ ...shared, liveArchitectures: () => live.current() }),
      ),
    ],
    isSettled: () => configs.hasSynced() && (globalPullSecret?.isSettled() ?? true),
    onLease: (view) => {
      lease.view = view;
    },
  };
}
