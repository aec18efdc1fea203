// The panel of the architecture taints: how many nodes have theirs, and what is waited for.
import type { JSX } from "hono/jsx/jsx-runtime";
import { Panel, renderCount } from "./elements.tsx";
import type { TaintsView } from "./view.ts";

const ROWS: readonly (readonly [label: string, count: (taints: TaintsView) => number])[] = [
  ["nodes tainted", ({ nodes }) => nodes.tainted],
  ["nodes to be tainted", ({ nodes }) => nodes.left],
  ["nodes opted out", ({ nodes }) => nodes.optedOut],
  ["nodes left alone: kubelet and label disagree", ({ nodes }) => nodes.disagreeing],
  ["nodes that have not reported yet", ({ nodes }) => nodes.unknown],
  ["pods without their toleration", ({ lackingPods }) => lackingPods],
];

/** How the work on the taints stands; nothing where this replica does not manage them. */
export function TaintsPanel({ taints }: { taints: TaintsView | undefined }): JSX.Element | null {
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
