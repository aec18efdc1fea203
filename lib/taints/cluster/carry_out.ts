// Carries a step out: writes begin one after the other, at a steady pace.
import type { KubeApi } from "../../k8s/api.ts";
import { nodeKey, type TaintStep } from "../decide/next_step.ts";
import type { Pace, PendingWrites } from "../../k8s/write_pace.ts";
import type { Holds } from "./holds.ts";
import { patchNode, tolerate, type WriteOutcome } from "./write.ts";

export type TaintChange = "tolerate" | "taint" | "untaint";

export interface CarryOutDeps {
  readonly api: Pick<KubeApi, "patch">;
  readonly pace: Pace;
  readonly holds: Holds;
  readonly writes: PendingWrites;
  /** Called after each write. */
  readonly onWrite: (change: TaintChange, key: string, outcome: WriteOutcome) => void;
}

/** Begins the writes of the step; a step that only waits writes nothing. Throws only when the signal aborts. */
export async function carryOut(deps: CarryOutDeps, step: TaintStep, signal: AbortSignal): Promise<void> {
  const { api, pace, holds, writes, onWrite } = deps;
  const write = async (
    change: TaintChange,
    { key, version }: { readonly key: string; readonly version?: string },
    send: () => Promise<WriteOutcome>,
  ): Promise<void> => {
    await pace.turn(signal);
    signal.throwIfAborted();
    holds.begin(key);
    await writes.start(async () => {
      // A write that was stopped in the middle leaves the object free for the next term.
      let outcome: WriteOutcome = { kind: "stale" };
      try {
        outcome = await send();
      } finally {
        holds.note(key, outcome, version);
      }
      onWrite(change, key, outcome);
    });
  };
  if (step.kind === "tolerate") {
    for (const need of step.needs) await write("tolerate", need.pod, () => tolerate({ api, signal }, need));
  }
  if (step.kind !== "taint" && step.kind !== "untaint") return;
  const { node: name, version, operations } = step;
  await write(step.kind, { key: nodeKey(name), version }, () => patchNode({ api, signal }, { name, operations }));
}
