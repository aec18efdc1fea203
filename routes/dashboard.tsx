// The dashboard at `/` of the admin listener: one page, rendered here, without script or any other file.
import type { Context } from "hono";
import type { JSX } from "hono/jsx/jsx-runtime";
import { DecisionsPanel, KindsPanel } from "./dashboard/decisions.tsx";
import { ExecFormatPanel, GatedPanel, RegistriesPanel, TaintsPanel } from "./dashboard/panels.tsx";
import { ARCH_PATH, PageHead, REFRESH_SECONDS, safePage } from "./dashboard/page.tsx";
import { Status, Tiles } from "./dashboard/status.tsx";
import type { DashboardView } from "./dashboard/view.ts";

export function dashboard(read: () => DashboardView): (context: Context) => Response | Promise<Response> {
  return safePage(() => <Page view={read()} />);
}

function Page({ view }: { view: DashboardView }): JSX.Element {
  return (
    <html lang="en">
      <PageHead shows={view.gating.kind === "gating" ? "gating" : "not gating"} />
      <body>
        <Masthead view={view} />
        <main>
          <Status view={view} />
          <Tiles view={view} />
          <Columns view={view} />
        </main>
        <Footer />
      </body>
    </html>
  );
}

function Columns({ view }: { view: DashboardView }): JSX.Element {
  const { nowMs, board, execFormat, gated, lease, registries, taints } = view;
  return (
    <div class="columns">
      <div class="wide">
        <DecisionsPanel recent={board.recent} nowMs={nowMs} />
      </div>
      <div class="narrow">
        <GatedPanel gated={gated} leads={lease.isLeader} nowMs={nowMs} />
        {execFormat === undefined ? "" : <ExecFormatPanel failures={execFormat} nowMs={nowMs} />}
        <KindsPanel totals={board.totals} />
        <TaintsPanel taints={taints} />
        <RegistriesPanel registries={registries} />
      </div>
    </div>
  );
}

function Footer(): JSX.Element {
  return (
    <footer>
      <span>Refreshes every {REFRESH_SECONDS} s. Decisions are those of this replica since it started.</span>
      <nav aria-label="Other pages">
        <a href="/metrics">Metrics</a>
        <a href="/readyz">Readiness</a>
      </nav>
    </footer>
  );
}

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
