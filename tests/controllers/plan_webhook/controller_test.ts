import assert from "node:assert/strict";
import { openPlanWebhookRegistration } from "../../../controllers/plan_webhook/controller.ts";
import { ApiError } from "../../../lib/k8s/errors.ts";
import { type KubeObject, Resource } from "../../../lib/k8s/types.ts";
import { silentLogger } from "../../../lib/log.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import { type MemoryCall, MemoryCluster } from "../../support/memory_kube_api.ts";
import { whileRunning } from "../make.ts";

const NAME = "archway-upgrades";
const SERVICE = { namespace: "ns", name: "svc" };

function configuration(caBundle?: string): KubeObject {
  const service = { ...SERVICE, path: "/validate" };
  const clientConfig = { service, ...caBundle === undefined ? {} : { caBundle } };
  return { metadata: { name: NAME }, webhooks: [{ name: "plans.archway.dev", clientConfig }] };
}

interface Bed {
  readonly cluster: MemoryCluster;
  readonly clock: FakeClock;
  readonly calls: MemoryCall[];
  readonly controller: ReturnType<typeof openPlanWebhookRegistration>;
  caBundle: string;
  fault: (call: MemoryCall) => void;
  readonly written: () => unknown;
}

function openBed(): Bed {
  const [cluster, clock] = [new MemoryCluster(), new FakeClock()];
  const calls: MemoryCall[] = [];
  const api = cluster.client((call) => {
    calls.push(call);
    bed.fault(call);
  });
  const endpoint = { kind: "service", ...SERVICE } as const;
  const settings = () => ({ endpoint, caBundle: bed.caBundle, pathOf: (route: string) => route });
  const bed: Bed = {
    ...{ cluster, clock, calls, caBundle: "CA 1", fault: () => {} },
    controller: openPlanWebhookRegistration({ api, settings, clock, log: silentLogger }),
    written: () => {
      const webhooks: unknown = cluster.find("validatingwebhookconfigurations", NAME)?.["webhooks"];
      const bundle = Object(webhooks)[0].clientConfig.caBundle;
      return bundle === undefined ? undefined : atob(bundle);
    },
  };
  return bed;
}

Deno.test("the CA is written at once, and again within a minute after others took it away", async () => {
  const bed = openBed();
  bed.cluster.put(Resource.validatingWebhooks, configuration());
  await whileRunning(bed, bed.controller, async () => {
    assert.equal(bed.written(), "CA 1");
    bed.cluster.put(Resource.validatingWebhooks, configuration());
    await bed.clock.advance(60_000);
    assert.equal(bed.written(), "CA 1");
  });
  assert.deepEqual(bed.calls.map(({ verb }) => verb), ["get", "patch", "get", "patch"]);
});

Deno.test("a new certificate is written at once; one that is there costs no write", async () => {
  const bed = openBed();
  bed.cluster.put(Resource.validatingWebhooks, configuration(btoa("CA 1")));
  await whileRunning(bed, bed.controller, async () => {
    assert.deepEqual(bed.calls.map(({ verb }) => verb), ["get"]);
    bed.caBundle = "CA 2";
    bed.controller.enqueue(NAME);
    await bed.clock.advance(0);
    assert.equal(bed.written(), "CA 2");
  });
});

Deno.test("a refused write is tried again with backoff, and a configuration that is absent is fine", async () => {
  const bed = openBed();
  await whileRunning(bed, bed.controller, async () => {
    assert.deepEqual(bed.calls.map(({ verb }) => verb), ["get"]);
    bed.cluster.put(Resource.validatingWebhooks, configuration());
    bed.fault = ({ verb }) => {
      if (verb === "patch") throw new ApiError("Conflict.", { status: 409, reason: "Conflict" });
    };
    await bed.clock.advance(60_000);
    assert.equal(bed.written(), undefined);
    bed.fault = () => {};
    await bed.clock.advance(10_000);
    assert.equal(bed.written(), "CA 1");
  });
});

Deno.test("a replica that no longer leads sends nothing; a new term begins with a read", async () => {
  const bed = openBed();
  bed.cluster.put(Resource.validatingWebhooks, configuration());
  await whileRunning(bed, bed.controller, () => Promise.resolve());
  bed.cluster.put(Resource.validatingWebhooks, configuration());
  const before = bed.calls.length;
  await bed.clock.advance(300_000);
  assert.equal(bed.calls.length, before);
  await whileRunning(bed, bed.controller, () => Promise.resolve());
  assert.equal(bed.written(), "CA 1");
});
