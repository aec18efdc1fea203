// The panel of containers that were to run a program of another architecture.
import type { JSX } from "hono/jsx/jsx-runtime";
import { renderDuration } from "../../lib/duration.ts";
import type { ReportedFailure } from "../../lib/exec_format/reported.ts";
import { Nothing, Panel, PodName } from "./elements.tsx";

const SHOWN = 8;

/** The latest reports of this replica; it has some only while it leads. */
export function ExecFormatPanel(
  { failures, nowMs }: { failures: readonly ReportedFailure[]; nowMs: number },
): JSX.Element {
  const shown = failures.slice(0, SHOWN);
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
