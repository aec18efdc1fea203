// `--arch-taints=manage`: the controller of the leader, and on every replica the watch over the leader that lifts the taints
// when there is none.
import type { Runnable } from "../controllers/mod.ts";
import { openTaints as openController, type TaintsController } from "../controllers/taints/controller.ts";
import { watchLeaderSilence } from "../controllers/taints/fail_open.ts";
import type { Configs } from "../lib/informers/configs.ts";
import type { EventRecorder } from "../lib/k8s/event_recorder.ts";
import { openKubeApi } from "../lib/k8s/rest_api.ts";
import { LEASE_NAME } from "../lib/names.ts";
import { openTaintLifter } from "../lib/tainting/lifter.ts";
import { openPace } from "../lib/tainting/pace.ts";
import type { Clients, ServeDeps } from "./clients.ts";
import { ownTaintRule } from "./taint_rule.ts";

/** What keeps the taints. */
export interface TaintParts {
  /** For the leader. */
  readonly controller: TaintsController;
  /** For every replica. */
  readonly silenceWatch: Runnable;
}

/** Makes them; undefined where the cloud puts the taints on nodes. Nothing is asked of the API server before they run. */
export function openTaints(
  { config, access, clock, log, userAgent }: ServeDeps,
  { leaderApi, replicaApi, election, metrics }: Clients,
  { components: { events, configs }, stack }: {
    readonly components: { readonly events: EventRecorder; readonly configs: Pick<Configs, "presence" | "onChange"> };
    readonly stack: AsyncDisposableStack;
  },
): TaintParts | undefined {
  const rule = ownTaintRule(config);
  if (rule === undefined) return undefined;
  const told = { events, metrics, clock, log: log.with({ controller: "taints" }) };
  const { presence, onChange: onPresence } = configs;
  const pace = openPace(clock);
  const controller = openController({
    ...told,
    api: leaderApi,
    rule,
    pace,
    presence,
    onPresence,
    queueMetrics: metrics.queue,
  });
  // Connections and a pace of its own: it works when the rest of the process does not.
  const api = stack.use(openKubeApi(access, { clock, log, userAgent, observe: metrics.apiCall }));
  const lifter = openTaintLifter({ api, key: rule.key, pace: openPace(clock) });
  const lease = { namespace: config.namespace, name: LEASE_NAME };
  const silence = {
    ...told,
    api: replicaApi,
    lifter,
    lease,
    view: () => election.view(),
    afterMs: config.taintsFailOpenAfter,
  };
  return { controller, silenceWatch: { run: (signal) => watchLeaderSilence(silence, signal) } };
}
