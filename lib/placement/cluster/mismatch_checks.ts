// Warns of mismatches where the webhook changes nothing: images added to bound pods, and pods that name architectures.
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Clock } from "../../clock.ts";
import type { PodImageInspector } from "../images/pod_image_inspector.ts";
import type { EventObject } from "../../k8s/event_input.ts";
import type { EventRecorder } from "../../k8s/event_recorder.ts";
import { errorText, type Logger } from "../../log.ts";
import { BACKGROUND_SHARES } from "../../oci/limits/work_limits.ts";
import type { ImageUse } from "../../oci/inspection.ts";
import type { PlacementSettings } from "../decide/config/settings.ts";
import { livingBy } from "../../oci/cache_limits.ts";
import { judgeImages } from "../decide/judge_images.ts";
import { MAX_IMAGES, pinnedImages, reduceToImages } from "../decide/images_to_inspect.ts";
import { expressionsOf } from "../decide/pod/constraints.ts";
import { withoutArchwaysRequirement } from "../decide/pod/archways_terms.ts";
import { podObject, pullIdentityOf } from "../decide/pod/pod_refs.ts";
import { containersToKnow, type LateImages, lateImagesEvent, pinEvent } from "../decide/events/mismatches.ts";
import type { ContainerView, PodView } from "../decide/pod/pod_view.ts";
import { podImagesWithBundles } from "./pod_images_with_bundles.ts";

export interface MismatchDeps {
  readonly clock: Clock;
  readonly images: PodImageInspector;
  readonly events: EventRecorder;
  readonly log: Logger;
  readonly architectureOf: (node: string) => string | undefined;
  readonly settingsOf: (namespace: string) => PlacementSettings;
  readonly onPinMismatch: () => void;
  readonly onLateMismatch: (came: LateImages["came"]) => void;
  readonly signal: AbortSignal;
}

export interface MismatchChecks {
  readonly checkLateImages: (pod: PodView, images: LateImages) => void;
  /** Checks a new pod, which may name architectures itself. */
  readonly checkPinned: (pod: PodView) => void;
}

/** Fewest image permits per pod, which limit one namespace to 16 pods at a time. */
const MIN_WEIGHT = 16;
/** Most characters of a pod's owner, images and node requirements, which stay in memory during inspections. */
const MAX_KEPT_CHARACTERS = 16_384;
/** Longest name that the API server accepts. */
const MAX_NAME = 253;
/** Checked workloads that are remembered. Each is checked again after an hour (ms): a tag may have moved. */
const MAX_SEEN = 4_096;
const SEEN_MS = 3_600_000;

export function openMismatchChecks(deps: MismatchDeps): MismatchChecks {
  const seen = new LRUCache<string, true>({ max: MAX_SEEN, ttl: SEEN_MS, ...livingBy(deps.clock) });
  const inBackground = (pod: PodView, wanted: readonly ImageUse[], check: () => Promise<void>): void => {
    if (wanted.length === 0 || wanted.length > MAX_IMAGES || deps.signal.aborted) return;
    const weight = Math.max(MIN_WEIGHT, wanted.length);
    const permit = deps.images.permits.tryAcquire(pod.namespace, {
      weight,
      maxShare: BACKGROUND_SHARES.mismatchChecks,
    });
    if (permit === undefined) return;
    check()
      .catch((error: unknown) =>
        deps.log.debug("images of a pod with a possible mismatch not checked", { reason: errorText(error) })
      )
      .finally(() => permit.release());
  };
  return {
    checkLateImages: (pod, late) => {
      const containers = containersToKnow(pod, late.containers, deps.settingsOf(pod.namespace));
      const wanted = distinctImages(containers);
      if (pod.nodeName === "" || late.containers.length === 0 || keyTextOf(pod, wanted) === undefined) return;
      inBackground(pod, wanted, () => checkLate(deps, podForCheck(pod, wanted), { ...late, wanted }));
    },
    checkPinned: (admitted) => {
      const wanted = distinctImages(pinnedImages(admitted, deps.settingsOf(admitted.namespace)));
      if (wanted.length === 0) return;
      const pod = withoutArchwaysRequirement(admitted);
      const text = keyTextOf(pod, wanted);
      if (text === undefined) return;
      const key = createHash("sha256").update(text).digest("base64");
      // Unlike has(), get() counts as a use: the workloads that make most pods stay in the cache.
      if (seen.get(key)) return;
      seen.set(key, true);
      inBackground(pod, wanted, () => checkPinned(deps, podForCheck(pod, wanted), wanted));
    },
  };
}

/** What is kept of a pod, as text; undefined when larger than any real pod needs. */
function keyTextOf(pod: PodView, images: readonly { readonly image: string }[]): string | undefined {
  const owner = ownerOf(pod);
  const text = JSON.stringify([owner, images.map(({ image }) => image), pod.nodeSelector, keptTerms(pod)]);
  return text.length > MAX_KEPT_CHARACTERS || owner.name.length > MAX_NAME ? undefined : text;
}

/** The required terms without `matchFields`, which name the node of a DaemonSet's pod. */
function keptTerms({ requiredTerms }: PodView): PodView["requiredTerms"] {
  return requiredTerms?.map((term) => ({ matchExpressions: expressionsOf(term) }));
}

function podForCheck(pod: PodView, wanted: readonly ImageUse[]): PodView {
  const { nodeSelector, owners } = pod;
  return {
    ...reduceToImages(pod, wanted),
    nodeSelector,
    requiredTerms: keptTerms(pod),
    owners: owners.filter(({ controller }) => controller),
  };
}

async function checkLate(
  { images, events, settingsOf, architectureOf, onLateMismatch, signal }: MismatchDeps,
  pod: PodView,
  { came, containers, wanted }: LateImages & { readonly wanted: readonly ImageUse[] },
): Promise<void> {
  const inspected = await images.inspect(
    { identity: pullIdentityOf(pod), images: wanted, priority: "admission" },
    signal,
  );
  const event = lateImagesEvent(pod, {
    came,
    containers,
    settings: settingsOf(pod.namespace),
    nodeArchitecture: architectureOf(pod.nodeName),
    images: inspected,
  });
  if (event === undefined) return;
  onLateMismatch(came);
  events.record({ ...event, object: podObject(pod) });
}

async function checkPinned(deps: MismatchDeps, pod: PodView, wanted: readonly ImageUse[]): Promise<void> {
  const { images, events, settingsOf, signal } = deps;
  const settings = settingsOf(pod.namespace);
  const request = { identity: pullIdentityOf(pod), images: wanted, priority: "prewarm" } as const;
  const inspected = await podImagesWithBundles(images, pod, settings).inspect(request, signal);
  const event = pinEvent(pod, judgeImages(pod, settings, wanted, inspected));
  if (event === undefined) return;
  deps.onPinMismatch();
  const object = ownerOf(pod);
  events.record({ ...event, object, ...object.uid === undefined ? {} : { slot: 1 } });
}

/** The controller of the pod, or the pod itself without one. At admission most pods have no name yet. */
function ownerOf(pod: PodView): EventObject {
  const { namespace } = pod;
  const controller = pod.owners.find((owner) => owner.controller);
  if (controller === undefined) return { apiVersion: "v1", kind: "Pod", namespace, name: pod.name || pod.generateName };
  const { apiVersion, kind, name, uid } = controller;
  return { apiVersion, kind, namespace, name, uid };
}

/** Each image once, never with `pullsAlways`: a cached answer is enough for a warning. */
function distinctImages(containers: readonly Pick<ContainerView, "image">[]): readonly ImageUse[] {
  const names = new Set(containers.map(({ image }) => image).filter((image) => image !== ""));
  return [...names].map((image) => ({ image, pullsAlways: false }));
}
