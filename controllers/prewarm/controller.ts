// Inspects the images of workload templates when they change, before their pods exist, and keeps that knowledge fresh, so
// that a rollout gates no pod. Opened by main with --prewarm, run on every replica: each needs the memory itself.
import { type Clock, jitter } from "../../lib/clock.ts";
import type { PodImages } from "../../lib/images/pod_images.ts";
import type { ReadApi } from "../../lib/k8s/api.ts";
import { openReflector, type Reflector } from "../../lib/k8s/reflector.ts";
import { type KubeObject, Resource, type ResourceType } from "../../lib/k8s/types.ts";
import { WorkQueue } from "../../lib/k8s/work_queue.ts";
import type { Logger } from "../../lib/log.ts";
import type { PlacementSettings } from "../../lib/placement/config_types.ts";
import { imagesToInspect } from "../../lib/placement/images.ts";
import { podTemplateOf } from "../../lib/placement/pod_template.ts";
import type { PodView } from "../../lib/placement/types.ts";

/** What it is made with. */
export interface PrewarmDeps {
  readonly api: ReadApi;
  readonly images: PodImages;
  readonly clock: Clock;
  readonly log: Logger;
  readonly settings: () => PlacementSettings;
  /** How long a tag is believed (ms): knowledge is renewed before that ends. */
  readonly tagTtlMs: number;
}

/** The running controller. */
export interface Prewarm {
  /** Works until the signal aborts; never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** Templates whose images are not inspected yet. */
  backlog(): number;
}

const KINDS: readonly ResourceType[] = [
  Resource.deployments,
  Resource.statefulSets,
  Resource.daemonSets,
  Resource.jobs,
  Resource.cronJobs,
];

/** Templates inspected at a time: few, for pods come first; the registries' own budget has the last word. */
const PARALLEL = 4;

/** Makes the controller. Nothing is asked of the API server before `run`. */
export function openPrewarm(parts: PrewarmDeps): Prewarm {
  const { api, images, clock, log, settings, tagTtlMs } = parts;
  const reflectors = new Map<string, Reflector<PodView>>(KINDS.map((resource) => [
    resource.plural,
    openReflector<PodView>({
      api,
      resource,
      parse: (object: KubeObject) => podTemplateOf(object),
      onChange: ({ kind, key }) => {
        if (kind === "apply") queue.add(`${resource.plural} ${key}`);
      },
      clock,
      log,
      name: `templates of ${resource.plural}`,
    }),
  ]));
  const queue = new WorkQueue({
    name: "prewarm",
    parallel: PARALLEL,
    clock,
    log,
    reconcile: async (key, signal) => {
      const [plural = "", name = ""] = key.split(" ");
      const template = reflectors.get(plural)?.get(name);
      if (template === undefined) return { kind: "done" };
      const wanted = imagesToInspect(template, settings());
      const scope = { namespace: template.namespace, pullSecrets: template.imagePullSecrets };
      await images.inspect({ scope, images: wanted, priority: "prewarm" }, signal);
      const isPinned = wanted.every(({ image }) => image.includes("@sha"));
      return isPinned ? { kind: "done" } : { kind: "again", afterMs: jitter(tagTtlMs * 0.9) };
    },
  });
  return {
    run: async (signal) => {
      await Promise.all([queue.run(signal), ...[...reflectors.values()].map((reflector) => reflector.run(signal))]);
    },
    backlog: () => queue.depth,
  };
}
