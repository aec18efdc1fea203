// The page of upgrades at `/` of their admin listener: the steps of the plan, what the upgrade waits for, the pools.
import type { Context } from "hono";
import type { PropsWithChildren } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import type { MachineConfigPool } from "../lib/vocabulary/machines.ts";
import { renderDuration } from "../lib/vocabulary/duration.ts";
import { renderTime } from "../lib/vocabulary/time.ts";
import { summarizePools } from "../lib/upgrades/decide/pools.ts";
import { type PlanProgress, progressOf, type StepProgress } from "../lib/upgrades/decide/progress.ts";
import type { Observation } from "../lib/upgrades/decide/types/observed.ts";
import type { UpgradeConfig } from "../lib/upgrades/decide/types/plan.ts";
import { EmptyPanel, Nothing, Panel } from "./dashboard/elements.tsx";
import { livePage } from "./dashboard/page.tsx";
import { spaced } from "./dashboard/words.ts";

export interface UpgradePageView {
  readonly nowMs: number;
  /** Observed as `undefined` when there is no plan. */
  readonly plan: Observation<UpgradeConfig | undefined>;
  readonly pools: Observation<readonly MachineConfigPool[]>;
}

const CHIP = { done: "good", skipped: "calm", waiting: "wait", open: "calm" } as const;

export function upgradePage(read: () => Promise<UpgradePageView>): (context: Context) => Promise<Response> {
  return livePage(async () => {
    const { nowMs, plan, pools } = await read();
    const main = (
      <>
        <Plan plan={plan} nowMs={nowMs} />
        <Nodes pools={pools} />
      </>
    );
    return { title: "upgrade", heading: "Upgrade", corner: "", main };
  });
}

function Plan({ plan, nowMs }: { plan: UpgradePageView["plan"]; nowMs: number }): JSX.Element {
  const empty = { id: "upgrade", title: "Upgrade" };
  if (plan.kind === "unknown") return <EmptyPanel {...empty} what="The plan could not be read" says={plan.why} />;
  if (plan.value === undefined) return <EmptyPanel {...empty} what="No plan" says="There is no UpgradeConfig." />;
  const { spec, status: { conditions } } = plan.value;
  const progress = progressOf(plan.value);
  const { steps } = progress;
  const waiting = steps.find(({ state }) => state === "waiting");
  const done = steps.filter(({ state }) => state === "done" || state === "skipped").length;
  return (
    <>
      <Panel id="upgrade" title={titleOf(progress)} note={noteOf(progress, nowMs)}>
        {steps.length === 0
          ? <Nothing title="Not begun" says={spec.suspend ? "It is suspended." : `It begins at ${spec.upgradeAt}.`} />
          : <More>{`${done} of ${steps.length} steps are complete.`}</More>}
        {waiting === undefined
          ? ""
          : <More>{`Waits: ${waiting.title}. ${waiting.message || "Nothing is said."}`}</More>}
        {conditions.filter(({ message }) => message !== "").map(({ type, status, message }) => (
          <More key={type}>{`${spaced(type)}, ${status}: ${message}`}</More>
        ))}
      </Panel>
      {steps.length === 0 ? "" : <Steps progress={progress} nowMs={nowMs} />}
    </>
  );
}

function Steps({ progress, nowMs }: { progress: PlanProgress; nowMs: number }): JSX.Element {
  const startMs = progress.startMs ?? nowMs;
  const span = { startMs, endMs: Math.max(progress.completeMs ?? nowMs, startMs + 1) };
  return (
    <div class="stages">
      {[...Map.groupBy(progress.steps, ({ stage }) => stage)].map(([stage, steps], position) => (
        <Panel key={stage} id={`stage-${position}`} title={stage} note="">
          <ul class="rows steps">
            {steps.map((step) => <Step key={step.id} step={step} span={span} />)}
          </ul>
        </Panel>
      ))}
    </div>
  );
}

function More({ children }: PropsWithChildren): JSX.Element {
  return <p class="more">{children}</p>;
}

interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

function Step({ step: { title, state, startMs, completeMs }, span }: { step: StepProgress; span: Span }): JSX.Element {
  return (
    <li>
      <span class="host">
        {title} <span class={`chip ${CHIP[state]}`}>{state}</span>
        <span class="reason">
          {state === "skipped" ? "the plan does without it" : startMs === undefined ? "" : `began ${timeOf(startMs)}`}
        </span>
      </span>
      {startMs === undefined ? "" : (
        <>
          <TimeBar state={state} startMs={startMs} endMs={completeMs ?? span.endMs} span={span} />
          <span class="number">{lengthOf(startMs, completeMs ?? span.endMs)}</span>
        </>
      )}
    </li>
  );
}

/** When in the whole upgrade a step ran, and for how long; the list says the same in words. */
function TimeBar(
  { state, startMs, endMs, span }: Span & { readonly state: StepProgress["state"]; readonly span: Span },
): JSX.Element {
  const percentOf = (ms: number): number => 100 * Math.min(1, Math.max(0, ms / (span.endMs - span.startMs)));
  const x = percentOf(startMs - span.startMs);
  const width = Math.max(0.6, percentOf(endMs - startMs));
  return (
    <svg class="time-bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      <rect class="track" width="100" height="6" />
      <rect
        class={state === "waiting" ? "gate" : "place"}
        x={Math.min(x, 100 - width).toFixed(2)}
        width={width.toFixed(2)}
        height="6"
      />
    </svg>
  );
}

function timeOf(ms: number): string {
  return renderTime(ms).slice(0, 19).replace("T", " ");
}

function lengthOf(startMs: number, endMs: number): string {
  return endMs - startMs < 1_000 ? "under 1s" : renderDuration(endMs - startMs);
}

function Nodes({ pools }: { pools: UpgradePageView["pools"] }): JSX.Element {
  if (pools.kind === "unknown") {
    return <EmptyPanel id="nodes" title="Nodes" what="The pools could not be read" says={pools.why} />;
  }
  const { machines, updatedMachines } = summarizePools(pools.value);
  return (
    <Panel id="nodes" title="Nodes" note={`${updatedMachines} of ${machines} have what their pools want`}>
      <ul class="rows">
        {pools.value.map(({ name, isPaused, isDegraded, machineCount, updatedMachineCount }) => (
          <li key={name}>
            <span>
              <bdi>{name}</bdi>{" "}
              <span class="reason">{[isPaused ? "paused" : "", isDegraded ? "degraded" : ""].join(" ").trim()}</span>
            </span>
            <span class="number">{`${updatedMachineCount} of ${machineCount}`}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function titleOf({ version, architecture }: PlanProgress): string {
  return `Upgrade to ${version}${architecture === "" ? "" : ` ${architecture}`}`;
}

function noteOf({ phase, startMs, completeMs }: PlanProgress, nowMs: number): string {
  return startMs === undefined ? phase : `${phase}, ${renderDuration(Math.max(0, (completeMs ?? nowMs) - startMs))}`;
}
