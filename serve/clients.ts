// The clients of `archway serve`, opened from the configuration: API server, registries, events, metrics, certificate.
// Called by serve.ts.
import { type Board, openBoard } from "../lib/server/board.ts";
import type { Clock } from "../lib/clock.ts";
import type { Config } from "../lib/config/parse.ts";
import { type GlobalPullSecret, openGlobalPullSecret } from "../lib/images/global_pull_secret.ts";
import { type ImageService, openImageService } from "../lib/images/image_service.ts";
import { type KnownImages, openKnownImages } from "../lib/images/known_images.ts";
import { openPodImages, type PodImages } from "../lib/images/pod_images.ts";
import { openPullSecrets } from "../lib/images/pull_secrets.ts";
import type { KubeApi } from "../lib/k8s/api.ts";
import type { ClusterAccess } from "../lib/k8s/cluster_access.ts";
import { type EventRecorder, openEventRecorder } from "../lib/k8s/event_recorder.ts";
import { openKubeApi } from "../lib/k8s/rest_api.ts";
import type { RootLogger } from "../lib/log.ts";
import { type Metrics, openMetrics } from "../lib/metrics.ts";
import { EVENT_SOURCE } from "../lib/names.ts";
import type { PlacementSettings } from "../lib/placement/config_types.ts";
import { openServingCertificate } from "../lib/tls/open_certificate.ts";
import type { ServingCertificate } from "../lib/tls/serving_certificate.ts";

/** What `serve` runs with. */
export interface ServeDeps {
  readonly config: Config;
  readonly settings: PlacementSettings;
  readonly access: ClusterAccess;
  readonly clock: Clock;
  readonly log: RootLogger;
  /** Unique name of this process. */
  readonly identity: string;
  readonly userAgent: string;
  /** How long requests are still taken after the stop signal, so that endpoints can learn of it (ms). */
  readonly lingerMs: number;
  /** Called once both listeners answer. */
  readonly onListening: (address: { readonly webhookPort: number; readonly adminPort: number }) => void;
}

/** The clients, open. */
export interface Clients {
  readonly api: KubeApi;
  readonly events: EventRecorder;
  readonly metrics: Metrics;
  readonly board: Board;
  readonly certificate: ServingCertificate;
  readonly imageService: ImageService;
  readonly images: PodImages;
  readonly known: KnownImages;
  readonly globalPullSecret: GlobalPullSecret | undefined;
}

/** Decisions that the dashboard shows. */
const BOARD_ROWS = 200;

/**
 * Opens them; what must be closed is left on the stack. `stop` ends the waiting for an API server, `following` ends what
 * goes on in the background.
 */
export async function openClients(
  parts: ServeDeps,
  life: {
    readonly stack: AsyncDisposableStack;
    readonly stop: AbortSignal;
    readonly following: AbortSignal;
    /** Pods are being placed: events give way to them. */
    readonly isPlacing: () => boolean;
  },
): Promise<Clients> {
  const { config, clock, log, userAgent } = parts;
  const { stack, stop, following, isPlacing } = life;
  const metrics = openMetrics();
  const api = stack.use(openKubeApi(parts.access, { clock, log, userAgent }));
  const known = openKnownImages({ clock, maxEntries: config.cacheEntries, tagTtlMs: config.tagTtl });
  const onChange = (): void => known.forgetPrivate();
  const globalPullSecret = config.pullSecrets === "none"
    ? undefined
    : openGlobalPullSecret({ api, ...config.globalPullSecret, clock, log, onChange });
  const clusterCredentials = (): ReturnType<GlobalPullSecret["credentials"]> => globalPullSecret?.credentials() ?? [];
  const imageService = stack.use(await openImageService({ config, clock, log, userAgent, clusterCredentials }));
  const images = openPodImages({
    inspector: imageService.inspector,
    pullSecrets: openPullSecrets({ api, mode: config.pullSecrets, ownNamespace: config.namespace, clock, log }),
    known,
    clock,
    log,
    signal: following,
    observe: ({ ms, report: { source, inspection } }) =>
      metrics.imageInspected({
        ms,
        source,
        ...(inspection.kind === "failed" ? { failure: inspection.failure.reason } : {}),
      }),
  });
  const certificate = await openServingCertificate({ config, api, clock, log }, stop);
  const events = stack.use(openEvents(parts, { api, metrics, isPlacing }));
  const board = openBoard({ capacity: BOARD_ROWS });
  return { api, events, metrics, board, certificate, imageService, images, known, globalPullSecret };
}

function openEvents(
  { clock, log, identity }: ServeDeps,
  { api, metrics, isPlacing }: {
    readonly api: KubeApi;
    readonly metrics: Metrics;
    readonly isPlacing: () => boolean;
  },
): EventRecorder {
  return openEventRecorder({
    api,
    clock,
    log,
    component: EVENT_SOURCE,
    instance: identity,
    isBusy: isPlacing,
    observe: (fate) => {
      if (fate !== "created" && fate !== "repeated") metrics.eventDropped();
    },
  });
}
