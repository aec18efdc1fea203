// The Lease as a lock of one replica: acquires, renews and releases it, and keeps the last observed record.
import type { V1Lease, V1LeaseSpec } from "@kubernetes/client-node";
import { type Clock, openDeadline } from "../clock.ts";
import { numberAt, textAt } from "../json.ts";
import { errorText, type Logger } from "../log.ts";
import { LEADER_IMPAIRMENT } from "../names.ts";
import { renderExactTime } from "../vocabulary/time.ts";
import { type KubeApi, readOptional } from "./api.ts";
import { isConflict } from "./api_error.ts";
import { apiVersionOf, type KubeObject, Resource, type Wire } from "./types.ts";

/** Time limit of a release (ms), for which a shutdown waits: an unreleased Lease expires by itself. */
const RELEASE_TIMEOUT_MS = 2_000;

export interface LeaseOptions {
  readonly api: KubeApi;
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
  readonly clock: Clock;
  readonly log: Logger;
}

interface LeaseLockOptions extends LeaseOptions {
  readonly durationMs: number;
  readonly leaderHealth: () => LeaderHealth;
  readonly onChange: () => void;
}

/** The Lease as of the latest request. Times are those of our monotonic clock. */
export interface LockView {
  readonly holder: string | undefined;
  /** What the holder cannot do, in a word; undefined when it is healthy. */
  readonly impairment: string | undefined;
  /** When a renewal was last observed; undefined when none was. */
  readonly lastRenewObservedMs: number | undefined;
  /** Until when our last renewal excludes other leaders; undefined without one, or while not leading. */
  readonly heldUntilMs: number | undefined;
  /** The API server's error of the latest attempt to acquire or renew; undefined after a success. */
  readonly refusal: string | undefined;
}

type Attempt =
  /** We hold the Lease. Its term counts from `sentMs`, when the request was sent. */
  | { readonly kind: "held"; readonly sentMs: number }
  | { readonly kind: "taken" }
  | { readonly kind: "failed" };

export class LeaseLock {
  readonly #options: LeaseLockOptions;
  /** The Lease as last written by us, so that a renewal needs no GET. */
  #own: KubeObject | undefined;
  #seen: { readonly record: LeaseRecord; readonly atMs: number } | undefined;
  #lastRenewObservedMs: number | undefined;
  #heldUntilMs: number | undefined;
  #refusal: string | undefined;
  #failures = 0;

  constructor(options: LeaseLockOptions) {
    this.#options = options;
  }

  get view(): LockView {
    const { holder = "", impairment } = this.#seen?.record ?? {};
    return {
      holder: holder === "" ? undefined : holder,
      impairment,
      lastRenewObservedMs: this.#lastRenewObservedMs,
      heldUntilMs: this.#heldUntilMs,
      refusal: this.#refusal,
    };
  }

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
      if (this.#failures === 1) this.#options.log.warn("lease cannot be reached, retrying", fields);
      else this.#options.log.debug("lease cannot be reached, retrying", fields);
      return { kind: "failed" };
    }
  }

  forgetOwn(): void {
    this.#own = undefined;
  }

  /** Releases the Lease if it is still ours, so that others need not wait until it expires. */
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
    // Other replicas count the duration from when they observe the renewal, which is later.
    this.#heldUntilMs = sentMs + durationMs;
    this.#observe(this.#own);
    return { kind: "held", sentMs };
  }

  /** Whether the Lease stayed unchanged for its duration. Uses only our own clock, so skew does not matter. */
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

  /** Creates or replaces. The resourceVersion causes a 409 if another replica was faster. */
  async #write(
    lease: KubeObject | undefined,
    options: { readonly holder: string; readonly signal: AbortSignal },
  ): Promise<KubeObject> {
    const { api, namespace, name, clock } = this.#options;
    const durationMs = options.holder === "" ? 1_000 : this.#options.durationMs;
    const spec = renderLeaseSpec(lease, { holder: options.holder, durationMs, nowMs: clock.nowMs() });
    const target = { namespace, name, signal: options.signal };
    // The first write, also after a failure, reports no health: the known health may be from an earlier term.
    const isRenewal = options.holder !== "" && this.#own !== undefined;
    const health = isRenewal ? this.#options.leaderHealth() : { kind: "unproven" } as const;
    const annotations = renderLeaseAnnotations(lease, health);
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

interface LeaseRecord {
  readonly holder: string;
  readonly durationMs: number;
  readonly transitions: number;
  /** Changes with every renewal. Never compared with our clock, which may differ. */
  readonly renewal: string;
  /** What its holder cannot do, in a word; undefined when it is healthy. */
  readonly impairment: string | undefined;
}

export type LeaderHealth =
  | { readonly kind: "healthy" }
  | { readonly kind: "impaired"; readonly impairment: string }
  /** Not known yet: the last holder's impairment stays in the Lease. */
  | { readonly kind: "unproven" };

export function parseLease(lease: KubeObject): LeaseRecord {
  const { spec } = lease;
  const [holder, transitions] = [textAt(spec, "holderIdentity"), numberAt(spec, "leaseTransitions")];
  return {
    holder,
    durationMs: numberAt(spec, "leaseDurationSeconds") * 1_000,
    transitions,
    renewal: [holder, transitions, textAt(spec, "renewTime")].join(" "),
    impairment: lease.metadata.annotations?.[LEADER_IMPAIRMENT],
  };
}

/** The spec after a claim. A new holder starts a new term; a renewal continues the current one. */
function renderLeaseSpec(
  before: KubeObject | undefined,
  claim: { readonly holder: string; readonly durationMs: number; readonly nowMs: number },
): Wire<V1LeaseSpec> {
  const known: unknown = before?.["spec"];
  const record = before === undefined ? undefined : parseLease(before);
  // The API's MicroTime requires six decimals of a second.
  const renewTime = renderExactTime(claim.nowMs).replace("Z", "000Z");
  const startsTerm = record?.holder !== claim.holder;
  return {
    ...(typeof known === "object" ? known : {}),
    holderIdentity: claim.holder,
    leaseDurationSeconds: Math.max(1, Math.round(claim.durationMs / 1_000)),
    renewTime,
    ...(startsTerm ? { acquireTime: renewTime } : {}),
    leaseTransitions: (record?.transitions ?? 0) + (startsTerm && claim.holder !== "" && record !== undefined ? 1 : 0),
  };
}

function renderLeaseAnnotations(
  before: KubeObject | undefined,
  health: LeaderHealth,
): Readonly<Record<string, string>> {
  const { [LEADER_IMPAIRMENT]: impairment, ...others } = before?.metadata.annotations ?? {};
  const now = health.kind === "impaired" ? health.impairment : health.kind === "unproven" ? impairment : undefined;
  return now === undefined ? others : { ...others, [LEADER_IMPAIRMENT]: now };
}
