// The clients of `archway serve`: API server, registries, metrics, serving certificate. Three values stand
// for the API server, so that every call shows what may be written and by which replica.
import { type Board, openBoard } from "../lib/server/board.ts";
import type { Clock } from "../lib/clock.ts";
import type { Config } from "../lib/config/parse.ts";
import { type GlobalPullSecret, openGlobalPullSecret } from "../lib/images/global_pull_secret.ts";
import { type ImageService, openImageService } from "../lib/images/image_service.ts";
import { openPodImages, type PodImages } from "../lib/images/pod_images.ts";
import { openPullSecrets } from "../lib/images/pull_secrets.ts";
import type { KnownImages } from "../lib/images/known_images.ts";
import type { FailedImages } from "../lib/informers/failed_images.ts";
import { openPlacedImages } from "./exec_format.ts";
import type { KubeApi, ReadApi } from "../lib/k8s/api.ts";
import type { ClusterAccess } from "../lib/k8s/cluster_access.ts";
import { type Election, openElection } from "../lib/k8s/lease.ts";
import { openKubeApi } from "../lib/k8s/rest_api.ts";
import { fenceWrites } from "../lib/k8s/write_fence.ts";
import type { RootLogger } from "../lib/log.ts";
import { type Metrics, openMetrics } from "../lib/metrics.ts";
import { LEASE_NAME } from "../lib/names.ts";
import type { PlacementSettings } from "../lib/placement/config/types.ts";
import { openSecretRecord } from "../lib/k8s/secret_record.ts";
import { openSharedPathSecret, type SharedPathSecret } from "../lib/path_secret/shared_path_secret.ts";
import { PATH_TERMS } from "../lib/path_secret/state.ts";
import { PATH_SECRET } from "../lib/path_secret/stored_form.ts";
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
  /** How long requests are still taken after the stop signal, until the endpoints of the Service have followed (ms). */
  readonly lingerMs: number;
  /** Called once both listeners answer. */
  readonly onListening: (address: { readonly webhookPort: number; readonly adminPort: number }) => void;
}

/** The clients, open. */
export interface Clients {
  readonly readApi: ReadApi;
  /** For the leader's controllers: writes fail once the Lease has run out, also in a process that was frozen meanwhile. */
  readonly leaderApi: KubeApi;
  /** For the few writes that any replica makes: Lease, events, certificate, "no leader" as a condition, and leaving. */
  readonly replicaApi: KubeApi;
  readonly election: Election;
  readonly metrics: Metrics;
  readonly board: Board;
  readonly certificate: ServingCertificate;
  /** Connections of their own for what a validating webhook reads: an API server waits for the answer. */
  readonly checkApi: ReadApi;
  /** The secret of the webhook paths; undefined with `--webhook-path=plain`. */
  readonly pathSecret: SharedPathSecret | undefined;
  readonly imageService: ImageService;
  /** What pods are placed by. */
  readonly images: PodImages;
  /** What is known of images without asking, as pods are placed by it. */
  readonly known: KnownImages;
  /** What the registries say of images, whatever became of their programs. */
  readonly claimedImages: PodImages;
  /** Images that lack an architecture which they claim; undefined where that is not to count. */
  readonly failedImages: FailedImages | undefined;
  readonly globalPullSecret: GlobalPullSecret | undefined;
}

/** The signals and the stack that bound the lifetime of the clients. */
export interface ClientsLifetime {
  /** What must be closed is left here. */
  readonly stack: AsyncDisposableStack;
  /** Ends the waiting for an API server. */
  readonly stop: AbortSignal;
  /** Ends what goes on in the background. */
  readonly background: AbortSignal;
}

/** Decisions that the dashboard shows. */
const BOARD_ROWS = 200;

/** Opens them. Rejects when the certificate's files are wrong, or the API server refuses its Secret. */
export async function openClients(deps: ServeDeps, lifetime: ClientsLifetime): Promise<Clients> {
  const { config, access, clock, log, identity, userAgent } = deps;
  const metrics = openMetrics();
  const api = lifetime.stack.use(openKubeApi(access, { clock, log, userAgent, observe: metrics.apiCall }));
  const election = openElection({ api, namespace: config.namespace, name: LEASE_NAME, identity, clock, log });
  const isLeaseHeld = (): boolean => clock.monotonicMs() < (election.view().heldUntilMs ?? 0);
  const onChange = (): void => imageService.known.forgetPrivate();
  const globalPullSecret = watchGlobalPullSecret(deps, { api, onChange });
  const imageService: ImageService = lifetime.stack.use(
    await openImageService({
      config,
      clock,
      log,
      userAgent,
      clusterCredentials: () => globalPullSecret?.credentials() ?? [],
    }),
  );
  const claimedImages = openImages(deps, { api, metrics, imageService, signal: lifetime.background });
  const placed = await openPlacedImages(deps, { api, claimedImages, known: imageService.known });
  return {
    images: placed.images,
    known: placed.known,
    failedImages: placed.failedImages,
    readApi: api,
    leaderApi: fenceWrites(api, isLeaseHeld),
    replicaApi: api,
    election,
    metrics,
    board: openBoard({ capacity: BOARD_ROWS }),
    certificate: await openServingCertificate({ config, api, clock, log }, lifetime.stop),
    checkApi: lifetime.stack.use(openKubeApi(access, { clock, log, userAgent, observe: metrics.apiCall })),
    pathSecret: await openPathSecret(deps, { api, stop: lifetime.stop }),
    imageService,
    claimedImages,
    globalPullSecret,
  };
}

function watchGlobalPullSecret(
  { config: { pullSecrets, globalPullSecret: { namespace, name } }, clock, log }: ServeDeps,
  { api, onChange }: { readonly api: ReadApi; readonly onChange: () => void },
): GlobalPullSecret | undefined {
  return pullSecrets === "none" ? undefined : openGlobalPullSecret({ api, namespace, name, clock, log, onChange });
}

async function openPathSecret(
  { config, clock, log }: ServeDeps,
  { api, stop }: { readonly api: KubeApi; readonly stop: AbortSignal },
): Promise<SharedPathSecret | undefined> {
  if (config.webhookPath === "plain") return undefined;
  const record = openSecretRecord(api, { namespace: config.namespace, name: PATH_SECRET, type: "Opaque" });
  const makeSecret = (): string => crypto.getRandomValues(new Uint8Array(32)).toHex();
  return await openSharedPathSecret({ record, terms: PATH_TERMS, clock, log, makeSecret }, stop);
}

function openImages(
  { config, clock, log }: ServeDeps,
  { api, metrics, imageService, signal }: {
    readonly api: ReadApi;
    readonly metrics: Metrics;
    readonly imageService: ImageService;
    readonly signal: AbortSignal;
  },
): PodImages {
  return openPodImages({
    inspector: imageService.inspector,
    pullSecrets: openPullSecrets({ api, mode: config.pullSecrets, ownNamespace: config.namespace, clock, log }),
    known: imageService.known,
    clock,
    log,
    signal,
    observe: ({ ms, report: { source, inspection } }) =>
      metrics.imageInspected({
        ms,
        source,
        failure: inspection.kind === "failed" ? inspection.failure.reason : undefined,
      }),
  });
}
