// The dashboard at `/` of the admin listener: one page, rendered here, without script or any other file. Mounted by serve.
import { createHash } from "node:crypto";
import type { Context } from "hono";
import { html, raw } from "hono/html";
import type { JSX } from "hono/jsx/jsx-runtime";
import { type BoardEntry, type BoardSnapshot, DECISION_KINDS } from "../lib/board.ts";
import { renderDuration } from "../lib/duration.ts";
import type { ConfigPresence, GatingStop, GatingVerdict } from "../lib/operand/dead_man.ts";
import {
  DecisionsPanel,
  GatedPanel,
  type GatedView,
  KindsPanel,
  RegistriesPanel,
  type RegistryView,
  renderCount,
} from "./dashboard_panels.tsx";
import { DASHBOARD_STYLE } from "./dashboard_style.ts";

/** Everything the page shows, read at one moment from memory. */
export interface DashboardView {
  /** Wall time (epoch ms) that ages are counted from. */
  readonly nowMs: number;
  /** Unique name of this replica. */
  readonly identity: string;
  /** Who holds the Lease; `lib/k8s/lease.ts` has it. */
  readonly lease: { readonly holder: string | undefined; readonly isLeader: boolean };
  /** Whether new pods are gated here, and why not. */
  readonly gating: GatingVerdict;
  /** Whether there is a ClusterPodPlacementConfig. */
  readonly config: ConfigPresence;
  /** What is held now. */
  readonly gated: GatedView;
  /** Pods waiting for a decision. */
  readonly queueDepth: number;
  /** Images known in memory. */
  readonly cachedInspections: number;
  /** Registries that were asked, in the order to show. */
  readonly registries: readonly RegistryView[];
  /** What was decided lately. */
  readonly board: BoardSnapshot;
}

const REFRESH_SECONDS = 5;
/** Bars of the little chart of gate times. */
const BARS = 24;

/** `GET /`: the page. Nothing may run in it, be loaded by it or frame it; only its own style sheet applies. */
export function dashboard(read: () => DashboardView): (context: Context) => Response | Promise<Response> {
  const styleHash = createHash("sha256").update(DASHBOARD_STYLE).digest("base64");
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
  return (context) =>
    context.html(html`<!doctype html>${<Page view={read()} />}`, 200, {
      "content-security-policy": policy,
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
    });
}

function Page({ view }: { view: DashboardView }): JSX.Element {
  const { nowMs, board, gated, lease, registries } = view;
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta http-equiv="refresh" content={String(REFRESH_SECONDS)} />
        <title>{`Archway – ${view.gating.kind === "gating" ? "gating" : "not gating"}`}</title>
        <link rel="icon" href={ICON} />
        <style>{raw(DASHBOARD_STYLE)}</style>
      </head>
      <body>
        <Masthead view={view} />
        <main>
          <Status view={view} />
          <Tiles view={view} />
          <div class="columns">
            <div class="wide">
              <DecisionsPanel recent={board.recent} nowMs={nowMs} />
            </div>
            <div class="narrow">
              <GatedPanel gated={gated} leads={lease.isLeader} nowMs={nowMs} />
              <KindsPanel totals={board.totals} />
              <RegistriesPanel registries={registries} />
            </div>
          </div>
        </main>
        <footer>
          <span>Refreshes every {REFRESH_SECONDS} s. Decisions are those of this replica since it started.</span>
          <nav aria-label="Other pages">
            <a href="/metrics">Metrics</a>
            <a href="/readyz">Readiness</a>
          </nav>
        </footer>
      </body>
    </html>
  );
}

const ARCH_PATH = "M4 28V15a12 12 0 0 1 24 0v13h-6V15a6 6 0 0 0-12 0v13z";
const ICON = `data:image/svg+xml,${
  encodeURIComponent(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path fill="#4f63d9" d="${ARCH_PATH}"/></svg>`,
  )
}`;

function Masthead({ view }: { view: DashboardView }): JSX.Element {
  const { identity, lease } = view;
  return (
    <header class="masthead">
      <h1>
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <path d={ARCH_PATH} />
          <path class="keystone" d="M14.2 3.1h3.6l.9 6.4h-5.4z" />
        </svg>
        Archway
      </h1>
      <p class="replica">
        <span class="unseen">Replica</span>
        <bdi>{identity}</bdi>
        <span class={`chip ${lease.isLeader ? "lead" : "calm"}`}>{lease.isLeader ? "leader" : "follower"}</span>
      </p>
    </header>
  );
}

/** Why pods are not gated, and what to do about it. */
const STOPPED: Readonly<Record<GatingStop, string>> = {
  ConfigUnread: "The configuration has not been read yet. New pods pass untouched until it has.",
  ConfigAbsent: "There is no ClusterPodPlacementConfig named “cluster”. Create it, and new pods are looked after.",
  ConfigLeaving: "The ClusterPodPlacementConfig is being deleted. New pods pass untouched.",
  NoLeader: "No replica holds the Lease, so nobody would lift a gate. New pods pass untouched until one does.",
  LeaderSilent: "The leader has not renewed its Lease for too long. New pods pass untouched until one does.",
};

const PRESENCE: Readonly<Record<ConfigPresence, string>> = {
  unread: "not read yet",
  absent: "absent",
  leaving: "being deleted",
  present: "present",
};

function Status({ view }: { view: DashboardView }): JSX.Element {
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
          {isGating ? "Pods wait at the door until it is known where all of their images run." : STOPPED[gating.reason]}
        </p>
      </div>
      <dl>
        <div>
          <dt>Configuration</dt>
          <dd>{PRESENCE[config]}</dd>
        </div>
        <div>
          <dt>Leader</dt>
          <dd>{lease.isLeader ? "this replica" : <bdi>{lease.holder ?? "nobody"}</bdi>}</dd>
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

function Tiles({ view }: { view: DashboardView }): JSX.Element {
  const { gated, lease, queueDepth, cachedInspections, board } = view;
  const decided = DECISION_KINDS.reduce((total, kind) => total + board.totals[kind], 0);
  return (
    <section class="tiles" aria-label="Numbers">
      <Tile
        label="Gated now"
        value={lease.isLeader ? renderCount(gated.count) : "–"}
        note={lease.isLeader ? "pods held at the door" : "known to the leader"}
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
