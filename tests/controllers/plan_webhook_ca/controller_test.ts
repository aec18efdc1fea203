import assert from "node:assert/strict";
import { openPlanWebhookCa } from "../../../controllers/plan_webhook_ca/controller.ts";
import { type KubeObject, Resource } from "../../../lib/k8s/types.ts";
import { silentLogger } from "../../../lib/log.ts";
import { type MemoryCall, refusing } from "../../support/memory_kube_api.ts";
import { openScene, whileRunning } from "../make.ts";

const NAME = "archway-upgrades";
const SERVICE = { namespace: "ns", name: "svc" };

function configuration(caBundle?: string): KubeObject {
  const service = { ...SERVICE, path: "/validate" };
  const clientConfig = { service, ...caBundle === undefined ? {} : { caBundle } };
  return { metadata: { name: NAME }, webhooks: [{ name: "plans.archway.dev", clientConfig }] };
}

const openBed = () => {
  const { cluster, clock } = openScene();
  const calls: MemoryCall[] = [];
  const given = { caBundle: "CA 1", fault: (_call: MemoryCall): void => {} };
  const api = cluster.client((call) => {
    calls.push(call);
    given.fault(call);
  });
  const endpoint = { kind: "service", ...SERVICE } as const;
  const settings = () => ({ endpoint, caBundle: given.caBundle, pathOf: (route: string) => route });
  const controller = openPlanWebhookCa({ api, settings, clock, log: silentLogger });
  const written = (): unknown => {
    const webhooks: unknown = cluster.find("validatingwebhookconfigurations", NAME)?.["webhooks"];
    const bundle = Object(webhooks)[0].clientConfig.caBundle;
    return bundle === undefined ? undefined : atob(bundle);
  };
  return Object.assign(given, { cluster, clock, calls, controller, written });
};

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
    bed.fault = refusing(409, ({ verb }) => verb === "patch");
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
