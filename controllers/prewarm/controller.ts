// Inspects the images of workload templates on every replica, so that their new pods are not gated.
import { jitter } from "../../lib/clock.ts";
import { BackgroundRetries, inspectInBackground, isTransientFailure } from "../../lib/placement/images/background.ts";
import type { PodImageInspector, PodImagesRequest } from "../../lib/placement/images/pod_image_inspector.ts";
import { heapBytesOf } from "../../lib/json.ts";
import type { ReadApi } from "../../lib/k8s/api.ts";
import { RETENTION } from "../../lib/k8s/retention.ts";
import { Reflector } from "../../lib/k8s/reflector.ts";
import { type KubeObject, Resource, type ResourceType, splitKey } from "../../lib/k8s/types.ts";
import type { PlacementSettings } from "../../lib/placement/decide/config/settings.ts";
import { imagesToInspect, MAX_IMAGES } from "../../lib/placement/decide/images_to_inspect.ts";
import { pullIdentityOf } from "../../lib/placement/decide/pod/pod_refs.ts";
import { podTemplateOf } from "../../lib/placement/decide/pod/pod_view.ts";
import { type Controller, type ControllerDeps, DONE, openController, requeueAfter } from "../controller.ts";

interface PrewarmDeps extends ControllerDeps {
  readonly api: ReadApi;
  readonly images: PodImageInspector;
  readonly settings: PlacementSettings;
  /** How long a tag's digest is used (ms). It is refreshed before that. */
  readonly tagTtlMs: number;
}

const KINDS: readonly ResourceType[] = [
  Resource.deployments,
  Resource.statefulSets,
  Resource.daemonSets,
  Resource.jobs,
  Resource.cronJobs,
];

/** Parallel templates: few, because pods go first. Each registry's limits apply as well. */
const PARALLEL = 4;
/** Shares of a tag's TTL until it is looked up again: RENEWABLE_AFTER, and a jitter of at most RENEWED_WITHIN. */
const RENEWABLE_AFTER = 0.5;
const RENEWED_WITHIN = 0.35;

/** Bytes of a kept template besides its request, with its key here and in the queue. Usual total: 1 700. */
const TEMPLATE_BYTES = 1_000;
/** More keys than templates fit into a namespace's memory share, since deleted ones have keys, too. */
const MAX_KEYS_OF_NAMESPACE = 5_000;

/** The kept part of a template: its images, and who may pull them. */
interface Template {
  readonly request: Pick<PodImagesRequest, "identity" | "images">;
  readonly weight: number;
}

export function openPrewarm(deps: PrewarmDeps): Controller {
  const { images, clock, tagTtlMs } = deps;
  const retries = new BackgroundRetries();
  const templates = new Map(
    KINDS.map((kind) => [kind.plural, openTemplates(deps, kind, (key) => controller.enqueue(key))] as const),
  );
  const controller = openController({
    ...deps,
    name: "prewarm",
    watches: [...templates.values()],
    parallel: PARALLEL,
    queue: {
      flowOf: (key) => splitKey(key.split(" ")[1] ?? "").namespace ?? "",
      maxOfFlow: () => MAX_KEYS_OF_NAMESPACE,
    },
    reconcile: async (key, signal) => {
      const [plural = "", name = ""] = key.split(" ");
      const template = templates.get(plural)?.get(name);
      if (template === undefined) {
        retries.clear(key);
        return DONE;
      }
      const request = { ...template.request, priority: "prewarm", mayRenew: true } as const;
      const inspected = await inspectInBackground(images, request, { signal, clock });
      if (inspected === undefined || inspected.some(isTransientFailure)) return requeueAfter(retries.afterMs(key));
      retries.clear(key);
      // Inspections of digests never age.
      if (template.request.images.every(({ image }) => image.includes("@"))) return DONE;
      return requeueAfter(tagTtlMs * RENEWABLE_AFTER + jitter(tagTtlMs * RENEWED_WITHIN));
    },
  });
  return controller;
}

function openTemplates(deps: PrewarmDeps, resource: ResourceType, enqueue: (key: string) => void): Reflector<Template> {
  return new Reflector<Template>({
    ...deps,
    resource,
    name: `templates of ${resource.plural}`,
    parse: (object) => parseTemplate(object, deps.settings),
    onChange: ({ kind, key }) => kind === "apply" ? enqueue(`${resource.plural} ${key}`) : undefined,
    retain: { ...RETENTION.templates, weightOf: ({ weight }) => weight },
  });
}

function parseTemplate(object: KubeObject, settings: PlacementSettings): Template | undefined {
  const template = podTemplateOf(object);
  if (template === undefined) return undefined;
  // Pods look up `Always` images themselves; here a cached answer is enough.
  const images = imagesToInspect(template, settings).map((use) => ({ ...use, pullsAlways: false }));
  if (images.length > MAX_IMAGES) return undefined;
  const request = { identity: pullIdentityOf(template), images };
  return { request, weight: TEMPLATE_BYTES + heapBytesOf(JSON.stringify(request)) };
}
