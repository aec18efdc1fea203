// A model of a cluster under an upgrade: its release and its nodes change when a test says so, and the effects of the upgrade on
// it are kept. Status and effects survive a reconcile that is interrupted, as they would in the API server.
import type { MachineConfigPool } from "../../../../lib/vocabulary/machines.ts";
import { reconcile } from "../../../../lib/upgrades/decide/reconcile.ts";
import type { ClusterVersion, Silence } from "../../../../lib/upgrades/decide/types/cluster.ts";
import type { Effect } from "../../../../lib/upgrades/decide/types/effects.ts";
import type { ReadingName } from "../../../../lib/upgrades/decide/types/observed.ts";
import type { UpgradeConfig, UpgradeSpec, UpgradeStatus } from "../../../../lib/upgrades/decide/types/plan.ts";
import type { ReconcileEnd, ReconcileRequest } from "../../../../lib/upgrades/decide/types/steps.ts";
import { objectAt, textAt } from "../../../../lib/json.ts";
import {
  answerTo,
  condition,
  FROM,
  IMAGE_MULTI,
  IMAGE_TO,
  makeCluster,
  makeInput,
  makeObservations,
  makeOperator,
  makePlan,
  makePool,
  makeSilence,
  MINUTE,
  type Observations,
  seen,
  START_MS,
  unseen,
} from "./make_plan.ts";

export interface Fault {
  /** The reconcile is interrupted at this request, before it is answered. */
  readonly cutAt?: number | undefined;
  /** It is interrupted when the effects of that request are done, before the answer arrives. */
  readonly cutBehind?: number | undefined;
  readonly unreadable?: ReadingName | undefined;
  readonly failing?: Effect["kind"] | undefined;
}

/** What the cluster comes to by itself once it was asked, in any order. */
export const GOALS = ["accepted", "completed", "settled", "operators", "counts", "images"] as const;

export type Goal = typeof GOALS[number];

export class Model {
  nowMs = START_MS + MINUTE;
  readonly #reached = new Set<Goal>();
  /** Requests with effects that are remembered, since the status was saved last. */
  #unsaved = 0;
  isSuspended = false;
  /** Of how many requests the effects would have been forgotten at the worst moment. */
  mostUnsaved = 0;
  status: UpgradeStatus = { history: [], conditions: [] };
  /** Every effect that was carried out, with the status that was saved at that time. */
  readonly log: { readonly effect: Effect; readonly saved: UpgradeStatus; readonly wasAsked: boolean }[] = [];
  readonly saves: { readonly status: UpgradeStatus; readonly isConverged: boolean }[] = [];
  silences: Silence[] = [];
  hasClones = false;
  hasSmokeMachine = false;
  readonly #isMigration: boolean;

  constructor(readonly spec: UpgradeSpec) {
    this.#isMigration = spec.desired.architecture === "Multi";
  }

  get isAsked(): boolean {
    return this.#asked !== undefined;
  }
  #asked: ClusterVersion["desiredUpdate"];

  get isConverged(): boolean {
    const isThere = GOALS.every((goal) => this.#reached.has(goal));
    return this.isAsked && isThere && (this.spec.smoke === undefined || this.#wasProven);
  }
  #wasProven = false;

  /** The cluster reaches a goal, if it was asked to; or its nodes are behind again, as when their configuration changes. */
  advance(goal: Goal | "behind"): void {
    if (!this.isAsked) return;
    if (goal === "behind") this.#reached.delete("counts");
    else this.#reached.add(goal);
  }

  reconcile(fault: Fault = {}): ReconcileEnd | "cut off" {
    const known = { plan: seen(this.plan()), clusterVersion: seen(this.clusterVersion()) };
    const run = reconcile(makeInput({ ...known, nowMs: this.nowMs }));
    this.#unsaved = 0;
    let next = run.next();
    for (let count = 0; !next.done; count++) {
      if (fault.cutAt === count) return "cut off";
      const answer = answerTo(next.value, {
        observed: this.#observed(fault),
        failing: ({ kind }) => kind === fault.failing ? "the effect failed" : undefined,
      });
      this.#carryOut(next.value, answer.done);
      if (fault.cutBehind === count) return "cut off";
      next = run.next(answer);
    }
    return next.value;
  }

  plan(): UpgradeConfig {
    return makePlan({ ...this.spec, suspend: this.isSuspended }, this.status);
  }

  clusterVersion(): ClusterVersion {
    const target = this.#isMigration
      ? { version: FROM, image: IMAGE_MULTI, architecture: "Multi" }
      : { version: this.spec.desired.version, image: IMAGE_TO, architecture: "" };
    if (!this.isAsked || !this.#reached.has("accepted")) return makeCluster({ desiredUpdate: this.#asked });
    const isDone = this.#reached.has("completed");
    const state = isDone ? "Completed" : "Partial";
    return makeCluster({
      desiredUpdate: this.#asked,
      desired: target,
      history: [
        { ...target, state, startedMs: START_MS, completedMs: isDone ? START_MS + MINUTE : undefined },
        ...makeCluster().history,
      ],
      conditions: [condition("Progressing", this.#reached.has("settled") ? "False" : "True")],
    });
  }

  #pools(): readonly MachineConfigPool[] {
    const updated = !this.isAsked || this.#reached.has("counts");
    const currentRendered = this.#reached.has("counts") ? "rendered-worker-2" : "rendered-worker-1";
    return [makePool("worker", { updatedMachineCount: updated ? 3 : 1, isUpdated: updated, currentRendered })];
  }

  #observed({ unreadable }: Fault): Observations {
    const pools = seen(this.#pools());
    const observed = makeObservations({
      pools,
      osImages: seen(new Map([["worker", this.#reached.has("images") ? "changed" : "asBefore"] as const])),
      clusterOperators: seen([makeOperator("etcd", this.#reached.has("operators") ? "etcd-2" : "etcd-1")]),
      silences: seen(this.silences),
      capacity: seen(this.hasClones ? { kind: "ready" } : { kind: "missing", machineSets: ["worker"] }),
      capacityLeft: seen(this.hasClones ? { kind: "present", message: "1 machine" } : { kind: "none" }),
      smoke: seen(this.hasSmokeMachine ? { kind: "ready", node: "arm-1", architecture: "arm64" } : { kind: "absent" }),
    });
    return unreadable === undefined ? observed : { ...observed, [unreadable]: unseen() };
  }

  #carryOut(request: ReconcileRequest, done: readonly Effect[]): void {
    if (request.kind === "save") {
      this.status = request.status;
      this.saves.push({ status: request.status, isConverged: this.isConverged });
      this.#unsaved = 0;
    }
    if (done.some(({ kind }) => !/Metrics?$/.test(kind))) this.#unsaved++;
    this.mostUnsaved = Math.max(this.mostUnsaved, this.#unsaved);
    for (const effect of done) {
      this.log.push({ effect, saved: this.status, wasAsked: this.isAsked });
      this.#change(effect);
    }
  }

  #change(effect: Effect): void {
    if (effect.kind === "patchClusterVersion") {
      const update = objectAt(objectAt(effect.patch, "spec"), "desiredUpdate");
      const [version, image, architecture] = ["version", "image", "architecture"].map((name) => textAt(update, name));
      this.#asked = { version: version ?? "", image: image ?? "", architecture: architecture ?? "" };
    }
    if (effect.kind === "createSilence") {
      const { comment, endsAtMs } = effect.silence;
      this.silences.push({ ...makeSilence(comment), id: `s${this.log.length}`, endsAtMs });
    }
    if (effect.kind === "endSilence") this.silences = this.silences.filter(({ id }) => id !== effect.id);
    if (effect.kind === "reserveCapacity") this.hasClones = true;
    if (effect.kind === "releaseCapacity") this.hasClones = false;
    if (effect.kind === "createSmokeMachine") this.hasSmokeMachine = true;
    if (effect.kind === "deleteSmokeMachine") {
      this.#wasProven ||= this.hasSmokeMachine;
      this.hasSmokeMachine = false;
    }
  }
}
