// The panels of short lists: gated pods, nodes, exec format errors, architecture taints, registries.
import type { JSX } from "hono/jsx/jsx-runtime";
import { renderDuration } from "../../lib/vocabulary/duration.ts";
import { countOf, EmptyPanel, Nothing, NoValue, Panel, PodName, renderCount } from "./elements.tsx";
import type { TaintProgress } from "../../lib/taints/decide/progress.ts";
import type { RecentDecision } from "../../lib/placement/decide/history/recent_decisions.ts";
import { Architectures } from "./decisions.tsx";
import type { DashboardView, GatedView, RegistryView } from "./view.ts";
import type { ReportedFailure } from "../../lib/exec_format/reported.ts";

const GATED_SHOWN = 8;

export function GatedPanel(
  { gated, leads, nowMs }: { gated: GatedView; leads: boolean; nowMs: number },
): JSX.Element {
  const { count, pods } = gated;
  const shown = pods.slice(0, GATED_SHOWN);
  const more = count - shown.length;
  return (
    <Panel id="gated" title="Gated pods" note={shown.length === 0 ? "" : "longest first"}>
      {shown.length === 0 ? <NothingGated count={count} leads={leads} /> : (
        <ul class="rows">
          {shown.map(({ namespace, pod, sinceMs }) => (
            <li>
              <PodName namespace={namespace} pod={pod} />
              <span class="number held">{renderDuration(Math.max(0, nowMs - sinceMs))}</span>
            </li>
          ))}
          {more > 0 ? <li class="more">and {more} more</li> : ""}
        </ul>
      )}
    </Panel>
  );
}

function NothingGated({ count, leads }: { count: number; leads: boolean }): JSX.Element {
  if (!leads) return <Nothing title="Known to the leader" says="Only the leader follows gated pods." />;
  if (count > 0) return <Nothing title={`${count} held`} says="Their names are not at hand." />;
  return <Nothing title="Nothing is held" says="Every pod that was gated has been released." />;
}

/** Nodes of each architecture, and how many of the pods that were placed lately may run there. */
export function ArchitecturesPanel(
  { nodes, recent }: { nodes: DashboardView["architectures"]; recent: readonly RecentDecision[] },
): JSX.Element {
  const placed = recent.filter(({ architectures }) => architectures.length > 0);
  const names = [...new Set([...(nodes?.keys() ?? []), ...placed.flatMap(({ architectures }) => architectures)])]
    .sort();
  return (
    <Panel id="architectures" title="Nodes and pods" note={`last ${placed.length} constrained`}>
      {names.length === 0
        ? <Nothing title="No node is known" says="Nodes are read from the cluster." />
        : (
          <ul class="rows">
            {names.map((name) => (
              <li>
                <Architectures names={[name]} />
                <span class="number">
                  {nodes === undefined ? "" : `${countOf(nodes.get(name) ?? 0, "node")}, `}
                  {countOf(placed.filter(({ architectures }) => architectures.includes(name)).length, "pod")}
                </span>
              </li>
            ))}
          </ul>
        )}
    </Panel>
  );
}

const FAILURES_SHOWN = 8;

export function ExecFormatPanel(
  { failures, nowMs }: { failures: readonly ReportedFailure[]; nowMs: number },
): JSX.Element {
  const shown = failures.slice(0, FAILURES_SHOWN);
  return (
    <Panel id="exec-format" title="Exec format errors" note={shown.length === 0 ? "" : "newest first"}>
      {shown.length === 0
        ? <Nothing title="None reported" says="No container was seen that runs a program of another architecture." />
        : (
          <ul class="rows">
            {shown.map(({ namespace, pod, container, node, architecture, atMs }) => (
              <li>
                <span>
                  <PodName namespace={namespace} pod={pod} />{" "}
                  <span class="reason">
                    <bdi>{container === "" ? "a container" : container}</bdi> on <bdi>{node}</bdi> ({architecture})
                  </span>
                </span>
                <span class="number">{renderDuration(Math.max(0, nowMs - atMs))}</span>
              </li>
            ))}
          </ul>
        )}
    </Panel>
  );
}

const ROWS: readonly (readonly [label: string, count: (taints: TaintProgress) => number])[] = [
  ["nodes tainted", ({ nodes }) => nodes.tainted],
  ["nodes to be tainted", ({ nodes }) => nodes.left],
  ["nodes opted out", ({ nodes }) => nodes.optedOut],
  ["nodes left alone: kubelet and label disagree", ({ nodes }) => nodes.disagreeing],
  ["nodes that have not reported yet", ({ nodes }) => nodes.unknown],
  ["pods without their toleration", ({ lackingPods }) => lackingPods],
];

export function TaintsPanel({ taints }: { taints: TaintProgress | undefined }): JSX.Element | null {
  if (taints === undefined) return null;
  return (
    <Panel id="taints" title="Architecture taints" note={taints.phase}>
      <ul class="rows">
        {ROWS.filter(([, count], at) => at === 0 || count(taints) > 0).map(([label, count]) => (
          <li>
            <span>{label}</span>
            <span class="number">{renderCount(count(taints))}</span>
          </li>
        ))}
      </ul>
      <p class="more">{taints.message}</p>
    </Panel>
  );
}

const REGISTRIES_SHOWN = 10;

export function RegistriesPanel({ registries }: { registries: readonly RegistryView[] }): JSX.Element {
  if (registries.length === 0) {
    const says = "Registries appear when the first image is inspected.";
    return <EmptyPanel id="registries" title="Registries" what="None asked yet" says={says} />;
  }
  const failingFirst = registries.toSorted((a, b) => Number(a.circuit === "closed") - Number(b.circuit === "closed"));
  const shown = failingFirst.slice(0, REGISTRIES_SHOWN);
  const more = registries.length - shown.length;
  return (
    <Panel id="registries" title="Registries" note="quota left">
      <table role="table" class="registries">
        <caption class="unseen">Registries: circuit, last error and requests left</caption>
        <thead role="rowgroup" class="unseen">
          <tr role="row">
            <th role="columnheader" scope="col">Registry and last error</th>
            <th role="columnheader" scope="col">Circuit</th>
            <th role="columnheader" scope="col">Quota</th>
          </tr>
        </thead>
        <tbody role="rowgroup">{shown.map((registry) => RegistryRow({ registry }))}</tbody>
      </table>
      {more > 0 ? <p class="more">and {more} more</p> : ""}
    </Panel>
  );
}

const CIRCUIT: Readonly<Record<RegistryView["circuit"], { readonly label: string; readonly tone: string }>> = {
  "closed": { label: "healthy", tone: "good" },
  "half-open": { label: "probing", tone: "warn" },
  "open": { label: "held back", tone: "bad" },
};

function RegistryRow({ registry }: { registry: RegistryView }): JSX.Element {
  const { host, circuit, lastFailure, remaining } = registry;
  const { label, tone } = CIRCUIT[circuit];
  return (
    <tr role="row">
      <td role="cell" class="host">
        <bdi>{host}</bdi>
        <span class="reason">{lastFailure === undefined ? "no error" : `last error ${lastFailure.reason}`}</span>
      </td>
      <td role="cell">
        <span class={`chip ${tone}`} title={`circuit ${circuit}`}>{label}</span>
      </td>
      <td role="cell" class="number">
        {remaining === undefined ? <NoValue says="quota unknown" /> : renderCount(remaining)}
      </td>
    </tr>
  );
}
