// The panel that shows whether new pods are gated, why not, and what to do about it.
import type { JSX } from "hono/jsx/jsx-runtime";
import type { ConfigPresence, GatingStop } from "../../lib/operator/decide/gating_health.ts";
import type { DashboardView } from "./view.ts";

/** Why pods are not gated, and what to do about it. */
const STOPPED: Readonly<Record<GatingStop, string>> = {
  ConfigUnread: "The configuration has not been read yet. New pods pass untouched until it has.",
  ConfigAbsent: "There is no ClusterPodPlacementConfig named “cluster”. Create it, and new pods are looked after.",
  ConfigLeaving: "The ClusterPodPlacementConfig is being deleted. New pods pass untouched.",
  LeaderImpaired:
    "The leader cannot watch or release pods, so no gate would be removed. New pods pass untouched until it can.",
  NoLeader: "No replica holds the Lease, so no gate would be removed. New pods pass untouched until one does.",
  LeaderSilent: "The leader has not renewed its Lease for too long. New pods pass untouched until one does.",
};

const PRESENCE: Readonly<Record<ConfigPresence, string>> = {
  unread: "not read yet",
  absent: "absent",
  leaving: "being deleted",
  present: "present",
};

/** Whether new pods are gated here, with the configuration and the leader that this hangs on. */
export function Status({ view }: { view: DashboardView }): JSX.Element {
  const { gating, config, lease } = view;
  const isGating = gating.kind === "gating";
  return (
    <section class={`status ${isGating ? "good" : "warn"}`} aria-labelledby="status">
      <svg class="lamp" viewBox="0 0 24 24" aria-hidden="true">
        <circle cx="12" cy="12" r="12" />
        <path d={isGating ? "M7 12.5l3.4 3.4L17 9" : "M12 6.5v6.5M12 16.6v.4"} />
      </svg>
      <div>
        <h2 id="status">{isGating ? "Gating new pods" : "Not gating new pods"}</h2>
        <p>
          {isGating
            ? "New pods are gated until the architectures of all their images are known."
            : STOPPED[gating.reason]}
        </p>
      </div>
      <dl>
        <div>
          <dt>Configuration</dt>
          <dd>{PRESENCE[config]}</dd>
        </div>
        <div>
          <dt>Leader</dt>
          <dd>{lease.isLeader ? "this replica" : <bdi>{lease.holder ?? "none"}</bdi>}</dd>
        </div>
        {isGating ? "" : (
          <div>
            <dt>Reason</dt>
            <dd>{gating.reason}</dd>
          </div>
        )}
      </dl>
    </section>
  );
}
