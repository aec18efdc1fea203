// What was decided: the latest decisions one by one, and how many of which kind.
import type { JSX } from "hono/jsx/jsx-runtime";
import { isKnownArchitecture } from "../../lib/arch.ts";
import { type BoardEntry, type BoardSnapshot, DECISION_KINDS, type DecisionKind } from "../../lib/server/board.ts";
import { renderDuration } from "../../lib/cluster/duration.ts";
import { Nothing, NoValue, Panel, PodName, renderCount } from "./elements.tsx";

/** Rows of the table of decisions; the board keeps more. */
const ROWS_SHOWN = 30;

/** The text of a kind, its tone in the style sheet, and what it means. */
const OUTCOME: Readonly<
  Record<DecisionKind, { readonly label: string; readonly tone: string; readonly says: string }>
> = {
  place: { label: "placed", tone: "good", says: "Constrained to what its images support" },
  gate: { label: "gated", tone: "wait", says: "Held until its images are known" },
  retry: { label: "retrying", tone: "warn", says: "An image could not be inspected; asked again" },
  nowhere: { label: "nowhere", tone: "bad", says: "Its images share no architecture" },
  fallback: { label: "fell back", tone: "late", says: "Given up on an image: constrained to the fallback" },
  release: { label: "released", tone: "late", says: "Given up on an image: released unconstrained" },
  bare: { label: "refused", tone: "bad", says: "The API server refused the constraint: released without" },
  ignore: { label: "left alone", tone: "calm", says: "A rule says that the pod is none of our business" },
  pass: { label: "passed", tone: "calm", says: "Admitted untouched" },
};

export function DecisionsPanel({ recent, nowMs }: { recent: readonly BoardEntry[]; nowMs: number }): JSX.Element {
  const shown = recent.slice(0, ROWS_SHOWN);
  if (shown.length === 0) {
    return (
      <Panel id="decisions" title="Last decisions" note="">
        <Nothing title="No decision yet" says="The first pod that passes the webhook appears here." />
      </Panel>
    );
  }
  return (
    <Panel id="decisions" title="Last decisions" note="newest first">
      <table role="table" class="decisions">
        <caption class="unseen">The last {shown.length} decisions of this replica, newest first</caption>
        <thead role="rowgroup">
          <tr role="row">
            <th role="columnheader" scope="col">Age</th>
            <th role="columnheader" scope="col">Pod</th>
            <th role="columnheader" scope="col">Outcome</th>
            <th role="columnheader" scope="col">Architectures</th>
            <th role="columnheader" scope="col" class="number">Gated</th>
          </tr>
        </thead>
        <tbody role="rowgroup">{shown.map((entry) => DecisionRow({ entry, nowMs }))}</tbody>
      </table>
    </Panel>
  );
}

function DecisionRow({ entry, nowMs }: { entry: BoardEntry; nowMs: number }): JSX.Element {
  const { atMs, namespace, pod, kind, reason, architectures, gatedMs } = entry;
  const { label, tone, says } = OUTCOME[kind];
  return (
    <tr role="row">
      <td role="cell" class="age">
        <Age atMs={atMs} nowMs={nowMs} />
      </td>
      <td role="cell" class="pod">
        <PodName namespace={namespace} pod={pod} />
      </td>
      <td role="cell" class="outcome">
        <span class={`chip ${tone}`} title={says}>{label}</span>
        {reason.toLowerCase() === label.replace(" ", "") ? "" : <span class="reason">{reason}</span>}
      </td>
      <td role="cell" class="architectures">
        {architectures.length === 0
          ? <NoValue says="no requirement" />
          : architectures.map((name) => Architecture({ name }))}
      </td>
      <td role="cell" class="held number">
        {gatedMs === undefined ? <NoValue says="not held" /> : renderDuration(gatedMs)}
      </td>
    </tr>
  );
}

function Architecture({ name }: { name: string }): JSX.Element {
  return <span class={`arch ${isKnownArchitecture(name) ? name : "other"}`}>{name}</span>;
}

function Age({ atMs, nowMs }: { atMs: number; nowMs: number }): JSX.Element {
  const ageMs = Math.max(0, nowMs - atMs);
  const at = new Date(atMs).toISOString();
  return <time datetime={at} title={at}>{ageMs < 1_000 ? "now" : renderDuration(ageMs)}</time>;
}

/** How many decisions of which kind: a bar, and the same as a list for screen readers. */
export function KindsPanel({ totals }: { totals: BoardSnapshot["totals"] }): JSX.Element {
  const sum = DECISION_KINDS.reduce((total, kind) => total + totals[kind], 0);
  const kinds = DECISION_KINDS.filter((kind) => totals[kind] > 0);
  return (
    <Panel id="kinds" title="Decisions by kind" note="since start">
      {sum === 0 ? <Nothing title="None so far" says="Counted from the start of this process." /> : (
        <>
          <KindsBar totals={totals} sum={sum} />
          <ul class="legend">
            {kinds.map((kind) => (
              <li title={OUTCOME[kind].says}>
                <svg class={`dot ${kind}`} viewBox="0 0 10 10" aria-hidden="true">
                  <circle cx="5" cy="5" r="5" />
                </svg>
                {OUTCOME[kind].label}
                <span class="number">{renderCount(totals[kind])}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </Panel>
  );
}

function KindsBar({ totals, sum }: { totals: BoardSnapshot["totals"]; sum: number }): JSX.Element {
  let x = 0;
  const parts = DECISION_KINDS.filter((kind) => totals[kind] > 0).map((kind) => {
    const part = { kind, x, width: (totals[kind] / sum) * 100 };
    x += part.width;
    return part;
  });
  return (
    <svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      {parts.map(({ kind, x, width }) => (
        <rect class={kind} x={x.toFixed(3)} y="0" width={width.toFixed(3)} height="10" />
      ))}
    </svg>
  );
}
