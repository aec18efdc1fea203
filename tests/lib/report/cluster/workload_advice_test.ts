import assert from "node:assert/strict";
import { adviseOnWorkloads } from "../../../../lib/report/cluster/workload_advice.ts";
import type { Clock } from "../../../../lib/clock.ts";
import { ApiError } from "../../../../lib/k8s/api_error.ts";
import { Resource, type ResourceType } from "../../../../lib/k8s/types.ts";
import type { PlacementSettings } from "../../../../lib/placement/decide/config/settings.ts";
import type { ImageBed } from "../../../support/image_bed.ts";
import { type MemoryCall, MemoryCluster } from "../../../support/memory_kube_api.ts";
import { makeSettings } from "../../../support/placement_settings.ts";
import { openTaggedImages } from "../../cli/support.ts";

function put(cluster: MemoryCluster, type: ResourceType, name: string): void {
  const containers = [{ name: "c", image: `registry.example/${name}` }];
  const metadata = { name: name.split(":")[0] ?? name, namespace: "shop" };
  cluster.put(type, { kind: type.kind, metadata, spec: { template: { spec: { containers } } } });
}

async function advise(
  cluster: MemoryCluster,
  { bed: { clock, images } = openTaggedImages(), before, settings = makeSettings() }: {
    readonly bed?: { readonly clock: Clock; readonly images: ImageBed["images"] };
    readonly before?: (call: MemoryCall) => void;
    readonly settings?: PlacementSettings;
  } = {},
): Promise<readonly string[]> {
  const { signal } = new AbortController();
  return await adviseOnWorkloads({ api: cluster.client(before), images, clock, settings, signal });
}

Deno.test("adviseOnWorkloads() names the workloads that run on one architecture, as the report sees them", async () => {
  const cluster = new MemoryCluster();
  put(cluster, Resource.deployments, "web:amd64-arm64");
  put(cluster, Resource.statefulSets, "store:amd64");
  assert.deepEqual(await advise(cluster), ["1 workload runs on amd64 only: StatefulSet shop/store."]);
});

Deno.test("adviseOnWorkloads() counts the architectures that a RuntimeClass of the settings adds", async () => {
  const cluster = new MemoryCluster();
  const containers = [{ name: "c", image: "registry.example/store:amd64" }];
  const template = { spec: { runtimeClassName: "qemu", containers } };
  const { kind } = Resource.statefulSets;
  cluster.put(Resource.statefulSets, { kind, metadata: { name: "store", namespace: "shop" }, spec: { template } });
  const settings = makeSettings({ runtimeClasses: { qemu: { kind: "add", architectures: ["arm64"] } } });
  assert.deepEqual(await advise(cluster), ["1 workload runs on amd64 only: StatefulSet shop/store."]);
  assert.deepEqual(await advise(cluster, { settings }), []);
});

Deno.test("adviseOnWorkloads() leaves out what may not be listed, and names it", async () => {
  const cluster = new MemoryCluster();
  put(cluster, Resource.statefulSets, "store:amd64");
  const before = ({ verb, plural }: MemoryCall): void => {
    if (verb === "list" && plural === "jobs") throw new ApiError("jobs are forbidden", { status: 403 });
  };
  assert.deepEqual(await advise(cluster, { before }), [
    "1 workload runs on amd64 only: StatefulSet shop/store.",
    "Not looked at, for want of rights: jobs.",
  ]);
});

Deno.test("adviseOnWorkloads() inspects 500 images at most, eight at a time, and none that would begin too late", async () => {
  const cluster = new MemoryCluster();
  for (let index = 0; index < 510; index++) put(cluster, Resource.deployments, `app${index}:amd64-arm64`);
  const bed = openTaggedImages();
  const asked: string[] = [];
  let [open, most] = [0, 0];
  const images: ImageBed["images"] = {
    ...bed.images,
    inspect: async (request, signal) => {
      asked.push(request.images[0]?.image ?? "");
      most = Math.max(most, ++open);
      try {
        return await bed.images.inspect(request, signal);
      } finally {
        open--;
      }
    },
  };
  const clock: Clock = {
    nowMs: () => bed.clock.nowMs(),
    monotonicMs: () => asked.length < 400 ? 0 : 180_000,
    sleep: (ms, signal) => bed.clock.sleep(ms, signal),
  };
  const sentences = await advise(cluster, { bed: { clock, images } });
  assert.equal(most, 8);
  assert.equal(asked.length, 400);
  assert.match(sentences[0] ?? "", /^100 workloads have images that could not be inspected: /);
  assert.equal(sentences[1], "The cluster has more workloads than were looked at: see `archway report`.");
});

Deno.test("adviseOnWorkloads() looks at 16 MiB of templates at most, and says that there is more", async () => {
  const cluster = new MemoryCluster();
  put(cluster, Resource.deployments, "web:amd64");
  const imagePullSecrets = Array.from({ length: 32 }, (_, at) => ({ name: `${at}`.padStart(2 ** 15, "x") }));
  for (let at = 0; at < 20; at++) {
    const containers = [{ name: "c", image: "registry.example/job:amd64-arm64" }];
    const metadata = { name: `job-${at}`, namespace: "shop" };
    const template = { spec: { containers, imagePullSecrets } };
    cluster.put(Resource.jobs, { kind: "Job", metadata, spec: { suspend: true, template } });
  }
  const bed = openTaggedImages();
  let asked = 0;
  const images: ImageBed["images"] = {
    ...bed.images,
    inspect: (request, signal) => {
      asked++;
      return bed.images.inspect(request, signal);
    },
  };
  assert.deepEqual(await advise(cluster, { bed: { clock: bed.clock, images } }), [
    "1 workload runs on amd64 only: Deployment shop/web.",
    "The cluster has more workloads than were looked at: see `archway report`.",
  ]);
  assert.equal(asked, 2);
});
