// The parts of placement: registries, metrics, serving certificate, and connections of its own to the API server.
import { type Board, openBoard } from "../lib/placement/decide/report/board.ts";
import { type GlobalPullSecret, openGlobalPullSecret } from "../lib/images/pods/global_pull_secret.ts";
import { type ImageService, openImageService } from "../lib/images/pods/image_service.ts";
import { openPodImages, type PodImages } from "../lib/images/pods/pod_images.ts";
import { PullSecrets } from "../lib/images/pods/pull_secrets.ts";
import type { FailedImages } from "../lib/exec_format/cluster/failed_images.ts";
import { openPlacedImages } from "./exec_format.ts";
import type { ReadApi } from "../lib/k8s/api.ts";
import { RestApi } from "../lib/k8s/rest_api.ts";
import { EXEC_FORMAT_COUNTERS, type ExecFormatMetrics } from "../lib/exec_format/metrics.ts";
import { openMetrics } from "../lib/metrics.ts";
import { PlacementMetrics } from "../lib/placement/metrics.ts";
import { SERVER_METRICS, type ServerMetrics } from "../lib/server/metrics.ts";
import { TAINT_COUNTERS, type TaintMetrics } from "../lib/taints/metrics.ts";
import type { CapabilityParts, ServeDeps } from "./capability.ts";
import { SecretRecord } from "../lib/k8s/secret_record.ts";
import { openPathSecret, PATH_SECRET, type PathSecret } from "../lib/server/path_secret.ts";
import { openServingCertificate } from "../lib/server/certificate/open_certificate.ts";
import type { ServingCertificate } from "../lib/server/certificate/serving_certificate.ts";

export interface PlacementParts {
  readonly capability: CapabilityParts;
  readonly metrics: ServeMetrics;
  readonly board: Board;
  readonly certificate: ServingCertificate;
  /** For reads of the validating webhooks, with connections of its own, since an API server waits for the answer. */
  readonly checkApi: ReadApi;
  /** The secret of the webhook paths; undefined with `webhookPath: plain`. */
  readonly pathSecret: PathSecret | undefined;
  readonly imageService: ImageService;
  readonly images: PodImages;
  /** What the registries say of images, whatever became of their programs. */
  readonly claimedImages: PodImages;
  /** Images that lack an architecture which they claim; undefined where that is not to count. */
  readonly failedImages: FailedImages | undefined;
  readonly globalPullSecret: GlobalPullSecret | undefined;
}

interface ServeMetrics {
  readonly placement: PlacementMetrics;
  readonly server: ServerMetrics;
  readonly execFormat: ExecFormatMetrics;
  readonly taints: TaintMetrics;
}

const BOARD_ROWS = 200;

/** Rejects when the certificate's files are wrong, or the API server refuses its Secret. */
export async function openPlacementParts(deps: ServeDeps, parts: CapabilityParts): Promise<PlacementParts> {
  const { config, access, clock, log, userAgent } = deps;
  const { clientMetrics, readApi: api, registry, replicaApi, stack, stop } = parts;
  const metrics: ServeMetrics = {
    placement: new PlacementMetrics(registry),
    server: openMetrics(registry, SERVER_METRICS),
    execFormat: openMetrics(registry, EXEC_FORMAT_COUNTERS),
    taints: openMetrics(registry, TAINT_COUNTERS),
  };
  const onChange = (): void => imageService.known.forgetPrivate();
  const globalPullSecret = watchGlobalPullSecret(deps, { api, onChange });
  const imageService: ImageService = stack.use(
    await openImageService({
      config,
      clock,
      log,
      userAgent,
      clusterCredentials: () => globalPullSecret?.credentials() ?? [],
    }),
  );
  const claimedImages = openImages(deps, parts, { metrics: metrics.placement, imageService });
  const { images, failedImages } = await openPlacedImages(deps, { api, claimedImages });
  return {
    capability: parts,
    metrics,
    images,
    failedImages,
    board: openBoard({ capacity: BOARD_ROWS }),
    certificate: await openServingCertificate({ config, api: replicaApi, clock, log }, stop),
    checkApi: stack.use(new RestApi(access, { clock, log, userAgent, observe: clientMetrics.apiCall })),
    pathSecret: await pathSecretOf(deps, parts),
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

async function pathSecretOf(
  { config, clock, log }: ServeDeps,
  { replicaApi, stop }: CapabilityParts,
): Promise<PathSecret | undefined> {
  if (config.webhookPath === "plain") return undefined;
  const record = new SecretRecord(replicaApi, { namespace: config.namespace, name: PATH_SECRET, type: "Opaque" });
  const makeSecret = (): string => crypto.getRandomValues(new Uint8Array(32)).toHex();
  return await openPathSecret({ record, clock, log, makeSecret }, stop);
}

function openImages(
  { config, clock, log }: ServeDeps,
  { readApi: api, background: signal }: CapabilityParts,
  { metrics, imageService }: { readonly metrics: PlacementMetrics; readonly imageService: ImageService },
): PodImages {
  const { inspector, known, limits } = imageService;
  return openPodImages({
    inspector,
    pullSecrets: new PullSecrets({ api, mode: config.pullSecrets, ownNamespace: config.namespace, limits, clock, log }),
    known,
    limits,
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
