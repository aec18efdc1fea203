// The pages of placement at `/` and `/pods/NAMESPACE/NAME` of the admin listener.
import type { Context } from "hono";
import type { JSX } from "hono/jsx/jsx-runtime";
import { DecisionsPanel, KindsPanel } from "./dashboard/decisions.tsx";
import { livePage } from "./dashboard/page.tsx";
import { ArchitecturesPanel, ExecFormatPanel, GatedPanel, RegistriesPanel, TaintsPanel } from "./dashboard/panels.tsx";
import { PodPanels } from "./dashboard/pod.tsx";
import { Status, Tiles } from "./dashboard/status.tsx";
import type { DashboardView } from "./dashboard/view.ts";

type Page = (context: Context) => Promise<Response>;

export function dashboard(read: () => DashboardView): Page {
  return livePage(() => {
    const view = read();
    const title = view.gating.kind === "gating" ? "gating" : "not gating";
    return { title, heading: "", corner: <Replica view={view} />, main: <Overview view={view} /> };
  });
}

export function podPage(read: () => DashboardView): Page {
  return livePage((context) => {
    const view = read();
    const { namespace = "", pod = "" } = context.req.param();
    const main = <PodPanels view={view} namespace={namespace} pod={pod} />;
    return { title: pod, heading: "", corner: <Replica view={view} />, main };
  });
}

function Overview({ view }: { view: DashboardView }): JSX.Element {
  const { nowMs, architectures, decisions, execFormat, gated, lease, registries, taints } = view;
  return (
    <>
      <Status view={view} />
      <Tiles view={view} />
      <div class="columns">
        <div class="wide">
          <DecisionsPanel recent={decisions.recent} nowMs={nowMs} />
        </div>
        <div class="narrow">
          <GatedPanel gated={gated} leads={lease.isLeader} nowMs={nowMs} />
          {execFormat === undefined ? "" : <ExecFormatPanel failures={execFormat} nowMs={nowMs} />}
          <ArchitecturesPanel nodes={architectures} recent={decisions.recent} />
          <KindsPanel totals={decisions.totals} />
          <TaintsPanel taints={taints} />
          <RegistriesPanel registries={registries} />
        </div>
      </div>
    </>
  );
}

function Replica({ view: { identity, lease, version } }: { view: DashboardView }): JSX.Element {
  return (
    <p class="replica">
      <span>{version}</span>
      <span class="unseen">Replica</span>
      <bdi>{identity}</bdi>
      <span class={`chip ${lease.isLeader ? "lead" : "calm"}`}>{lease.isLeader ? "leader" : "follower"}</span>
    </p>
  );
}
