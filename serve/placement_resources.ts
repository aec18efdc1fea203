// What placement is made of: registries, metrics, serving certificate, and separate connections to the API server.
import { DecisionRing } from "../lib/placement/cluster/decision_ring.ts";
import { openGlobalPullSecret } from "../lib/placement/images/global_pull_secret.ts";
import { type ImageService, openImageService, openPodImages } from "../lib/placement/images/image_service.ts";
import type { PodImageInspector } from "../lib/placement/images/pod_image_inspector.ts";
import type { FailedImages } from "../lib/exec_format/cluster/failed_images.ts";
import { openImagesToPlace } from "./exec_format.ts";
import type { ReadApi } from "../lib/k8s/api.ts";
import type { Reflector } from "../lib/k8s/reflector.ts";
import type { Credential } from "../lib/oci/credential.ts";
import { RestApi } from "../lib/k8s/rest_api.ts";
import { EXEC_FORMAT_COUNTERS, type ExecFormatMetrics } from "../lib/exec_format/metrics.ts";
import { openMetrics } from "../lib/metrics.ts";
import { PlacementMetrics } from "../lib/placement/metrics.ts";
import { SERVER_METRICS, type ServerMetrics } from "../lib/server/metrics.ts";
import { TAINT_COUNTERS, type TaintMetrics } from "../lib/taints/metrics.ts";
import type { ServeDeps, SharedResources } from "./capability.ts";
import { SecretStore } from "../lib/k8s/secret_store.ts";
import { openPathSecret, PATH_SECRET, type PathSecret } from "../lib/server/path_secret.ts";
import { openServingCertificate } from "../lib/server/certificate/open_certificate.ts";
import type { ServingCertificate } from "../lib/server/certificate/serving_certificate.ts";

export interface PlacementResources {
  readonly shared: SharedResources;
  readonly metrics: ServeMetrics;
  readonly decisions: DecisionRing;
  readonly certificate: ServingCertificate;
  /** Reads for the validating webhooks, on separate connections because an API server waits for the answer. */
  readonly checkApi: ReadApi;
  /** The secret of the webhook paths; undefined with `webhookPath: plain`. */
  readonly pathSecret: PathSecret | undefined;
  readonly imageService: ImageService;
  readonly images: PodImageInspector;
  /** What registries say about images, without exec format errors. */
  readonly claimedImages: PodImageInspector;
  /** Images that lack an architecture they claim; undefined when that is ignored. */
  readonly failedImages: FailedImages | undefined;
  readonly globalPullSecret: Reflector<readonly Credential[]> | undefined;
}

interface ServeMetrics {
  readonly placement: PlacementMetrics;
  readonly server: ServerMetrics;
  readonly execFormat: ExecFormatMetrics;
  readonly taints: TaintMetrics;
}

const MAX_RECENT_DECISIONS = 200;

/** Rejects when the certificate's files are wrong, or the API server refuses its Secret. */
export async function openPlacementResources(deps: ServeDeps, shared: SharedResources): Promise<PlacementResources> {
  const { config, access, clock, log, userAgent } = deps;
  const { pullSecrets, globalPullSecret: { namespace, name } } = config;
  const { clientMetrics, readApi: api, metricsRegistry, unfencedApi, stack, stop } = shared;
  const metrics: ServeMetrics = {
    placement: new PlacementMetrics(metricsRegistry),
    server: openMetrics(metricsRegistry, SERVER_METRICS),
    execFormat: openMetrics(metricsRegistry, EXEC_FORMAT_COUNTERS),
    taints: openMetrics(metricsRegistry, TAINT_COUNTERS),
  };
  const onChange = (): void => imageService.known.forgetPrivate();
  const globalPullSecret = pullSecrets === "none"
    ? undefined
    : openGlobalPullSecret({ api, namespace, name, clock, log, onChange });
  const imageService: ImageService = stack.use(
    await openImageService({
      config,
      clock,
      log,
      userAgent,
      clusterCredentials: () => [...globalPullSecret?.values() ?? []].flat(),
    }),
  );
  const claimedImages = openClaimedImages(deps, shared, { metrics: metrics.placement, imageService });
  const { images, failedImages } = await openImagesToPlace(deps, { api, claimedImages });
  return {
    shared,
    metrics,
    images,
    failedImages,
    decisions: new DecisionRing({ capacity: MAX_RECENT_DECISIONS }),
    certificate: await openServingCertificate({ config, api: unfencedApi, clock, log }, stop),
    checkApi: stack.use(new RestApi(access, { clock, log, userAgent, observe: clientMetrics.apiCall })),
    pathSecret: await pathSecretOf(deps, shared),
    imageService,
    claimedImages,
    globalPullSecret,
  };
}

async function pathSecretOf(
  { config, clock, log }: ServeDeps,
  { unfencedApi, stop }: SharedResources,
): Promise<PathSecret | undefined> {
  if (config.webhookPath === "plain") return undefined;
  const store = new SecretStore(unfencedApi, { namespace: config.namespace, name: PATH_SECRET, type: "Opaque" });
  const makeSecret = (): string => crypto.getRandomValues(new Uint8Array(32)).toHex();
  return await openPathSecret({ store, clock, log, makeSecret }, stop);
}

function openClaimedImages(
  { config, clock, log }: ServeDeps,
  { readApi: api, background: signal }: SharedResources,
  { metrics, imageService }: { readonly metrics: PlacementMetrics; readonly imageService: ImageService },
): PodImageInspector {
  return openPodImages(imageService, {
    api,
    mode: config.pullSecrets,
    ownNamespace: config.namespace,
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
