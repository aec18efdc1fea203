// The spec of a coordination.k8s.io Lease: parsed, and rendered for a write.
import type { V1LeaseSpec } from "@kubernetes/client-node";
import * as z from "zod";
import { LEADER_IMPAIRMENT } from "../names.ts";
import type { KubeObject } from "./types.ts";
import type { Wire } from "./wire.ts";

/** The members of a Lease that an election needs. */
export interface LeaseRecord {
  /** Empty when the Lease is free. */
  readonly holder: string;
  readonly durationMs: number;
  readonly transitions: number;
  /** Changes with every renewal. Never compared with our clock: clocks may differ. */
  readonly renewal: string;
  /** What its holder cannot do, in a word; undefined when it does its work. */
  readonly impairment: string | undefined;
}

/** The state that a holder publishes with each renewal. */
export type HolderState =
  | { readonly kind: "able" }
  | { readonly kind: "unable"; readonly reason: string }
  /** Not known yet: the state of the last holder stays in the Lease. */
  | { readonly kind: "unproven" };

const spec = z.object({
  holderIdentity: z.string().nullish(),
  leaseDurationSeconds: z.number().nullish(),
  leaseTransitions: z.number().nullish(),
  renewTime: z.string().nullish(),
});

/** Parses a Lease; one without a usable spec is free. */
export function parseLease(lease: KubeObject): LeaseRecord {
  const { data } = spec.safeParse(lease["spec"]);
  const [holder, transitions] = [data?.holderIdentity ?? "", data?.leaseTransitions ?? 0];
  return {
    holder,
    durationMs: (data?.leaseDurationSeconds ?? 0) * 1_000,
    transitions,
    renewal: [holder, transitions, data?.renewTime ?? ""].join(" "),
    impairment: lease.metadata.annotations?.[LEADER_IMPAIRMENT],
  };
}

/** What to write. */
export interface LeaseClaim {
  /** Empty to give the Lease up. */
  readonly holder: string;
  readonly durationMs: number;
  readonly nowMs: number;
}

/** The spec after a claim. A new holder starts a new term; the holder's own renewal goes on with the one it has. */
export function renderLeaseSpec(before: KubeObject | undefined, claim: LeaseClaim): Wire<V1LeaseSpec> {
  const known: unknown = before?.["spec"];
  const record = before === undefined ? undefined : parseLease(before);
  const renewTime = microTime(claim.nowMs);
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

/** The annotations of a Lease after a renewal. */
export function renderLeaseAnnotations(
  before: KubeObject | undefined,
  state: HolderState,
): Readonly<Record<string, string>> {
  const { [LEADER_IMPAIRMENT]: impairment, ...others } = before?.metadata.annotations ?? {};
  const now = state.kind === "unable" ? state.reason : state.kind === "unproven" ? impairment : undefined;
  return now === undefined ? others : { ...others, [LEADER_IMPAIRMENT]: now };
}

/** RFC 3339 with the six digits that the API's MicroTime requires. */
function microTime(epochMs: number): string {
  return new Date(epochMs).toISOString().replace("Z", "000Z");
}
