// A replica that does not lead: what it sees of the leader, and its calls without the Lease.
import type { FailOpenDeps } from "../../controllers/taints/fail_open.ts";
import { ApiError } from "../../lib/k8s/errors.ts";
import type { LeaseView } from "../../lib/k8s/lease.ts";
import { Resource } from "../../lib/k8s/types.ts";
import { silentLogger } from "../../lib/log.ts";
import type { MemoryCall } from "../support/memory_kube_api.ts";
import type { Scene } from "./make.ts";

const LEASE = { namespace: "archway-system", name: "lease" };

export interface Follower extends Scene {
  readonly calls: MemoryCall[];
  view: Pick<LeaseView, "isLeader" | "lastRenewObservedMs">;
  fault: (call: MemoryCall) => void;
  /** The other replica renews its Lease at that time. */
  renew(renewTime: string): void;
  /** It renews every two seconds for a minute, from then on. */
  renewForMinute(from: string): Promise<void>;
}

/** What the controllers take that act without a leader. */
type Deps = Pick<FailOpenDeps, "api" | "events" | "clock" | "log" | "lease" | "view">;

export function openFollower(
  scene: Scene,
  lease: { readonly seconds: number; readonly refusal?: string },
): { readonly follower: Follower; readonly deps: Deps } {
  const { cluster, clock, events } = scene;
  const calls: MemoryCall[] = [];
  const api = cluster.client((call) => {
    calls.push(call);
    follower.fault(call);
  });
  const view = (): LeaseView => ({
    ...{ holder: "other", impairment: undefined, heldUntilMs: undefined, refusal: lease.refusal },
    ...follower.view,
  });
  const follower: Follower = {
    ...scene,
    calls,
    view: { isLeader: false, lastRenewObservedMs: undefined },
    fault: () => {},
    renew: (renewTime) => {
      const spec = { holderIdentity: "other", leaseDurationSeconds: lease.seconds, renewTime, leaseTransitions: 1 };
      cluster.put(Resource.leases, { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: LEASE, spec });
    },
    renewForMinute: async (from) => {
      for (let ms = 0; ms < 60_000; ms += 2_000) {
        follower.renew(new Date(Date.parse(from) + ms).toISOString().replace("Z", "000Z"));
        await clock.advance(2_000);
      }
    },
  };
  return { follower, deps: { api, events, clock, log: silentLogger, lease: LEASE, view } };
}

/** A fault: the Lease may not be read. */
export function forbidden({ plural }: MemoryCall): void {
  if (plural === "leases") throw new ApiError("may not", { status: 403 });
}

/** A fault: nothing is answered. */
export function unanswered(): never {
  throw new ApiError("no answer", { status: 0 });
}

/** A leader renews at that moment. */
export function seeLeader(follower: Follower): void {
  follower.view = { isLeader: false, lastRenewObservedMs: follower.clock.monotonicMs() };
}
