// Lifts the taints when no replica leads: new pods would get no toleration, and with the taints no node. A write to the cluster
// that is made without the Lease, by a client that can do nothing else.
import type { Clock } from "../../lib/clock.ts";
import type { KubeApi } from "../../lib/k8s/api.ts";
import type { EventRecorder } from "../../lib/k8s/event_recorder.ts";
import type { LeaseView } from "../../lib/k8s/lease.ts";
import { type LeaseProof, provenForMs, readLeaseProof } from "../../lib/k8s/lease_proof.ts";
import { errorText, type Logger } from "../../lib/log.ts";
import type { Metrics } from "../../lib/metrics.ts";
import { EventReason } from "../../lib/names.ts";
import type { TaintLifter } from "../../lib/tainting/lifter.ts";
import { decideFailOpen } from "../../lib/taints/fail_open.ts";
import { nameSome } from "../../lib/taints/words.ts";
import { type Controller, openController, requeueAfter } from "../controller.ts";
import { CLUSTER_CONFIG, writeTaintCondition } from "./reports.ts";

/** What it needs. */
export interface FailOpenDeps {
  /** For the Lease, and for the condition. */
  readonly api: KubeApi;
  readonly lifter: TaintLifter;
  readonly events: EventRecorder;
  readonly metrics: Pick<Metrics, "taintWrite">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly lease: { readonly namespace: string; readonly name: string };
  /** The Lease as this replica's election sees it. */
  readonly view: () => LeaseView;
  readonly afterMs: number;
}

const LOOK_MS = 1_000;
/** Between two rounds while there is still no leader: nodes may have joined with the taint (ms). */
const ROUND_MS = 30_000;

/** Makes the controller. No request is sent to the API server while a replica leads. */
export function openTaintFailOpen(deps: FailOpenDeps): Controller {
  const { clock, log } = deps;
  const startedMs = clock.monotonicMs();
  let proof: LeaseProof | undefined;
  return openController({
    name: "taint-fail-open",
    watches: [],
    onlyKey: "lease",
    parallel: 1,
    clock,
    log,
    reconcile: async (_key, signal) => {
      try {
        const decision = decideNow(deps, { startedMs, proof });
        proof = decision === "closed" ? undefined : await readLeaseProof(deps, proof, signal);
        if (decision !== "lift" || decideNow(deps, { startedMs, proof }) !== "lift") return requeueAfter(LOOK_MS);
        await lift(deps, startedMs, signal);
        return requeueAfter(ROUND_MS);
      } catch (error) {
        proof = undefined;
        if (!signal.aborted) log.warn("taints could not be lifted without a leader", { reason: errorText(error) });
        return requeueAfter(LOOK_MS);
      }
    },
  });
}

function decideNow(
  { clock, view, afterMs }: FailOpenDeps,
  { startedMs, proof }: { readonly startedMs: number; readonly proof: LeaseProof | undefined },
): ReturnType<typeof decideFailOpen>["kind"] {
  const { isLeader, lastRenewObservedMs } = view();
  const nowMs = clock.monotonicMs();
  return decideFailOpen({
    isLeader,
    silentForMs: nowMs - Math.max(startedMs, lastRenewObservedMs ?? 0),
    provenForMs: provenForMs(proof),
    afterMs,
  }).kind;
}

async function lift(deps: FailOpenDeps, startedMs: number, signal: AbortSignal): Promise<void> {
  const { lifter, events, metrics, log, view, afterMs } = deps;
  const goesOn = (): boolean => {
    const { isLeader, lastRenewObservedMs } = view();
    const { clock } = deps;
    return !isLeader && clock.monotonicMs() - Math.max(startedMs, lastRenewObservedMs ?? 0) >= afterMs;
  };
  const { lifted, left } = await lifter.lift({ signal, goesOn });
  for (const _ of lifted) metrics.taintWrite("failOpen");
  if (lifted.length + left.length === 0) return;
  const seconds = Math.round(afterMs / 1_000);
  const message = `No replica has led for ${seconds} s, so the architecture taints are lifted: ${lifted.length} nodes` +
    `${left.length === 0 ? "" : `, not yet ${nameSome(left.map(({ node }) => node))}`}. ` +
    "They come back in phases once a replica leads.";
  log.warn("architecture taints lifted without a leader", { lifted: lifted.length, left: left.length });
  events.record({ object: CLUSTER_CONFIG, type: "Warning", reason: EventReason.taintsFailedOpen, message });
  await writeTaintCondition(deps, { isTrue: false, reason: "FailedOpen", message }, signal);
}
