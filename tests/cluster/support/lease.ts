// The Lease of Archway as the API server has it, and two replicas that share it behind one address.
import { LEASE_NAME } from "../../../lib/names.ts";
import type { Archway, ArchwayOptions } from "./archway.ts";
import { type ClusterAccess, read } from "./cluster_access.ts";
import { createAuthority } from "./pki.ts";
import { TcpBalancer } from "./tcp_balancer.ts";
import { waitUntil } from "./wait.ts";
import type { WalkBed } from "./walk_bed.ts";

const LEASE = `/apis/coordination.k8s.io/v1/namespaces/archway-system/leases/${LEASE_NAME}`;

/** Who holds the Lease, since which renewal, in which term. */
export interface LeaseState {
  readonly holder: string;
  readonly renewTime: string;
  readonly transitions: number;
}

export async function readLease(cluster: ClusterAccess): Promise<LeaseState> {
  const body = await cluster.get(LEASE);
  return {
    holder: String(read(body, "spec", "holderIdentity") ?? ""),
    renewTime: String(read(body, "spec", "renewTime") ?? ""),
    transitions: Number(read(body, "spec", "leaseTransitions") ?? 0),
  };
}

/** Two replicas behind a balancer; the first leads. They end with their bed. */
export interface Pair extends AsyncDisposable {
  readonly balancer: TcpBalancer;
  readonly first: Archway;
  readonly second: Archway;
}

/** Starts them. `enable` is called between the two, when the first one leads. */
export async function startPair(
  bed: WalkBed,
  options: {
    readonly first?: Partial<ArchwayOptions>;
    readonly second?: Partial<ArchwayOptions>;
    readonly enable: () => Promise<void>;
  },
): Promise<Pair> {
  await using undo = new AsyncDisposableStack();
  const balancer = undo.use(new TcpBalancer());
  const authority = await createAuthority("archway test replicas");
  const front = { webhookUrl: `https://127.0.0.1:${balancer.port}`, authority };
  const first = await bed.startReplica({ ...options.first, name: "first", front });
  balancer.setTargets([first.webhookPort]);
  await options.enable();
  const second = await bed.startReplica({ ...options.second, name: "second", front });
  balancer.setTargets([first.webhookPort, second.webhookPort]);
  const opened = undo.move();
  return { balancer, first, second, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

export async function untilAllGate(
  replicas: readonly { metric(name: string): Promise<number> }[],
  deadlineMs = 60_000,
): Promise<void> {
  await waitUntil("every replica to gate", async () => {
    const gating = await Promise.all(replicas.map((replica) => replica.metric("archway_gating")));
    return gating.every((value) => value === 1);
  }, { deadlineMs });
}
