// The page of image builds at `/` of their admin listener: each pool with its builds and what is published.
import type { Context } from "hono";
import type { JSX } from "hono/jsx/jsx-runtime";
import { renderDuration } from "../lib/vocabulary/duration.ts";
import { parseTime } from "../lib/vocabulary/time.ts";
import type { PoolBuildView } from "../lib/builds/decide/effects.ts";
import { EmptyPanel, Panel } from "./dashboard/elements.tsx";
import { livePage } from "./dashboard/page.tsx";
import { spaced } from "./dashboard/words.ts";

export interface BuildsPageView {
  readonly nowMs: number;
  readonly isLeader: boolean;
  readonly pools: readonly PoolBuildView[];
}

export function buildsPage(read: () => BuildsPageView): (context: Context) => Promise<Response> {
  return livePage(() => ({
    title: "image builds",
    heading: "Image builds",
    corner: "",
    main: <Pools view={read()} />,
  }));
}

function Pools({ view: { nowMs, isLeader, pools } }: { view: BuildsPageView }): JSX.Element {
  if (pools.length > 0) {
    return <div class="stages">{pools.map((pool) => <PoolPanel key={pool.pool} pool={pool} nowMs={nowMs} />)}</div>;
  }
  const [what, says] = isLeader
    ? ["No pool", "No MachineOSConfig was seen."]
    : ["Not the leader", "The replica that holds the Lease shows its builds."];
  return <EmptyPanel id="builds" title="Image builds" what={what} says={says} />;
}

function PoolPanel({ pool, nowMs }: { pool: PoolBuildView; nowMs: number }): JSX.Element {
  const { archs, published, problem, state, uncovered } = pool;
  return (
    <Panel id={`pool-${pool.pool}`} title={`Pool ${pool.pool}`} note={state}>
      <ul class="rows">
        {archs.map((build) => (
          <li>
            <span>
              {build.arch} <span class="reason">{spaced([build.state, build.reason].filter(Boolean).join(", "))}</span>
            </span>
            <span class="number">{timeOf(build, nowMs)}</span>
          </li>
        ))}
        {uncovered.map(({ node, arch }) => (
          <li>
            <span>
              <bdi>{node}</bdi> <span class="reason">no image for {arch}</span>
            </span>
          </li>
        ))}
      </ul>
      {problem === undefined ? "" : <p class="more">{`${spaced(problem.reason)}: ${problem.message}`}</p>}
      <p class="more">{published === "" ? "Nothing is published yet." : published}</p>
    </Panel>
  );
}

function timeOf(
  { startedAt, finishedAt }: { readonly startedAt?: string | undefined; readonly finishedAt?: string | undefined },
  nowMs: number,
): string {
  const startMs = parseTime(startedAt);
  return startMs === undefined ? "" : renderDuration(Math.max(0, (parseTime(finishedAt) ?? nowMs) - startMs));
}
