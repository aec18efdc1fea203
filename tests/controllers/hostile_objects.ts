// Run as a process of its own, with `events` or `templates` and a number: has a controller list so many objects of one
// namespace, and prints what the heap holds after it.
import { openPrewarm } from "../../controllers/prewarm/controller.ts";
import type { KubeApi } from "../../lib/k8s/api.ts";
import { ApiError } from "../../lib/k8s/errors.ts";
import type { KubeObject, ResourceType } from "../../lib/k8s/types.ts";
import { silentLogger } from "../../lib/log.ts";
import { makeSettings } from "../../lib/placement/config/settings.ts";
import { openMonitorScene } from "./enoexec/make.ts";
import { openScene, whileRunning } from "./make.ts";

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
      const items = Array.from(
        { length: Math.max(0, Math.min(PAGE, Number(count) - from)) },
        (_, at) => make(from + at),
      );
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

function makeFailure(at: number): KubeObject {
  const metadata = { name: longName(at), namespace: "shop", uid: `uid-${at}`, resourceVersion: String(at + 1) };
  return { metadata, involvedObject: { kind: "Pod", namespace: "shop", name: longName(at) } };
}

function makeDeployment(at: number): KubeObject {
  const metadata = { name: longName(at), namespace: "shop", uid: `uid-${at}`, resourceVersion: String(at + 1) };
  const tolerations = Array.from({ length: 100 }, (_, each) => ({ key: `key-${at}-${each}`, operator: "Exists" }));
  const images = Array.from({ length: 40 }, (_, each) => `registry.example/${at}/${each}`.padEnd(120, "i"));
  const containers = images.map((image, each) => ({ name: `c${each}`, image }));
  return { metadata, spec: { template: { metadata: {}, spec: { tolerations, containers } } } };
}

async function run(): Promise<void> {
  if (what === "events") {
    const scene = openMonitorScene({ api: serve("events", makeFailure) });
    return await scene.run(() => listed.promise.then(printHeap));
  }
  const scene = openScene();
  const settings = makeSettings();
  const prewarm = openPrewarm({
    api: serve("deployments", makeDeployment),
    // A registry that never answers.
    images: { ...scene.images, inspect: (_, signal) => new Promise((_, no) => signal.addEventListener("abort", no)) },
    clock: scene.clock,
    log: silentLogger,
    settings: () => settings,
    tagTtlMs: 300_000,
  });
  await whileRunning(scene, prewarm, () => listed.promise.then(printHeap));
}

function printHeap(): void {
  Reflect.get(globalThis, "gc")?.();
  const heapMb = Math.round(Deno.memoryUsage().heapUsed / 1e6);
  Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify({ heapMb })));
}

await run();
