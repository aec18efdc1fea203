// Opens everything that inspects images, from the configuration.
import type { Clock } from "../../clock.ts";
import { KnownImages } from "./known_images.ts";
import { openPodImageInspector, type PodImageInspector, type PodImagesOptions } from "./pod_image_inspector.ts";
import { type PullSecretDeps, PullSecrets } from "./pull_secrets.ts";
import { openDenoKv } from "../../kv/deno_kv.ts";
import type { KeyValueStore } from "../../kv/store.ts";
import type { Logger } from "../../log.ts";
import { ImageCache } from "../../oci/cache/image_cache.ts";
import type { HostState } from "../../oci/limits/host_state.ts";
import type { WorkLimits } from "../../oci/limits/work_limits.ts";
import { RegistryReader } from "../../oci/registry_reader.ts";
import { Inspector } from "../../oci/inspector.ts";
import { openRegistryAccess, type RegistryAccessOptions, type RegistryConfig } from "../../oci/registry_access.ts";

export interface ImageServiceConfig extends RegistryConfig {
  readonly cachePath?: string | undefined;
  readonly kvUrl?: string | undefined;
  readonly cacheEntries: number;
  readonly tagTtl: number;
}

export interface ImageService extends AsyncDisposable {
  readonly inspector: Inspector;
  readonly known: KnownImages;
  readonly limits: WorkLimits;
  cacheSize(): number;
  publicHostStates(): readonly HostState[];
}

type ImageServiceOptions = RegistryAccessOptions & { readonly config: ImageServiceConfig };

/** Never rejects for a bad file or cache: problems are logged, and the rest is used. */
export async function openImageService(options: ImageServiceOptions): Promise<ImageService> {
  const { config, clock, log } = options;
  await using stack = new AsyncDisposableStack();
  const { planner, keyring, clientDeps, publicHostStates } = stack.use(openRegistryAccess(options));
  const kv = await openStore(config, { clock, log });
  stack.defer(() => kv?.close());
  const cache = new ImageCache({
    registry: new RegistryReader(clientDeps),
    kv,
    clock,
    log,
    maxEntries: config.cacheEntries,
    tagTtlMs: config.tagTtl,
  });
  const owned = stack.move();
  return {
    inspector: new Inspector({ cache, planner, keyring }),
    known: new KnownImages({ cache, planner }),
    limits: clientDeps.limits,
    cacheSize: () => cache.size(),
    publicHostStates,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The inspector of pods' images, with the pull secrets that `api` may read. */
export function openPodImages(
  { inspector, known, limits }: ImageService,
  { api, mode, ownNamespace, ...options }: PodImagesOptions & Pick<PullSecretDeps, "api" | "mode" | "ownNamespace">,
): PodImageInspector {
  const { clock, log } = options;
  const pullSecrets = new PullSecrets({ api, mode, ownNamespace, limits, clock, log });
  return openPodImageInspector({ inspector, pullSecrets, known, limits, ...options });
}

async function openStore(
  { cachePath, kvUrl }: ImageServiceConfig,
  deps: { readonly clock: Clock; readonly log: Logger },
): Promise<KeyValueStore | undefined> {
  if (kvUrl !== undefined) return await openDenoKv({ url: kvUrl, ...deps });
  return cachePath === undefined ? undefined : await openDenoKv({ path: cachePath, ...deps });
}
