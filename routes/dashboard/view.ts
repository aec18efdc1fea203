// What the dashboard shows, as data.
import type { TaintProgress } from "../../lib/taints/decide/progress.ts";
import type { ReportedFailure } from "../../lib/exec_format/reported.ts";
import type { DecisionsSnapshot, GatedSince } from "../../lib/placement/decide/history/recent_decisions.ts";
import type { HostState } from "../../lib/oci/limits/host_state.ts";
import type { ConfigPresence, GatingHealth } from "../../lib/operator/decide/gating_health.ts";

export interface DashboardView {
  /** Wall time (epoch ms) that ages are counted from. */
  readonly nowMs: number;
  readonly identity: string;
  readonly version: string;
  readonly lease: { readonly holder: string | undefined; readonly isLeader: boolean };
  readonly gating: GatingHealth;
  readonly config: ConfigPresence;
  readonly gated: GatedView;
  readonly queueDepth: number;
  readonly architectures: ReadonlyMap<string, number> | undefined;
  /** Architecture taints; undefined while this replica does not manage them. */
  readonly taints?: TaintProgress | undefined;
  readonly cachedInspections: number;
  readonly registries: readonly RegistryView[];
  readonly decisions: DecisionsSnapshot;
  /** Containers that were to run a program of another architecture; undefined where they are not looked for. */
  readonly execFormat: readonly ReportedFailure[] | undefined;
}

/** Gated pods in the cache of this replica: only the leader watches them. */
export interface GatedView {
  readonly count: number;
  /** The pods that can be named, longest gated first; may be fewer than `count`. */
  readonly pods: readonly GatedSince[];
}

/** A registry that got requests lately, with only the reason of its latest failure. */
export type RegistryView = Pick<HostState, "host" | "circuit" | "remaining"> & {
  readonly lastFailure?: Pick<NonNullable<HostState["lastFailure"]>, "reason">;
};
