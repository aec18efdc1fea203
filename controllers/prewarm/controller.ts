// Inspects the images of workload templates on every replica, so that new pods of them are not gated.
import { jitter } from "../../lib/clock.ts";
import { BackgroundRetries, inspectInBackground, mayPass } from "../../lib/images/pods/background.ts";
import type { PodImages, PodImagesRequest } from "../../lib/images/pods/pod_images.ts";
import { heapBytesOf } from "../../lib/json.ts";
import type { ReadApi } from "../../lib/k8s/api.ts";
import { KEPT } from "../../lib/k8s/kept.ts";
import { Reflector } from "../../lib/k8s/reflector.ts";
import { type KubeObject, Resource, type ResourceType, splitKey } from "../../lib/k8s/types.ts";
import type { PlacementSettings } from "../../lib/placement/decide/config/types.ts";
import { imagesToInspect, MAX_IMAGES } from "../../lib/placement/decide/images.ts";
import { pullScopeOf } from "../../lib/placement/decide/pod/pod_refs.ts";
import { podTemplateOf } from "../../lib/placement/decide/pod/pod_view.ts";
import { type Controller, type ControllerDeps, DONE, openController, requeueAfter } from "../controller.ts";

interface PrewarmDeps extends ControllerDeps {
  readonly api: ReadApi;
  readonly images: PodImages;
  readonly settings: PlacementSettings;
  /** How long the digest of a tag is used (ms): it is looked up again before that ends. */
  readonly tagTtlMs: number;
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
/** Shares of a tag's TTL: the first passes before the next look-up; the second, jittered, comes on top, still within the TTL. */
const RENEWABLE_AFTER = 0.5;
const RENEWED_WITHIN = 0.35;

/** A template whose images and pull secrets take more text is left out: none may have a large part of the share of a namespace. */
const MAX_REQUEST_CHARACTERS = 16 * 1024;

/** What a kept template takes beside its request, with its key here and in the queue. An ordinary one weighs 1 700 in all. */
const TEMPLATE_BYTES = 1_000;
/** More than the memory share of a namespace holds: templates that come and go have keys, too. */
const MAX_KEYS_OF_NAMESPACE = 5_000;

/** The images of a template, and who may pull them: all that is kept of it. */
interface Template {
  readonly request: Pick<PodImagesRequest, "scope" | "images">;
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
      groupOf: (key) => splitKey(key.split(" ")[1] ?? "").namespace ?? "",
      maxOfGroup: () => MAX_KEYS_OF_NAMESPACE,
    },
    reconcile: async (key, signal) => {
      const [plural = "", name = ""] = key.split(" ");
      const template = templates.get(plural)?.get(name);
      if (template === undefined) {
        retries.clear(key);
        return DONE;
      }
      const request = { ...template.request, priority: "prewarm", renew: true } as const;
      const inspected = await inspectInBackground(images, request, { signal, clock });
      if (inspected === undefined || inspected.some(mayPass)) return requeueAfter(retries.afterMs(key));
      retries.clear(key);
      // What is known of a digest never ages.
      if (template.request.images.every(({ image }) => image.includes("@"))) return DONE;
      return requeueAfter(tagTtlMs * RENEWABLE_AFTER + jitter(tagTtlMs * RENEWED_WITHIN));
    },
  });
  return controller;
}

function openTemplates(deps: PrewarmDeps, resource: ResourceType, enqueue: (key: string) => void): Reflector<Template> {
  const { api, clock, log } = deps;
  return new Reflector<Template>({
    api,
    clock,
    log,
    resource,
    name: `templates of ${resource.plural}`,
    parse: (object) => parseTemplate(object, deps.settings),
    onChange: ({ kind, key }) => kind === "apply" ? enqueue(`${resource.plural} ${key}`) : undefined,
    keep: { ...KEPT.templates, weightOf: ({ weight }) => weight },
  });
}

function parseTemplate(object: KubeObject, settings: PlacementSettings): Template | undefined {
  const template = podTemplateOf(object);
  if (template === undefined) return undefined;
  // Pods look `Always` images up themselves; here it is enough that they are known.
  const images = imagesToInspect(template, settings).map((use) => ({ ...use, always: false }));
  if (images.length > MAX_IMAGES) return undefined;
  const request = { scope: pullScopeOf(template), images };
  const text = JSON.stringify(request);
  return text.length > MAX_REQUEST_CHARACTERS ? undefined : { request, weight: TEMPLATE_BYTES + heapBytesOf(text) };
}
