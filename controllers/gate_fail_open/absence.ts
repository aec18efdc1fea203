// Whether a leader is missing, as this replica observes it: by the election first, then by reads of the Lease of its own.
import type { Clock } from "../../lib/clock.ts";
import type { ReadApi } from "../../lib/k8s/api.ts";
import type { LeaseView } from "../../lib/k8s/lease.ts";
import { type LeaseProof, provenForMs, readLeaseProof } from "../../lib/k8s/lease_proof.ts";
import { errorText, type Logger } from "../../lib/log.ts";
import { decideGateFailOpen, type GateFailOpen } from "../../lib/operand/gate_fail_open.ts";

/** What it needs. */
export interface AbsenceDeps {
  readonly api: ReadApi;
  readonly clock: Clock;
  readonly log: Logger;
  readonly lease: { readonly namespace: string; readonly name: string };
  /** The Lease as this replica's election sees it. */
  readonly view: () => LeaseView;
}

/** The observation. */
export class Absence {
  readonly #deps: AbsenceDeps;
  readonly #startedMs: number;
  #proof: LeaseProof | undefined;

  constructor(deps: AbsenceDeps) {
    this.#deps = deps;
    this.#startedMs = deps.clock.monotonicMs();
  }

  /** Whether pods may be released without a leader, at this moment. */
  get isOpen(): boolean {
    return this.#decide() === "open";
  }

  /** Since a renewal was last seen, or since the start (ms). */
  get silentForMs(): number {
    const { clock, view } = this.#deps;
    return clock.monotonicMs() - Math.max(this.#startedMs, view().lastRenewObservedMs ?? 0);
  }

  /** Checks once more, and reads the Lease where that is needed. Never rejects. */
  async look(signal: AbortSignal): Promise<GateFailOpen["kind"]> {
    if (this.#decide() === "closed") this.#proof = undefined;
    else {
      try {
        this.#proof = await readLeaseProof(this.#deps, this.#proof, signal);
      } catch (error) {
        this.#proof = undefined;
        this.#deps.log.debug("the Lease gives no answer, gates stay", { reason: errorText(error) });
      }
    }
    return this.#decide();
  }

  #decide(): GateFailOpen["kind"] {
    const proof = this.#proof;
    return decideGateFailOpen({
      isLeader: this.#deps.view().isLeader,
      silentForMs: this.silentForMs,
      provenForMs: provenForMs(proof),
      answeredAgoMs: proof === undefined ? Infinity : this.#deps.clock.monotonicMs() - proof.untilMs,
    }).kind;
  }
}
