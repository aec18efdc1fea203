// The whole thing at work: a control plane of its own, a registry behind a fault proxy, nodes, and Archway under its own
// ServiceAccount.
import { type Archway, type ArchwayOptions, enablePlacement, installArchway, startArchway } from "./archway.ts";
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from "./control_plane.ts";
import { type FaultProxy, startFaultProxy } from "./fault_proxy.ts";
import type { ImageSpec } from "./image_documents.ts";
import { type RealRegistry, type RegistryOptions, startRegistry } from "./registry.ts";
import { SHARED_NODES } from "./shared_control_plane.ts";

/** A bed to run the service on. Dispose it to stop everything. */
export interface WalkBed extends AsyncDisposable {
  readonly controlPlane: ControlPlane;
  readonly registry: RealRegistry;
  /** Image references go through it. */
  readonly proxy: FaultProxy;
  readonly kubeconfigFile: string;
  /** Starts a replica that knows the proxy; it is stopped with the bed. */
  startReplica(options?: Partial<ArchwayOptions>): Promise<Archway>;
  /** Pushes an image and gives its reference through the proxy. */
  push(repository: string, spec: ImageSpec): Promise<string>;
}

/** Opens the bed: two nodes of each architecture, a registry, the manifests; no replica and no config yet. */
export async function openWalkBed(
  options: { readonly registry?: RegistryOptions; readonly controlPlane?: ControlPlaneOptions } = {},
): Promise<WalkBed> {
  await using undo = new AsyncDisposableStack();
  const [controlPlane, registry] = await Promise.all([
    startControlPlane(options.controlPlane),
    startRegistry(options.registry),
  ]);
  undo.use(controlPlane);
  undo.use(registry);
  const proxy = undo.use(await startFaultProxy({ upstream: { url: registry.url, caPem: registry.caPem } }));
  const [kubeconfigFile] = await Promise.all([installArchway(controlPlane), controlPlane.addNodes(SHARED_NODES)]);
  const owned = undo.move();
  return {
    controlPlane,
    registry,
    proxy,
    kubeconfigFile,
    startReplica: async (more = {}) => {
      const registries = [{ host: proxy.host, caFile: proxy.caFile }, ...more.registries ?? []];
      return owned.use(await startArchway({ kubeconfigFile, ...more, registries }));
    },
    push: async (repository, spec) => {
      await registry.push(repository, "v1", spec);
      return `${proxy.host}/${repository}:v1`;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Opens a bed with one replica that gates pods. */
export async function openWorkingBed(
  options: {
    readonly spec?: unknown;
    readonly replica?: Partial<ArchwayOptions>;
    readonly registry?: RegistryOptions;
  } = {},
): Promise<WalkBed & { readonly archway: Archway }> {
  const bed = await openWalkBed(options.registry === undefined ? {} : { registry: options.registry });
  try {
    const archway = await bed.startReplica(options.replica);
    await enablePlacement(bed.controlPlane, options.spec);
    return { ...bed, archway };
  } catch (error) {
    await bed[Symbol.asyncDispose]();
    throw error;
  }
}

/** The images of every architecture list as pushed specs: `index("amd64", "arm64")`. */
export function index(...architectures: readonly string[]): ImageSpec {
  return { platforms: architectures.map((architecture) => ({ architecture })) };
}
