// The panel of the pods that are held now.
import type { JSX } from "hono/jsx/jsx-runtime";
import { renderDuration } from "../../lib/duration.ts";
import { Nothing, Panel, PodName } from "./elements.tsx";
import type { GatedView } from "./view.ts";

const GATED_SHOWN = 8;

export function GatedPanel(
  { gated, leads, nowMs }: { gated: GatedView; leads: boolean; nowMs: number },
): JSX.Element {
  const { count, pods } = gated;
  const shown = pods.slice(0, GATED_SHOWN);
  const more = count - shown.length;
  return (
    <Panel id="gated" title="Gated now" note={shown.length === 0 ? "" : "longest first"}>
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
