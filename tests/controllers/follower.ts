// A replica that does not lead: what it sees of the leader, and its calls without the Lease.
import type { FailOpenDeps } from "../../controllers/taints/fail_open.ts";
import type { LeaseView } from "../../lib/k8s/election.ts";
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
  };
  return { follower, deps: { api, events, clock, log: silentLogger, lease: LEASE, view } };
}

/** A leader renews at that moment. */
export function seeLeader(follower: Follower): void {
  follower.view = { isLeader: false, lastRenewObservedMs: follower.clock.monotonicMs() };
}
