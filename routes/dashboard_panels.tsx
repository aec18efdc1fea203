// The panels of the dashboard: what waits, what was decided, how registries do. Rendered by dashboard.tsx, on the server.
import type { JSX } from "hono/jsx/jsx-runtime";
import { isKnownArchitecture } from "../lib/arch.ts";
import { type BoardEntry, type BoardSnapshot, DECISION_KINDS, type DecisionKind } from "../lib/board.ts";
import { renderDuration } from "../lib/duration.ts";
import type { FailureReason } from "../lib/oci/types.ts";

/** A pod that is held now. */
export interface GatedPod {
  /** Namespace of the pod. */
  readonly namespace: string;
  /** Its name. */
  readonly pod: string;
  /** Wall time (epoch ms) since when. */
  readonly sinceMs: number;
}

/** What is held now, as far as this replica knows: only the leader follows gated pods. */
export interface GatedView {
  /** How many there are. */
  readonly count: number;
  /** Those to be named, longest held first; may be fewer than `count`. */
  readonly pods: readonly GatedPod[];
}

/** One registry that was asked lately; a `HostState` of lib/oci is one. */
export interface RegistryView {
  /** `host[:port]` */
  readonly host: string;
  /** `open`: it keeps failing and is left alone; `half-open`: one request is let through to see. */
  readonly circuit: "closed" | "half-open" | "open";
  /** Class of the latest failure; absent when there was none. */
  readonly lastFailure?: { readonly reason: FailureReason };
  /** Requests it says are left in its window; absent when it does not say. */
  readonly remaining?: number;
}

/** Rows of the table of decisions; the board keeps more. */
const ROWS_SHOWN = 30;
const GATED_SHOWN = 8;
const REGISTRIES_SHOWN = 10;

/** What people read for a kind, its tone in the style sheet, and what it means. */
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

/** The table of the latest decisions. */
export function DecisionsPanel({ recent, nowMs }: { recent: readonly BoardEntry[]; nowMs: number }): JSX.Element {
  const shown = recent.slice(0, ROWS_SHOWN);
  if (shown.length === 0) {
    return (
      <section class="panel" aria-labelledby="decisions">
        <PanelHead id="decisions" title="Last decisions" note="" />
        <Nothing title="No decision yet" says="The first pod that passes the webhook appears here." />
      </section>
    );
  }
  return (
    <section class="panel" aria-labelledby="decisions">
      <PanelHead id="decisions" title="Last decisions" note="newest first" />
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
    </section>
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

/** What is held now. */
export function GatedPanel(
  { gated, leads, nowMs }: { gated: GatedView; leads: boolean; nowMs: number },
): JSX.Element {
  const { count, pods } = gated;
  const shown = pods.slice(0, GATED_SHOWN);
  const more = count - shown.length;
  return (
    <section class="panel" aria-labelledby="gated">
      <PanelHead id="gated" title="Gated now" note={shown.length === 0 ? "" : "longest first"} />
      {shown.length === 0 ? <NothingGated count={count} leads={leads} /> : (
        <ul class="rows">
          {shown.map(({ namespace, pod, sinceMs }) => (
            <li>
              <PodName namespace={namespace} pod={pod} />
              <span class="number held">{renderDuration(Math.max(0, nowMs - sinceMs))}</span>
            </li>
          ))}
          {more > 0 && shown.length > 0 ? <li class="more">and {more} more</li> : ""}
        </ul>
      )}
    </section>
  );
}

function NothingGated({ count, leads }: { count: number; leads: boolean }): JSX.Element {
  if (!leads) return <Nothing title="Known to the leader" says="Only the leader follows gated pods." />;
  if (count > 0) return <Nothing title={`${count} held`} says="Their names are not at hand." />;
  return <Nothing title="Nothing is held" says="Every pod that was gated has been released." />;
}

/** How many decisions of which kind: a bar for the eye, a list for everybody. */
export function KindsPanel({ totals }: { totals: BoardSnapshot["totals"] }): JSX.Element {
  const sum = DECISION_KINDS.reduce((total, kind) => total + totals[kind], 0);
  const kinds = DECISION_KINDS.filter((kind) => totals[kind] > 0);
  return (
    <section class="panel" aria-labelledby="kinds">
      <PanelHead id="kinds" title="Decisions by kind" note="since start" />
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
    </section>
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

/** The registries that were asked. */
export function RegistriesPanel({ registries }: { registries: readonly RegistryView[] }): JSX.Element {
  if (registries.length === 0) {
    return (
      <section class="panel" aria-labelledby="registries">
        <PanelHead id="registries" title="Registries" note="" />
        <Nothing title="None asked yet" says="Registries appear when the first image is inspected." />
      </section>
    );
  }
  const shown = registries.slice(0, REGISTRIES_SHOWN);
  const more = registries.length - shown.length;
  return (
    <section class="panel" aria-labelledby="registries">
      <PanelHead id="registries" title="Registries" note="quota left" />
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
    </section>
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
        {remaining === undefined ? <NoValue says="quota not told" /> : renderCount(remaining)}
      </td>
    </tr>
  );
}

function PanelHead({ id, title, note }: { id: string; title: string; note: string }): JSX.Element {
  return (
    <header>
      <h2 id={id}>{title}</h2>
      {note === "" ? "" : <span class="note">{note}</span>}
    </header>
  );
}

function Nothing({ title, says }: { title: string; says: string }): JSX.Element {
  return (
    <p class="nothing">
      <strong>{title}</strong>
      {says}
    </p>
  );
}

/** Names come from anybody: each is isolated, so that its writing direction cannot reorder its neighbours. */
function PodName({ namespace, pod }: { namespace: string; pod: string }): JSX.Element {
  return (
    <span class="name">
      <span class="namespace">
        <bdi>{namespace}</bdi>/
      </span>
      <bdi>{pod}</bdi>
    </span>
  );
}

function Architecture({ name }: { name: string }): JSX.Element {
  return <span class={`arch ${isKnownArchitecture(name) ? name : "other"}`}>{name}</span>;
}

function NoValue({ says }: { says: string }): JSX.Element {
  return (
    <span class="none">
      <span aria-hidden="true">–</span>
      <span class="unseen">{says}</span>
    </span>
  );
}

function Age({ atMs, nowMs }: { atMs: number; nowMs: number }): JSX.Element {
  const ageMs = Math.max(0, nowMs - atMs);
  const at = new Date(atMs).toISOString();
  return <time datetime={at} title={at}>{ageMs < 1_000 ? "now" : renderDuration(ageMs)}</time>;
}

/** Thousands apart, in one way whatever the machine's locale. */
export function renderCount(count: number): string {
  return count.toLocaleString("en-US");
}
