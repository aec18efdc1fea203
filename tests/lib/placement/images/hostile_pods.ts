// Run as a process of its own: inspects as many pods as the argument says, each of as many images as are inspected of one, at
// registries that never answer, and prints how many of them were started and what the heap holds then.
import { Inspections } from "../../../../controllers/pod_placement/inspections.ts";
import { PodStates } from "../../../../controllers/pod_placement/pod_states.ts";
import { KnownImages } from "../../../../lib/placement/images/known_images.ts";
import { openPodImageInspector } from "../../../../lib/placement/images/pod_image_inspector.ts";
import { silentLogger } from "../../../../lib/log.ts";
import { openPlacementMetrics } from "../../../support/process_metrics.ts";
import { ImageCache } from "../../../../lib/oci/cache/image_cache.ts";
import { Inspector } from "../../../../lib/oci/inspector.ts";
import { makeSettings } from "../../../support/placement_settings.ts";
import { MAX_IMAGES } from "../../../../lib/placement/decide/images_to_inspect.ts";
import { container, podOf, rawPod } from "../../placement/decide/make.ts";
import { makeUse } from "../../../support/image_bed.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { FakeRegistry } from "../../../support/fake_registry.ts";
import { DIRECT, NO_KEYRING } from "../../../support/inspectors.ts";
import { WorkLimits } from "../../../../lib/oci/limits/work_limits.ts";

const clock = new FakeClock();
const limits = new WorkLimits();
const registry = new FakeRegistry(clock);
registry.delayMs = Infinity;
const cache = new ImageCache({
  registry: {
    // As the registry's inspector does.
    read: async (request, signal) => {
      using _ = await limits.inspections.acquire(request.callers, signal);
      return await registry.read(request, signal);
    },
    head: async (request, signal) => {
      using _ = await limits.inspections.acquire(request.callers, signal);
      return await registry.head(request, signal);
    },
  },
  kv: undefined,
  clock,
  log: silentLogger,
  maxEntries: 10_000,
  tagTtlMs: 300_000,
});
let asked = 0;
const inspector = new Inspector({ cache, planner: DIRECT, keyring: NO_KEYRING });
const images = openPodImageInspector({
  inspector: { inspect: (request, signal) => (asked++, inspector.inspect(request, signal)) },
  pullSecrets: { read: () => Promise.resolve({ credentials: [] }) },
  known: new KnownImages({ cache, planner: DIRECT }),
  limits,
  clock,
  log: silentLogger,
  signal: new AbortController().signal,
});
const settings = makeSettings({ operatorNamespace: "archway", maxGateAgeMs: 60_000 });
const deps = { clock, images, log: silentLogger, metrics: openPlacementMetrics(), settingsOf: () => settings };
const inspections = new Inspections(deps, () => {});
const states = new PodStates({ ...deps, api: { serverClockOffsetMs: () => 0 } });
for (let count = 0; count < Number(Deno.args[0]); count++) {
  const names = Array.from({ length: MAX_IMAGES }, (_, at) => `p${count}.evil.example/tenant/image-${at}:v1`);
  const raw = rawPod({ containers: names.map((image) => container(image)) });
  const pod = { ...podOf(raw), namespace: `evil-${count % 10}`, uid: `${count}` };
  const state = states.getOrCreate(pod, "");
  inspections.start(`${pod.namespace}/${count}`, pod, { state, images: names.map((image) => makeUse(image)) });
  if (count % 50 === 0) await clock.advance(0);
}
await clock.advance(0);
Reflect.get(globalThis, "gc")?.();
const heapMb = Math.round(Deno.memoryUsage().heapUsed / 1e6);
states.stopInspections();
Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify({ heapMb, asked })));
Deno.exit(0);
