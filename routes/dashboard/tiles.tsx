// The numbers of the page at one glance, and how long pods were held.
import type { JSX } from "hono/jsx/jsx-runtime";
import { type BoardEntry, DECISION_KINDS } from "../../lib/server/board.ts";
import { renderDuration } from "../../lib/duration.ts";
import { renderCount } from "./elements.tsx";
import type { DashboardView } from "./view.ts";

const BARS = 24;

/** The row of numbers. What only the leader has is a dash elsewhere. */
export function Tiles({ view }: { view: DashboardView }): JSX.Element {
  const { gated, lease, queueDepth, cachedInspections, board } = view;
  const decided = DECISION_KINDS.reduce((total, kind) => total + board.totals[kind], 0);
  return (
    <section class="tiles" aria-label="Numbers">
      <Tile
        label="Gated now"
        value={lease.isLeader ? renderCount(gated.count) : "–"}
        note={lease.isLeader ? "pods gated now" : "known to the leader"}
      />
      <Tile
        label="Queue"
        value={lease.isLeader ? renderCount(queueDepth) : "–"}
        note={lease.isLeader ? "waiting for a decision" : "kept by the leader"}
      />
      <Tile label="Images known" value={renderCount(cachedInspections)} note="inspections in the cache" />
      <Tile label="Decisions" value={renderCount(decided)} note="since start" />
      <GateTimes recent={board.recent} />
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

/** How long pods were held: the middle, the slow end, and a bar each, on a logarithmic scale from 1 ms to a minute. */
function GateTimes({ recent }: { recent: readonly BoardEntry[] }): JSX.Element {
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
