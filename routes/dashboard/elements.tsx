// The small elements that panels share: headings, names, the absence of a value. Used by the panels of the dashboard.
import type { JSX } from "hono/jsx/jsx-runtime";

/** The heading of a panel, and a word on its order or extent; an empty note is left out. */
export function PanelHead({ id, title, note }: { id: string; title: string; note: string }): JSX.Element {
  return (
    <header>
      <h2 id={id}>{title}</h2>
      {note === "" ? "" : <span class="note">{note}</span>}
    </header>
  );
}

/** Stands in a panel for what is not there: what is missing, and when it will come or where it is. */
export function Nothing({ title, says }: { title: string; says: string }): JSX.Element {
  return (
    <p class="nothing">
      <strong>{title}</strong>
      {says}
    </p>
  );
}

/** Names come from anybody: each is isolated, so that its writing direction cannot reorder its neighbours. */
export function PodName({ namespace, pod }: { namespace: string; pod: string }): JSX.Element {
  return (
    <span class="name">
      <span class="namespace">
        <bdi>{namespace}</bdi>/
      </span>
      <bdi>{pod}</bdi>
    </span>
  );
}

/** A dash for the eye; its words for those who listen. */
export function NoValue({ says }: { says: string }): JSX.Element {
  return (
    <span class="none">
      <span aria-hidden="true">–</span>
      <span class="unseen">{says}</span>
    </span>
  );
}

/** Thousands apart, in one way whatever the machine's locale. */
export function renderCount(count: number): string {
  return count.toLocaleString("en-US");
}
