// What the tests of small controllers share: images that answer from a table, a recorder that keeps events, and a controller
// that runs.
import assert from "node:assert/strict";
import type { PodImageInspector, PodImagesRequest } from "../../lib/placement/images/pod_image_inspector.ts";
import type { EventInput } from "../../lib/k8s/event_input.ts";
import type { EventRecorder } from "../../lib/k8s/event_recorder.ts";
import { type KubeObject, Resource } from "../../lib/k8s/types.ts";
import { FakeClock } from "../support/fake_clock.ts";
import { MemoryCluster } from "../support/memory_kube_api.ts";
import { noAnswer } from "../support/until.ts";
import { fact } from "../lib/placement/decide/make.ts";
import { WorkLimits } from "../../lib/oci/limits/work_limits.ts";

/** What a controller runs on: API server, clock and images in memory. What it requests and records is kept. */
export interface Scene {
  readonly cluster: MemoryCluster;
  readonly clock: FakeClock;
  /** Requests for images; they answer as the sample images of `fact` do. */
  readonly requests: PodImagesRequest[];
  readonly images: PodImageInspector;
  readonly recorded: EventInput[];
  readonly events: EventRecorder;
}

/** With these objects in its cluster. */
export function openScene(...objects: readonly KubeObject[]): Scene {
  const requests: PodImagesRequest[] = [];
  const recorded: EventInput[] = [];
  const cluster = new MemoryCluster();
  furnish(cluster, objects);
  return {
    cluster,
    clock: new FakeClock(),
    requests,
    recorded,
    events: { record: (event) => void recorded.push(event) },
    images: {
      inspect: (request) => {
        requests.push(request);
        const read = request.possibleBundles ?? [];
        const inspect = (image: string) => fact(image, read.includes(image) ? { depth: "config" } : {});
        return Promise.resolve(request.images.map((use) => ({ ...use, ...inspect(use.image) })));
      },
      permits: new WorkLimits().images,
      prefetch: () => {},
      recall: () => undefined,
    },
  };
}

export function furnish(cluster: MemoryCluster, objects: readonly KubeObject[]): void {
  for (const object of objects) {
    const type = Object.values(Resource).find(({ kind }) => kind === object.kind) ?? assert.fail(object.kind);
    cluster.put(type, object);
  }
}

/** The scene with other answers about images. */
export function answering(scene: Scene, inspect: PodImageInspector["inspect"]): Scene {
  return { ...scene, images: { ...scene.images, inspect } };
}

/** The scene where requests for which that holds have another answer; none, unless it is given. */
export function answeringWhile(
  scene: Scene,
  holds: (request: PodImagesRequest) => boolean,
  inspect: PodImageInspector["inspect"] = (_request, signal) => noAnswer(signal),
): Scene {
  return answering(scene, (...call) => holds(call[0]) ? inspect(...call) : scene.images.inspect(...call));
}

/** The scene where images whose names begin so are never answered. */
export function stalling(scene: Scene, beginning: string): Scene {
  return answeringWhile(scene, ({ images }) => images.some(({ image }) => image.startsWith(beginning)));
}

export function withMetadata(object: KubeObject, changes: Partial<KubeObject["metadata"]>): KubeObject {
  return { ...object, metadata: { ...object.metadata, ...changes } };
}

/** Runs a controller for as long as a test plays with it; everything that is due at the beginning has been done. */
export async function whileRunning(
  { clock }: Pick<Scene, "clock">,
  controller: { run(signal: AbortSignal): Promise<void> },
  play: () => void | Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const running = controller.run(stop.signal);
  try {
    await clock.advance(0);
    await play();
  } finally {
    stop.abort();
    await clock.advance(0);
    await running;
  }
}

/** Runs a controller for so long. */
export async function runFor(
  scene: Pick<Scene, "clock">,
  controller: Parameters<typeof whileRunning>[1],
  ms: number,
): Promise<void> {
  await whileRunning(scene, controller, () => scene.clock.advance(ms));
}

const NO_LABELS: Readonly<Record<string, string>> = {};

/** A pod of one container, pending unless another phase is given, created at the beginning of a fake clock's time. */
export function makePod(name: string, { image = "multi", phase = "Pending", labels = NO_LABELS } = {}): KubeObject {
  const metadata = { name, namespace: "shop", uid: `uid-${name}`, labels, creationTimestamp: "2026-11-21T12:00:00Z" };
  return { apiVersion: "v1", kind: "Pod", metadata, spec: { containers: [{ name: "c", image }] }, status: { phase } };
}

export function makeWorkload(kind: string, name: string, image: string): KubeObject {
  const template = { metadata: {}, spec: { containers: [{ name: "c", image }] } };
  const spec = kind === "CronJob" ? { jobTemplate: { spec: { template } } } : { template };
  return { apiVersion: "apps/v1", kind, metadata: { name, namespace: "shop", uid: `uid-${name}` }, spec };
}

export function makeNode(name: string, architecture: string): KubeObject {
  const metadata = { name, labels: { "kubernetes.io/arch": architecture } };
  return { apiVersion: "v1", kind: "Node", metadata };
}
