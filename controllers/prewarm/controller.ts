// Inspects the images of workload templates when they change, before their pods exist, and keeps that knowledge fresh, so
// that a rollout gates no pod. Runs on every replica: each needs the images in its own memory.
import { type Clock, jitter } from "../../lib/clock.ts";
import { areAllPinned, type PodImages } from "../../lib/images/pod_images.ts";
import type { ReadApi } from "../../lib/k8s/api.ts";
import { openReflector, type Reflector } from "../../lib/k8s/reflector.ts";
import { Resource, type ResourceType } from "../../lib/k8s/types.ts";
import type { Logger } from "../../lib/log.ts";
import type { PlacementSettings } from "../../lib/placement/config/types.ts";
import { imagesToInspect, MAX_IMAGES } from "../../lib/placement/images.ts";
import { pullScopeOf } from "../../lib/placement/pod_refs.ts";
import { podTemplateOf, unlessLarge } from "../../lib/placement/pod_view.ts";
import type { PodView } from "../../lib/placement/types.ts";
import { type Controller, type ControllerOptions, DONE, openController, requeueAfter } from "../controller.ts";

/** Clients, and what is answered at once from memory. */
export interface PrewarmDeps {
  readonly api: ReadApi;
  readonly images: PodImages;
  readonly clock: Clock;
  readonly log: Logger;
  readonly settings: () => PlacementSettings;
  /** How long the digest of a tag is used (ms): it is looked up again before that ends. */
  readonly tagTtlMs: number;
  readonly queueMetrics?: ControllerOptions["queueMetrics"];
}

const KINDS: readonly ResourceType[] = [
  Resource.deployments,
  Resource.statefulSets,
  Resource.daemonSets,
  Resource.jobs,
  Resource.cronJobs,
];

/** Templates inspected at a time: few, because pods go first; the limits of each registry apply besides. */
const PARALLEL = 4;
/** Shares of a tag's TTL: before the first it is never looked up again; the second, with jitter, keeps well clear of its end. */
const RENEWABLE_AFTER = 0.5;
const RENEWED_WITHIN = 0.35;

/** Makes the controller; its keys are `PLURAL NAMESPACE/NAME`. No request is sent to the API server before `run`. */
export function openPrewarm(deps: PrewarmDeps): Controller {
  const { images, clock, log, settings, tagTtlMs, queueMetrics } = deps;
  const templates = new Map(
    KINDS.map((kind) => [kind.plural, openTemplates(deps, kind, (key) => controller.enqueue(key))] as const),
  );
  const controller = openController({
    name: "prewarm",
    watches: [...templates.values()],
    parallel: PARALLEL,
    clock,
    log,
    queueMetrics,
    reconcile: async (key, signal) => {
      const [plural = "", name = ""] = key.split(" ");
      const template = templates.get(plural)?.get(name);
      if (template === undefined) return DONE;
      // Pods look `Always` images up themselves; here it is enough that they are known.
      const wanted = imagesToInspect(template, settings()).map((use) => ({ ...use, always: false }));
      if (wanted.length > MAX_IMAGES) return DONE;
      await images.inspect({ scope: pullScopeOf(template), images: wanted, priority: "prewarm", renew: true }, signal);
      if (areAllPinned(wanted)) return DONE;
      return requeueAfter(tagTtlMs * RENEWABLE_AFTER + jitter(tagTtlMs * RENEWED_WITHIN));
    },
  });
  return controller;
}

function openTemplates(
  { api, clock, log }: PrewarmDeps,
  resource: ResourceType,
  enqueue: (key: string) => void,
): Reflector<PodView> {
  return openReflector<PodView>({
    api,
    resource,
    // The pods of a large one wait for their images.
    parse: (object) => unlessLarge(podTemplateOf(object)),
    onChange: ({ kind, key }) => {
      if (kind === "apply") enqueue(`${resource.plural} ${key}`);
    },
    clock,
    log,
    name: `templates of ${resource.plural}`,
  });
}
