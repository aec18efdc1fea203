// The top of the page: whether new pods are gated, why not and what to do; its numbers, and how long pods were gated.
import type { JSX } from "hono/jsx/jsx-runtime";
import type { ConfigPresence, GatingStop } from "../../lib/operator/decide/gating_health.ts";
import type { DashboardView } from "./view.ts";
import { DECISION_KINDS, type RecentDecision } from "../../lib/placement/decide/history/recent_decisions.ts";
import { renderDuration } from "../../lib/vocabulary/duration.ts";
import { renderCount } from "./elements.tsx";

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
  deleting: "being deleted",
  present: "present",
};

/** Whether new pods are gated here, with the configuration and the leader that this depends on. */
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

const BARS = 24;

export function Tiles({ view }: { view: DashboardView }): JSX.Element {
  const { gated, lease, queueDepth, cachedInspections, decisions } = view;
  const decided = DECISION_KINDS.reduce((total, kind) => total + decisions.totals[kind], 0);
  return (
    <section class="tiles" aria-label="Numbers">
      <Tile
        label="Gated now"
        value={lease.isLeader ? renderCount(gated.count) : "–"}
        note={lease.isLeader ? "pods" : "known to the leader"}
      />
      <Tile
        label="Queue"
        value={lease.isLeader ? renderCount(queueDepth) : "–"}
        note={lease.isLeader ? "waiting for a decision" : "kept by the leader"}
      />
      <Tile label="Images known" value={renderCount(cachedInspections)} note="inspections in the cache" />
      <Tile label="Decisions" value={renderCount(decided)} note="since start" />
      <GateTimes recent={decisions.recent} />
    </section>
  );
}

function Tile({ label, value, note }: { label: string; value: string; note: string }): JSX.Element {
  return (
    <div class="tile">
      <h2>{label}</h2>
      <p class="value">{value}</p>
      <p class="note">{note}</p>
    </div>
  );
}

/** How long pods were gated: median, 95th percentile, and a bar per pod, logarithmic from 1 ms to a minute. */
function GateTimes({ recent }: { recent: readonly RecentDecision[] }): JSX.Element {
  const times = recent.filter(({ kind }) => kind !== "gate" && kind !== "retry")
    .flatMap(({ gatedMs }) => (gatedMs === undefined ? [] : [gatedMs]));
  if (times.length === 0) return <Tile label="Time gated" value="–" note="no pod was held yet" />;
  const sorted = times.toSorted((a, b) => a - b);
  const rank = (share: number): string => renderDuration(sorted[Math.ceil(share * sorted.length) - 1] ?? 0);
  return (
    <div class="tile times">
      <h2>Time gated</h2>
      <p class="value">
        {rank(0.5)} <small>median</small>
      </p>
      <p class="note">95 % within {rank(0.95)}</p>
      <GateTimesChart times={times.slice(0, BARS).reverse()} />
    </div>
  );
}

/** Oldest to the left; newest at the right edge. */
function GateTimesChart({ times }: { times: readonly number[] }): JSX.Element {
  const bar = (ms: number, position: number): JSX.Element => {
    const height = 2 + 28 * Math.min(1, Math.log(1 + Math.max(0, ms)) / Math.log(60_000));
    const x = (BARS - times.length + position) * 5;
    return <rect x={x} y={(30 - height).toFixed(1)} width="3.4" height={height.toFixed(1)} rx="1.2" />;
  };
  return (
    <svg viewBox={`0 0 ${BARS * 5 - 1.6} 30`} preserveAspectRatio="xMaxYMax meet" aria-hidden="true">
      {times.map(bar)}
    </svg>
  );
}
