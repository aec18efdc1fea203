// The Lease as a lock of one replica: acquires, renews and releases it, and keeps the last observed record.
import type { V1Lease } from "@kubernetes/client-node";
import type { Clock } from "../clock.ts";
import { errorText, type Logger } from "../log.ts";
import type { KubeApi } from "./api.ts";
import { openDeadline } from "./deadline.ts";
import { isConflict } from "./errors.ts";
import {
  type HolderState,
  type LeaseRecord,
  parseLease,
  renderLeaseAnnotations,
  renderLeaseSpec,
} from "./lease_record.ts";
import { readOptional } from "./read_optional.ts";
import { apiVersionOf, type KubeObject, Resource } from "./types.ts";
import type { Wire } from "./wire.ts";

/** Giving the Lease up is a courtesy: shutdown does not wait longer for it. */
const RELEASE_TIMEOUT_MS = 2_000;

/** Which Lease, and the identity of the replica. */
export interface LeaseLockOptions {
  readonly api: KubeApi;
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
  /** A Lease that was not renewed for so long is free. */
  readonly durationMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  /** The state that the holder publishes in the Lease. */
  readonly state: () => HolderState;
  /** Called when the Lease was seen to have changed, by our own writes too. */
  readonly onChange: () => void;
}

/** How one try to take or renew the Lease went. */
export type Attempt =
  /** We hold the Lease; `sentMs` is when the request left, the earliest time its term may be counted from. */
  | { readonly kind: "held"; readonly sentMs: number }
  | { readonly kind: "taken" }
  | { readonly kind: "failed" };

/** The lock of one replica. Its state is as of the latest request. */
export class LeaseLock {
  readonly #options: LeaseLockOptions;
  /** The Lease as we wrote it last: a renewal needs no GET. */
  #own: KubeObject | undefined;
  #seen: { readonly record: LeaseRecord; readonly atMs: number } | undefined;
  #lastRenewObservedMs: number | undefined;
  #heldUntilMs: number | undefined;
  #refusal: string | undefined;
  #failures = 0;

  constructor(options: LeaseLockOptions) {
    this.#options = options;
  }

  /** Identity of the holder; undefined when the Lease is free or was not read yet. */
  get holder(): string | undefined {
    const holder = this.#seen?.record.holder;
    return holder === "" ? undefined : holder;
  }

  /** What the holder cannot do, in a word; undefined when it reports nothing. */
  get impairment(): string | undefined {
    return this.#seen?.record.impairment;
  }

  /** When a holder was last seen to renew (our monotonic clock); undefined when never. */
  get lastRenewObservedMs(): number | undefined {
    return this.#lastRenewObservedMs;
  }

  /** Until when our last renewal lasts (our monotonic clock), whether or not the Lease was lost since. */
  get heldUntilMs(): number | undefined {
    return this.#heldUntilMs;
  }

  /** What the latest attempt failed with; undefined after one that did not. */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  /** Tries once to take or renew the Lease. */
  async attempt(timeoutMs: number, signal: AbortSignal): Promise<Attempt> {
    using deadline = openDeadline(timeoutMs, { signal, clock: this.#options.clock });
    try {
      const attempt = await this.#takeOrRenew(deadline.signal);
      if (this.#failures > 0) this.#options.log.info("lease can be reached again", { failures: this.#failures });
      this.#failures = 0;
      this.#refuse(undefined);
      return attempt;
    } catch (error) {
      this.#own = undefined;
      if (signal.aborted || isConflict(error)) return { kind: "failed" };
      this.#failures++;
      this.#refuse(errorText(error));
      const fields = { failures: this.#failures, error: errorText(error) };
      if (this.#failures === 1) this.#options.log.warn("lease cannot be reached, trying on", fields);
      else this.#options.log.debug("lease cannot be reached, trying on", fields);
      return { kind: "failed" };
    }
  }

  /** The next attempt reads the Lease before it writes. */
  forgetOwn(): void {
    this.#own = undefined;
  }

  /** Gives the Lease up if it is still ours, so that another need not wait until it expires. */
  async release(): Promise<void> {
    const never = new AbortController().signal;
    using deadline = openDeadline(RELEASE_TIMEOUT_MS, { signal: never, clock: this.#options.clock });
    try {
      const lease = await this.#read(deadline.signal);
      if (lease === undefined || parseLease(lease).holder !== this.#options.identity) return;
      this.#observe(await this.#write(lease, { holder: "", signal: deadline.signal }));
    } catch (error) {
      this.#options.log.warn("lease could not be given up, it expires by itself", { error: errorText(error) });
    }
  }

  async #takeOrRenew(signal: AbortSignal): Promise<Attempt> {
    const { clock, identity, durationMs } = this.#options;
    const lease = this.#own ?? await this.#read(signal);
    const record = lease === undefined ? undefined : this.#observe(lease);
    if (record !== undefined && record.holder !== "" && record.holder !== identity && !this.#hasExpired(record)) {
      return { kind: "taken" };
    }
    const sentMs = clock.monotonicMs();
    this.#own = await this.#write(lease, { holder: identity, signal });
    // Others count from when they see the renewal, which is later.
    this.#heldUntilMs = sentMs + durationMs;
    this.#observe(this.#own);
    return { kind: "held", sentMs };
  }

  /** Whether the Lease was seen unchanged for as long as it lasts. Only our own clock counts: skew does not matter. */
  #hasExpired(record: LeaseRecord): boolean {
    const { clock } = this.#options;
    return this.#seen !== undefined && clock.monotonicMs() - this.#seen.atMs >= record.durationMs;
  }

  #observe(lease: KubeObject): LeaseRecord {
    const record = parseLease(lease);
    if (record.renewal === this.#seen?.record.renewal) return record;
    const atMs = this.#options.clock.monotonicMs();
    this.#seen = { record, atMs };
    if (record.holder !== "") this.#lastRenewObservedMs = atMs;
    this.#options.onChange();
    return record;
  }

  #refuse(refusal: string | undefined): void {
    if (refusal === this.#refusal) return;
    this.#refusal = refusal;
    this.#options.onChange();
  }

  async #read(signal: AbortSignal): Promise<KubeObject | undefined> {
    const { api, namespace, name } = this.#options;
    return await readOptional(api, { type: Resource.leases, namespace, name, signal });
  }

  /** Creates or replaces; the resourceVersion makes the server refuse when another replica was faster (409). */
  async #write(
    lease: KubeObject | undefined,
    options: { readonly holder: string; readonly signal: AbortSignal },
  ): Promise<KubeObject> {
    const { api, namespace, name, clock } = this.#options;
    const durationMs = options.holder === "" ? 1_000 : this.#options.durationMs;
    const spec = renderLeaseSpec(lease, { holder: options.holder, durationMs, nowMs: clock.nowMs() });
    const target = { namespace, name, signal: options.signal };
    const state = options.holder === "" ? { kind: "unproven" } as const : this.#options.state();
    const annotations = renderLeaseAnnotations(lease, state);
    if (lease !== undefined) {
      return await api.replace(
        Resource.leases,
        { ...lease, metadata: { ...lease.metadata, annotations }, spec },
        target,
      );
    }
    const { kind } = Resource.leases;
    const object = {
      apiVersion: apiVersionOf(Resource.leases),
      kind,
      metadata: { name, namespace, annotations },
      spec,
    } satisfies Wire<V1Lease>;
    return await api.create(Resource.leases, object, target);
  }
}
