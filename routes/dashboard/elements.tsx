// The small elements that panels share: headings, names, the absence of a value.
import type { PropsWithChildren } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";

/** A panel under its heading, with a note on its order or extent; an empty note is left out. */
export function Panel(
  { id, title, note, children }: PropsWithChildren<{ id: string; title: string; note: string }>,
): JSX.Element {
  return (
    <section class="panel" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {note === "" ? "" : <span class="note">{note}</span>}
      </header>
      {children}
    </section>
  );
}

/** The text of a panel without content: what is missing, and when it will come or where it is. */
export function Nothing({ title, says }: { title: string; says: string }): JSX.Element {
  return (
    <p class="nothing">
      <strong>{title}</strong>
      {says}
    </p>
  );
}

export function EmptyPanel(
  { id, title, what, says }: { id: string; title: string; what: string; says: string },
): JSX.Element {
  return (
    <Panel id={id} title={title} note="">
      <Nothing title={what} says={says} />
    </Panel>
  );
}

/** Names come from any user: each is isolated, so that its writing direction cannot reorder the text around it. */
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

/** A dash, with its meaning for screen readers. */
export function NoValue({ says }: { says: string }): JSX.Element {
  return (
    <span class="none">
      <span aria-hidden="true">–</span>
      <span class="unseen">{says}</span>
    </span>
  );
}

/** Separates thousands, in the same way for every locale of the machine. */
export function renderCount(count: number): string {
  return count.toLocaleString("en-US");
}

/** `1 node`, `2,000 nodes`. */
export function countOf(count: number, noun: string): string {
  return `${renderCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

export const POD_PAGE = "/pods/:namespace/:pod";

export function podPath(namespace: string, pod: string): string {
  return `/pods/${encodeURIComponent(namespace)}/${encodeURIComponent(pod)}`;
}
