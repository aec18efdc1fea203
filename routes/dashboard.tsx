// The dashboard at `/` of the admin listener: one page, rendered here, without script or any other file.
import type { Context } from "hono";
import { raw } from "hono/html";
import type { JSX } from "hono/jsx/jsx-runtime";
import { DecisionsPanel, KindsPanel } from "./dashboard/decisions.tsx";
import { ExecFormatPanel } from "./dashboard/exec_format.tsx";
import { GatedPanel } from "./dashboard/gated.tsx";
import { RegistriesPanel } from "./dashboard/registries.tsx";
import { safePage } from "./dashboard/safe_page.ts";
import { Status } from "./dashboard/status.tsx";
import { DASHBOARD_STYLE } from "./dashboard/style.ts";
import { TaintsPanel } from "./dashboard/taints.tsx";
import { Tiles } from "./dashboard/tiles.tsx";
import type { DashboardView } from "./dashboard/view.ts";

const REFRESH_SECONDS = 5;

/** `GET /`: the page. */
export function dashboard(read: () => DashboardView): (context: Context) => Response | Promise<Response> {
  return safePage(() => <Page view={read()} />);
}

function Page({ view }: { view: DashboardView }): JSX.Element {
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
