// The whole thing at work: a control plane, a registry behind a fault proxy, nodes, and Archway under its own ServiceAccount.
import { Archway, type ArchwayOptions, enablePlacement, installArchway } from "./archway.ts";
import type { ClusterAccess } from "./cluster_access.ts";
import { type ControlPlane, type ControlPlaneOptions, SHAREABLE, startControlPlane } from "./control_plane.ts";
import { type FaultProxy, startFaultProxy } from "./fault_proxy.ts";
import type { ImageSpec } from "./image_documents.ts";
import { INSTALLED, leasePlane } from "./leased_plane.ts";
import { type RealRegistry, startRegistry } from "./registry.ts";
import { SHARED_NODES } from "./shared_nodes.ts";

export interface WalkBed<Plane extends ClusterAccess = ClusterAccess> extends AsyncDisposable {
  readonly controlPlane: Plane;
  readonly registry: RealRegistry;
  readonly proxy: FaultProxy;
  readonly kubeconfigFile: string;
  startReplica(options?: Partial<ArchwayOptions>): Promise<Archway>;
  push(repository: string, spec: ImageSpec): Promise<string>;
}

/** A bed with a control plane of its own: its servers may be stopped. */
export type OwnWalkBed = WalkBed<ControlPlane>;

interface WorkOptions {
  readonly spec?: unknown;
  readonly replica?: Partial<ArchwayOptions>;
}

/** Opens the bed: two nodes of each architecture, a registry, the manifests; no replica and no config yet. */
export async function openWalkBed(): Promise<WalkBed> {
  await using undo = new AsyncDisposableStack();
  const leased = await leasePlane(INSTALLED);
  if (leased === undefined) return await openOwnWalkBed({ controlPlane: SHAREABLE });
  undo.use(leased);
  const { controlPlane, kubeconfigFile } = leased;
  const parts = { controlPlane, kubeconfigFile, registry: undo.use(await startRegistry()) };
  return await layOut(parts, undo.move());
}

export async function openOwnWalkBed(
  options: { readonly controlPlane?: ControlPlaneOptions } = {},
): Promise<OwnWalkBed> {
  await using undo = new AsyncDisposableStack();
  const [controlPlane, registry] = await Promise.all([startControlPlane(options.controlPlane), startRegistry()]);
  undo.use(controlPlane);
  undo.use(registry);
  const [kubeconfigFile] = await Promise.all([installArchway(controlPlane), controlPlane.addNodes(SHARED_NODES)]);
  return await layOut({ controlPlane, kubeconfigFile, registry }, undo.move());
}

async function layOut<Plane extends ClusterAccess>(
  parts: Pick<WalkBed<Plane>, "controlPlane" | "kubeconfigFile" | "registry">,
  owned: AsyncDisposableStack,
): Promise<WalkBed<Plane>> {
  await using undo = owned;
  const { kubeconfigFile, registry } = parts;
  const proxy = undo.use(await startFaultProxy({ upstream: registry }));
  const kept = undo.move();
  return {
    ...parts,
    proxy,
    startReplica: async (more = {}) => {
      const registries = [{ host: proxy.host, caFile: proxy.caFile }, ...more.registries ?? []];
      return kept.use(await Archway.start({ kubeconfigFile, ...more, registries }));
    },
    push: async (repository, spec) => {
      await registry.push(repository, "v1", spec);
      return `${proxy.host}/${repository}:v1`;
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

export async function openWorkingBed(options: WorkOptions = {}): Promise<WalkBed & { readonly archway: Archway }> {
  return await startWorking(await openWalkBed(), options);
}

/** The same with a control plane of its own. */
export async function openOwnWorkingBed(
  options: WorkOptions = {},
): Promise<OwnWalkBed & { readonly archway: Archway }> {
  return await startWorking(await openOwnWalkBed(), options);
}

async function startWorking<Bed extends WalkBed>(
  bed: Bed,
  { replica, spec }: WorkOptions,
): Promise<Bed & { readonly archway: Archway }> {
  try {
    const archway = await bed.startReplica(replica);
    await enablePlacement(bed.controlPlane, spec);
    return { ...bed, archway };
  } catch (error) {
    await bed[Symbol.asyncDispose]();
    throw error;
  }
}

export function index(...architectures: readonly string[]): ImageSpec {
  return { platforms: architectures.map((architecture) => ({ architecture })) };
}
