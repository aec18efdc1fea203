// Two replicas behind a balancer on a real control plane, with the registry behind a fault proxy: the bed of chaos and soak.
import { type Archway, type ArchwayOptions, enablePlacement } from "../cluster/support/archway.ts";
import { type CertificateAuthority, createAuthority } from "../cluster/support/pki.ts";
import { listNodeArchitectures } from "../cluster/support/pods.ts";
import { TcpBalancer } from "../cluster/support/tcp_balancer.ts";
import { waitUntil } from "../cluster/support/wait.ts";
import { openOwnWalkBed, type OwnWalkBed } from "../cluster/support/walk_bed.ts";

export interface Pair extends OwnWalkBed {
  readonly replicas: readonly [Archway, Archway];
  readonly balancer: TcpBalancer;
  readonly authority: CertificateAuthority;
  readonly nodes: ReadonlyMap<string, string>;
}

/** Prepares what the replicas need beyond the bed, owned by the stack, and gives the options of a replica by its name. */
export type Prepare = (
  bed: OwnWalkBed,
  stack: AsyncDisposableStack,
) => Promise<(name: string) => Partial<ArchwayOptions>>;

/** Opens it; resolves when both replicas gate. */
export async function openPair(prepare: Prepare = () => Promise.resolve(() => ({}))): Promise<Pair> {
  await using undo = new AsyncDisposableStack();
  const bed = undo.use(await openOwnWalkBed());
  const balancer = undo.use(new TcpBalancer());
  const authority = await createAuthority("archway test replicas");
  const front = { webhookUrl: `https://127.0.0.1:${balancer.port}`, authority };
  const optionsOf = await prepare(bed, undo);
  const start = (name: string): Promise<Archway> => bed.startReplica({ name, front, ...optionsOf(name) });
  const first = await start("first");
  balancer.setTargets([first.webhookPort]);
  await enablePlacement(bed.controlPlane);
  const replicas = [first, await start("second")] as const;
  balancer.setTargets(replicas.map(({ webhookPort }) => webhookPort));
  await waitUntilGating(replicas);
  const nodes = await listNodeArchitectures(bed.controlPlane);
  const owned = undo.move();
  return { ...bed, replicas, balancer, authority, nodes, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

export async function waitUntilGating(replicas: readonly Archway[], deadlineMs = 60_000): Promise<void> {
  for (const replica of replicas) {
    await waitUntil(`${replica.name} to gate`, async () => await replica.metric("archway_gating") === 1, {
      deadlineMs,
    });
  }
}

export async function rotateCertificate(replica: Archway, authority: CertificateAuthority): Promise<void> {
  const next = await authority.issue({ commonName: `archway ${crypto.randomUUID()}`, usage: "server" });
  const folder = replica.caFile.replace(/\/ca\.crt$/, "");
  await Deno.writeTextFile(`${folder}/tls.crt`, next.certificatePem);
  await Deno.writeTextFile(`${folder}/tls.key`, next.keyPem);
}
