// What `archway report` reads: the workloads of the cluster and the inspections of their images.
import type { Clock } from "../../clock.ts";
import type { PodImageInspector } from "../../placement/images/pod_image_inspector.ts";
import { type KubeApi, type ReadApi, serverNowMs } from "../../k8s/api.ts";
import { listAll } from "../../k8s/lists.ts";
import { type KubeObject, Resource, type ResourceType } from "../../k8s/types.ts";
import type { FailureReason } from "../../oci/errors.ts";
import type { InspectedImage } from "../../oci/inspection.ts";
import { Inventory, type InventoryLimits } from "../decide/inventory.ts";
import type { Workload, WorkloadSupport } from "../decide/types.ts";
import { UNFINISHED_PODS } from "../../taints/cluster/watches.ts";
import { KNOWN_ARCHITECTURES } from "../../arch.ts";
import { failedArchitectures } from "../../exec_format/decide/failed_image.ts";
import type { PlacementSettings } from "../../placement/decide/config/settings.ts";
import { supportOf } from "../decide/support.ts";
import type { FailedImageList } from "./read_failed_images.ts";
import { isForbidden } from "../../k8s/api_error.ts";

/** Images inspected at a time. The limits of each registry apply as well. */
const PARALLEL = 16;
/** Attempts for an image: a complete report is worth a longer wait than a partial one. */
const MAX_ATTEMPTS = 3;
const TRIED_AGAIN: readonly FailureReason[] = ["RateLimited", "ServerError"];
const PAUSE_MS = 2_000;
const MAX_PAUSE_MS = 60_000;

/** CronJobs come before Jobs, because a Job that a CronJob has made is counted with the CronJob. */
const TEMPLATES: readonly ResourceType[] = [
  Resource.deployments,
  Resource.statefulSets,
  Resource.daemonSets,
  Resource.cronJobs,
  Resource.jobs,
];

interface Found<W> {
  readonly workloads: readonly W[];
  readonly unread: readonly string[];
  /** False when the cluster has more than a report holds. */
  readonly isComplete: boolean;
}

/** Reads the workloads of one namespace or of all. Throws API errors, except that forbidden kinds count as unread. */
async function readWorkloads(
  api: ReadApi,
  { namespace, signal, limits, candidates }: Pick<SupportOptions, "namespace" | "signal" | "limits" | "candidates">,
): Promise<Found<Workload>> {
  const inventory = new Inventory(limits, candidates);
  const unread: string[] = [];
  const read = async (type: ResourceType, add: (object: KubeObject) => void, selection = {}): Promise<void> => {
    try {
      for await (const object of listAll(api, type, { namespace, ...selection, signal })) add(object);
    } catch (error) {
      if (!isForbidden(error)) throw error;
      unread.push(type.plural);
    }
  };
  for (const type of TEMPLATES) await read(type, (object) => inventory.addTemplate(object, type.kind));
  await read(Resource.pods, (object) => inventory.addPod(object), { fieldSelector: UNFINISHED_PODS });
  return { workloads: inventory.workloads(), unread, isComplete: inventory.isComplete };
}

interface InspectDeps {
  readonly images: Pick<PodImageInspector, "inspect">;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Images inspected at a time; absent: {@link PARALLEL}. */
  readonly parallel?: number | undefined;
  readonly onProgress?: ((text: string) => void) | undefined;
}

type Inspections = (workload: Workload, image: string) => InspectedImage | undefined;

interface SharedScope {
  readonly workload: Workload;
  readonly found: Map<string, InspectedImage | undefined>;
}

/** Inspects all images, each once for each set of pull secrets. Rejects only when the signal aborts. */
async function inspectWorkloads(workloads: readonly Workload[], deps: InspectDeps): Promise<Inspections> {
  // One map for each identity, so that the names of its pull secrets, which may be long, are not kept per image.
  const byIdentity = new Map<string, SharedScope>();
  const byWorkload = new Map<Workload, SharedScope["found"]>();
  for (const workload of workloads) {
    const identity = JSON.stringify(workload.identity);
    const { found } = byIdentity.getOrInsertComputed(identity, () => ({ workload, found: new Map() }));
    for (const image of workload.images) found.set(image, undefined);
    byWorkload.set(workload, found);
  }
  const total = byIdentity.values().reduce((sum, { found }) => sum + found.size, 0);
  let done = 0;
  const report = (more = ""): void => deps.onProgress?.(renderInspected(done, total) + more);
  const queue = byIdentity.values().flatMap(({ workload, found }) =>
    found.keys().map((image) => ({ workload, image, found }))
  );
  const work = async (): Promise<void> => {
    for (const { workload, image, found } of queue) {
      found.set(image, await inspectImage(workload, image, { ...deps, onProgress: report }));
      done++;
      report();
    }
  };
  await Promise.all(Array.from({ length: deps.parallel ?? PARALLEL }, work));
  return (workload, image) => byWorkload.get(workload)?.get(image);
}

function renderInspected(done: number, total: number): string {
  return `report: ${done.toLocaleString("en")} of ${total.toLocaleString("en")} images`;
}

async function inspectImage(
  { identity }: Workload,
  image: string,
  { images, clock, signal, onProgress }: InspectDeps,
): Promise<InspectedImage | undefined> {
  const use = { image, pullsAlways: false };
  for (let attempt = 1;; attempt++) {
    const request = { identity, images: [use], priority: "prewarm" } as const;
    const [one] = await images.inspect(request, signal);
    const failure = one?.inspection.kind === "failed" ? one.inspection.failure : undefined;
    if (failure === undefined || !TRIED_AGAIN.includes(failure.reason) || attempt === MAX_ATTEMPTS) return one;
    onProgress?.(`; no answer, trying again (${attempt + 1} of ${MAX_ATTEMPTS})`);
    await clock.sleep(Math.min(failure.retryAfterMs ?? PAUSE_MS, MAX_PAUSE_MS), signal);
    signal.throwIfAborted();
  }
}

export interface SupportOptions extends InspectDeps {
  readonly api: KubeApi;
  readonly namespace?: string | undefined;
  /** The architectures that are asked about; absent: {@link KNOWN_ARCHITECTURES}. */
  readonly candidates?: readonly string[] | undefined;
  /** Reads on which architectures images have failed; absent: such failures are not considered. */
  readonly readFailedImages?: ((signal: AbortSignal) => Promise<FailedImageList>) | undefined;
  readonly limits?: InventoryLimits | undefined;
  readonly settings: PlacementSettings;
}

/** Reads the workloads and inspects their images. Throws API errors, except that forbidden kinds count as unread. */
export async function readSupport(options: SupportOptions): Promise<Found<WorkloadSupport>> {
  const { api, clock, signal, namespace, limits, candidates = KNOWN_ARCHITECTURES } = options;
  const { workloads, unread, isComplete } = await readWorkloads(api, { namespace, signal, limits, candidates });
  const failed = await options.readFailedImages?.(signal);
  const inspected = await inspectWorkloads(workloads, options);
  const nowMs = serverNowMs(clock, api);
  const found = workloads.map((workload) =>
    supportOf(workload, {
      candidates,
      settings: options.settings,
      inspected: (image) => inspected(workload, image),
      failedOn: (digest) => failedArchitectures(failed?.images ?? [], { digest, namespace: workload.namespace, nowMs }),
    })
  );
  const unreadToo = failed?.isForbidden ? [Resource.enoexecEvents.plural] : [];
  return { workloads: found, unread: [...unread, ...unreadToo], isComplete };
}
