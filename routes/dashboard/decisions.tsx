// The latest pods with what was decided about them, a line each, and the number of decisions of each kind.
import type { JSX } from "hono/jsx/jsx-runtime";
import { isKnownArchitecture } from "../../lib/arch.ts";
import { renderDuration } from "../../lib/vocabulary/duration.ts";
import { renderExactTime } from "../../lib/vocabulary/time.ts";
import {
  DECISION_KINDS,
  type DecisionKind,
  type DecisionsSnapshot,
  type RecentDecision,
} from "../../lib/placement/decide/history/recent_decisions.ts";
import { historiesOf, latestOf, type PodHistory } from "../../lib/placement/decide/history/pod_histories.ts";
import { EmptyPanel, Nothing, NoValue, Panel, PodName, podPath, renderCount } from "./elements.tsx";
import { KIND_WORDS, wordsOf } from "./words.ts";

/** Rows of the table of pods; more are kept. */
const ROWS_SHOWN = 30;

export function DecisionsPanel({ recent, nowMs }: { recent: readonly RecentDecision[]; nowMs: number }): JSX.Element {
  const shown = historiesOf(recent).slice(0, ROWS_SHOWN);
  if (shown.length === 0) {
    const says = "The first pod that passes the webhook appears here.";
    return <EmptyPanel id="decisions" title="Pods" what="No decision yet" says={says} />;
  }
  return (
    <Panel id="decisions" title="Pods" note="latest first">
      <table role="table" class="decisions">
        <caption class="unseen">The last {shown.length} pods of this replica, latest decision first</caption>
        <thead role="rowgroup">
          <tr role="row">
            <th role="columnheader" scope="col">Age</th>
            <th role="columnheader" scope="col">Pod</th>
            <th role="columnheader" scope="col">What became of it</th>
            <th role="columnheader" scope="col">May run on</th>
            <th role="columnheader" scope="col" class="number">Gated</th>
          </tr>
        </thead>
        <tbody role="rowgroup">{shown.map((history) => PodRow({ history, nowMs }))}</tbody>
      </table>
    </Panel>
  );
}

function PodRow({ history, nowMs }: { history: PodHistory; nowMs: number }): JSX.Element {
  const entry = latestOf(history);
  const { atMs, namespace, pod, architectures, images, gatedMs } = entry;
  const failed = images.find(({ failure }) => failure !== "");
  return (
    <tr role="row">
      <td role="cell" class="age">
        <Age atMs={atMs} nowMs={nowMs} />
      </td>
      <td role="cell" class="pod">
        <a href={podPath(namespace, pod)}>
          <PodName namespace={namespace} pod={pod} />
        </a>
      </td>
      <td role="cell" class="outcome">
        <History history={history} />
        <span class="reason">{wordsOf(entry)}</span>
        {failed === undefined ? "" : (
          <span class="reason image">
            <bdi>{failed.image}</bdi>
          </span>
        )}
      </td>
      <td role="cell" class="architectures">
        <Architectures names={architectures} />
      </td>
      <td role="cell" class="held number">
        {gatedMs === undefined ? <NoValue says="not held" /> : renderDuration(gatedMs)}
      </td>
    </tr>
  );
}

function History({ history: { entries } }: { history: PodHistory }): JSX.Element {
  const steps: { kind: DecisionKind; times: number }[] = [];
  for (const { kind } of entries) {
    const last = steps.at(-1);
    if (last?.kind === kind) last.times++;
    else steps.push({ kind, times: 1 });
  }
  return (
    <span class="way">
      {steps.map(({ kind, times }, position) => {
        const { label, tone } = KIND_WORDS[kind];
        const isLast = position === steps.length - 1;
        return (
          <>
            <span class={isLast ? `chip ${tone}` : "before"}>{times === 1 ? label : `${label} × ${times}`}</span>
            {isLast ? "" : <span class="before">›</span>}
          </>
        );
      })}
    </span>
  );
}

export function Architectures({ names }: { names: readonly string[] }): JSX.Element {
  if (names.length === 0) return <NoValue says="no requirement" />;
  return (
    <>
      {names.map((name) => Architecture({ name }))}
    </>
  );
}

function Architecture({ name }: { name: string }): JSX.Element {
  return <span class={`arch ${isKnownArchitecture(name) ? name : "other"}`}>{name}</span>;
}

export function Age({ atMs, nowMs }: { atMs: number; nowMs: number }): JSX.Element {
  const ageMs = Math.max(0, nowMs - atMs);
  const at = renderExactTime(atMs);
  return <time datetime={at} title={at}>{ageMs < 1_000 ? "now" : renderDuration(ageMs)}</time>;
}

/** The number of decisions of each kind: a bar, and the same as a list for screen readers. */
export function KindsPanel({ totals }: { totals: DecisionsSnapshot["totals"] }): JSX.Element {
  const sum = DECISION_KINDS.reduce((total, kind) => total + totals[kind], 0);
  const kinds = DECISION_KINDS.filter((kind) => totals[kind] > 0);
  return (
    <Panel id="kinds" title="Decisions by kind" note="since start">
      {sum === 0 ? <Nothing title="None so far" says="Counted from the start of this process." /> : (
        <>
          <KindsBar totals={totals} sum={sum} />
          <ul class="legend">
            {kinds.map((kind) => (
              <li>
                <svg class={`dot ${kind}`} viewBox="0 0 10 10" aria-hidden="true">
                  <circle cx="5" cy="5" r="5" />
                </svg>
                {KIND_WORDS[kind].label}
                <span class="number">{renderCount(totals[kind])}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </Panel>
  );
}

function KindsBar({ totals, sum }: { totals: DecisionsSnapshot["totals"]; sum: number }): JSX.Element {
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
