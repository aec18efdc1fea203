// The page of upgrades at `/` of their admin listener: the steps of the plan with their times, what is waited for, and how many
// nodes of each pool are done.
import type { Context } from "hono";
import type { PropsWithChildren } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import type { MachineConfigPool } from "../lib/cluster/machines.ts";
import { renderDuration } from "../lib/cluster/duration.ts";
import { summarizePools } from "../lib/upgrades/decide/pools.ts";
import { type PlanProgress, progressOf, type StepProgress } from "../lib/upgrades/decide/progress.ts";
import type { Observation } from "../lib/upgrades/decide/types/observed.ts";
import type { UpgradeConfig } from "../lib/upgrades/decide/types/plan.ts";
import { Nothing, Panel } from "./dashboard/elements.tsx";
import { PageHead, safePage } from "./dashboard/page.tsx";

export interface UpgradePageView {
  readonly nowMs: number;
  /** `undefined` inside: there is no plan. */
  readonly plan: Observation<UpgradeConfig | undefined>;
  readonly pools: Observation<readonly MachineConfigPool[]>;
}

const CHIP = { done: "good", skipped: "calm", waiting: "wait", open: "calm" } as const;

export function upgradePage(read: () => Promise<UpgradePageView>): (context: Context) => Promise<Response> {
  return async (context) => {
    const view = await read();
    return await safePage(() => <Page view={view} />)(context);
  };
}

function Page({ view: { nowMs, plan, pools } }: { view: UpgradePageView }): JSX.Element {
  return (
    <html lang="en">
      <PageHead shows="upgrade" />
      <body>
        <div class="masthead">
          <h1>Archway – upgrade</h1>
        </div>
        <main>
          <Plan plan={plan} nowMs={nowMs} />
          <Nodes pools={pools} />
        </main>
      </body>
    </html>
  );
}

function Plan({ plan, nowMs }: { plan: UpgradePageView["plan"]; nowMs: number }): JSX.Element {
  if (plan.kind === "unknown") return <Empty title="The plan could not be read" says={plan.why} />;
  if (plan.value === undefined) return <Empty title="No plan" says="There is no UpgradeConfig." />;
  const { spec, status: { conditions } } = plan.value;
  const progress = progressOf(plan.value);
  const waiting = progress.steps.find(({ state }) => state === "waiting");
  const done = progress.steps.filter(({ state }) => state === "done" || state === "skipped").length;
  return (
    <Panel id="upgrade" title={titleOf(progress)} note={noteOf(progress, nowMs)}>
      {progress.steps.length === 0
        ? <Nothing title="Not begun" says={spec.suspend ? "It is suspended." : `It begins at ${spec.upgradeAt}.`} />
        : (
          <ul class="rows">
            {progress.steps.map((step) => <Step key={step.id} step={step} nowMs={nowMs} />)}
          </ul>
        )}
      {waiting === undefined ? "" : <More>{`Waits in ${waiting.id}: ${waiting.message || "nothing is said"}`}</More>}
      {progress.steps.length === 0 ? "" : <More>{`${done} of ${progress.steps.length} steps are complete.`}</More>}
      {conditions.filter(({ message }) => message !== "").map(({ type, status, message }) => (
        <More key={type}>{`${type} ${status}: ${message}`}</More>
      ))}
    </Panel>
  );
}

function More({ children }: PropsWithChildren): JSX.Element {
  return <p class="more">{children}</p>;
}

function Empty({ title, says }: { title: string; says: string }): JSX.Element {
  return (
    <Panel id="upgrade" title="Upgrade" note="">
      <Nothing title={title} says={says} />
    </Panel>
  );
}

function Step({ step, nowMs }: { step: StepProgress; nowMs: number }): JSX.Element {
  const { id, state, startMs, completeMs } = step;
  return (
    <li>
      <span class="host">
        {id} <span class={`chip ${CHIP[state]}`}>{state}</span>
        {startMs === undefined ? "" : <span class="reason">{`began ${timeOf(startMs)}`}</span>}
      </span>
      <span class="number">{startMs === undefined ? "" : lengthOf(startMs, completeMs ?? nowMs)}</span>
    </li>
  );
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace("T", " ");
}

function lengthOf(startMs: number, endMs: number): string {
  return endMs - startMs < 1_000 ? "under 1s" : renderDuration(endMs - startMs);
}

function Nodes({ pools }: { pools: UpgradePageView["pools"] }): JSX.Element {
  if (pools.kind === "unknown") {
    return (
      <Panel id="nodes" title="Nodes" note="">
        <Nothing title="The pools could not be read" says={pools.why} />
      </Panel>
    );
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
