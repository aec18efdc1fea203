// Run as a process of its own, with what to list and a number: has a controller list so many objects, and prints what the heap
// holds after it. `events`, `templates`, `gated` pods: of one namespace. `configs`: of 25, each as large as it may be.
import { openPrewarm } from "../../controllers/prewarm/controller.ts";
import { openConfigs } from "../../lib/operator/cluster/configs.ts";
import type { KubeApi } from "../../lib/k8s/api.ts";
import { ApiError } from "../../lib/k8s/api_error.ts";
import type { KubeObject, ResourceType } from "../../lib/k8s/types.ts";
import { silentLogger } from "../../lib/log.ts";
import { makeSettings } from "../support/placement_settings.ts";
import { openMonitorScene } from "./exec_format/make.ts";
import { controllerOf, gated } from "./pod_placement/make.ts";
import { openScene, type Scene, stalling, whileRunning } from "./make.ts";

const PAGE = 500;
const [what = "", count = ""] = Deno.args;
const listed = Promise.withResolvers<void>();
let lists = 0;

/** An API server that makes the objects of a list when it is asked for a page, and keeps none. */
function serve(plural: string, make: (at: number) => KubeObject): KubeApi {
  const { api } = openScene().cluster;
  return {
    ...api,
    get: () => Promise.reject(new ApiError("gone", { status: 404 })),
    list: (type: ResourceType, options) => {
      const from = type.plural === plural ? Number(options.continue ?? 0) : Number(count);
      const left = Math.max(0, Math.min(PAGE, Number(count) - from));
      const items = Array.from({ length: left }, (_, at) => make(from + at));
      const more = from + PAGE < Number(count) ? { continue: String(from + PAGE) } : {};
      return Promise.resolve({ items, resourceVersion: "1", ...more });
    },
    watch: (type, options, signal) => {
      if (type.plural === plural && ++lists === (plural === "events" ? 2 : 1)) listed.resolve();
      return api.watch(type, options, signal);
    },
  };
}

function longName(at: number): string {
  return `${at}-`.padEnd(253, "x");
}

function metadataOf(at: number, { name = longName(at), namespace = "shop" } = {}): KubeObject["metadata"] {
  return { name, namespace, uid: `uid-${at}`, resourceVersion: String(at + 1) };
}

function makeFailure(at: number): KubeObject {
  return { metadata: metadataOf(at), involvedObject: { kind: "Pod", namespace: "shop", name: longName(at) } };
}

function makeDeployment(at: number): KubeObject {
  const tolerations = Array.from({ length: 100 }, (_, each) => ({ key: `key-${at}-${each}`, operator: "Exists" }));
  const images = Array.from({ length: 40 }, (_, each) => `registry.example/${at}/${each}`.padEnd(120, "i"));
  const containers = images.map((image, each) => ({ name: `c${each}`, image }));
  return { metadata: metadataOf(at), spec: { template: { metadata: {}, spec: { tolerations, containers } } } };
}

/** The selector of a PodPlacementConfig of 98 KB, the most that the API server ever took; `@@@@` is its number. */
function makeSelectorText(): string {
  const word = (text: string): string => `@@@@-${text}-`.padEnd(63, "x");
  const prefix = (at: number): string => [1, 2, 3, 4].map((part) => word(`${at}-${part}`)).join(".").slice(0, 253);
  const key = (at: number): string => `${prefix(at)}/${word(`${at}`)}`;
  const values = (at: number): readonly string[] => Array.from({ length: 64 }, (_, value) => word(`${at}-${value}`));
  const matchExpressions = Array.from({ length: 16 }, (_, n) => ({ key: key(n), operator: "In", values: values(n) }));
  const matchLabels = Object.fromEntries(Array.from({ length: 64 }, (_, at) => [key(at + 16), word(`${at}`)]));
  return JSON.stringify({ matchLabels, matchExpressions });
}

const SELECTOR = makeSelectorText();

function makeGated(at: number): KubeObject {
  const pod = gated(`p${at}`);
  const nodeSelectorTerms = JSON.parse(`[${"{},".repeat(650)}{}]`);
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } };
  const metadata = { ...pod.metadata, resourceVersion: String(at + 1) };
  return { ...pod, metadata, spec: { ...Object(pod["spec"]), affinity } };
}

function makeConfig(at: number): KubeObject {
  const metadata = metadataOf(at, { name: `c${at}`, namespace: `team-${at % 25}` });
  const labelSelector = JSON.parse(SELECTOR.replaceAll("@@@@", String(at).padStart(4, "0")));
  return { metadata, spec: { plugins: {}, labelSelector } };
}

async function run(): Promise<void> {
  const awaitHeap = (): Promise<void> => listed.promise.then(printHeap);
  if (what === "events") return await openMonitorScene({ api: serve("events", makeFailure) }).run(awaitHeap);
  const scene = openScene();
  await whileRunning(scene, openSubject(scene), awaitHeap);
}

function openSubject(scene: Scene): Parameters<typeof whileRunning>[1] {
  // Registries never answer.
  const silent = stalling(scene, "");
  if (what === "gated") {
    Object.assign(scene.cluster.api, serve("pods", makeGated));
    return controllerOf(silent);
  }
  const parts = { clock: scene.clock, log: silentLogger };
  if (what === "configs") return openConfigs({ api: serve("podplacementconfigs", makeConfig), ...parts });
  const api = serve("deployments", makeDeployment);
  return openPrewarm({ api, images: silent.images, ...parts, settings: makeSettings(), tagTtlMs: 300_000 });
}

function printHeap(): void {
  Reflect.get(globalThis, "gc")?.();
  const heapMb = Math.round(Deno.memoryUsage().heapUsed / 1e6);
  Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify({ heapMb })));
}

await run();
