// Everything that remembers images, put together as lib/placement/images does it, over a registry and a clock that tests own.
import { KnownImages } from "../../lib/placement/images/known_images.ts";
import {
  openPodImageInspector,
  type PodImageInspector,
  type PodImagesRequest,
} from "../../lib/placement/images/pod_image_inspector.ts";
import type { PullIdentity } from "../../lib/vocabulary/pull_identity.ts";
import type { PullCredentials } from "../../lib/placement/images/pull_secrets.ts";
import type { KeyValueStore } from "../../lib/kv/store.ts";
import { silentLogger } from "../../lib/log.ts";
import { ImageCache } from "../../lib/oci/cache/image_cache.ts";
import { Inspector } from "../../lib/oci/inspector.ts";
import type { ImageUse, InspectedImage } from "../../lib/oci/inspection.ts";
import { FakeClock } from "./fake_clock.ts";
import { FakeRegistry } from "./fake_registry.ts";
import { DIRECT, makeCredential, NO_KEYRING } from "./inspectors.ts";
import { WorkLimits } from "../../lib/oci/limits/work_limits.ts";

/** How long a tag is believed (ms). */
export const TAG_TTL_MS = 300_000;

export interface ImageBed {
  readonly clock: FakeClock;
  readonly registry: FakeRegistry;
  readonly cache: ImageCache;
  readonly known: KnownImages;
  readonly images: PodImageInspector;
  inspect(use: ImageUse, more?: Partial<PodImagesRequest>): Promise<InspectedImage>;
}

/** Whose pod asks when a test does not say. */
export const TEAM: PullIdentity = { namespace: "team", serviceAccount: "", pullSecrets: [] };

/** Opens one; beds with the same clock, registry and store are replicas, or one process after a restart. */
export function openImageBed(
  options: {
    readonly clock?: FakeClock;
    readonly registry?: FakeRegistry;
    readonly kv?: KeyValueStore;
    readonly maxEntries?: number;
    readonly pull?: (identity: PullIdentity) => PullCredentials;
  } = {},
): ImageBed {
  const { clock = new FakeClock(), maxEntries = 10_000, kv } = options;
  const { registry = new FakeRegistry(clock) } = options;
  const remembering = { kv, clock, log: silentLogger, maxEntries, tagTtlMs: TAG_TTL_MS };
  const cache = new ImageCache({ registry, ...remembering });
  const known = new KnownImages({ cache, planner: DIRECT });
  const pull = options.pull ?? (({ pullSecrets }) => ({
    credentials: pullSecrets.length === 0 ? [] : [makeCredential("registry.example")],
  }));
  const images = openPodImageInspector({
    inspector: new Inspector({ cache, planner: DIRECT, keyring: NO_KEYRING }),
    pullSecrets: { read: (identity) => Promise.resolve(pull(identity)) },
    known,
    limits: new WorkLimits(),
    clock,
    log: silentLogger,
    signal: new AbortController().signal,
  });
  return {
    clock,
    registry,
    cache,
    known,
    images,
    inspect: async (use, more = {}) => {
      const request = { identity: TEAM, images: [use], priority: "gated", ...more } as const;
      const [image] = await images.inspect(request, new AbortController().signal);
      if (image === undefined) throw new Error("no answer");
      return image;
    },
  };
}

/** An image of a pod. */
export function makeUse(image: string, pullsAlways = false): ImageUse {
  return { image, pullsAlways };
}
