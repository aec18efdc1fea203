import assert from "node:assert/strict";
import { UnadmittedPods } from "../../../controllers/pod_placement/sweep.ts";
import type { EventInput } from "../../../lib/k8s/event_input.ts";
import { silentLogger } from "../../../lib/log.ts";
import { makeSettings } from "../../support/placement_settings.ts";
import { MemoryCluster } from "../../support/memory_kube_api.ts";
import { cluster, configs } from "../../lib/placement/decide/make.ts";

const signal = new AbortController().signal;

function pod(name: string, labels: Readonly<Record<string, string>> = {}): Record<string, unknown> & {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string };
} {
  const metadata = { name, namespace: "shop", uid: `uid-${name}`, labels };
  return { metadata, spec: { containers: [{ name: "main", image: "example.com/web:v1" }] } };
}

Deno.test("UnadmittedPods counts the pods of each sweep and reports only new ones", async () => {
  const events: EventInput[] = [];
  const settings = makeSettings();
  const unadmitted = new UnadmittedPods({
    api: new MemoryCluster().client(),
    events: { record: (event) => void events.push(event) },
    log: silentLogger,
    configsOf: () => configs(cluster()),
    settingsOf: () => settings,
  });
  const sweep = async (...names: readonly string[]): Promise<number> => {
    const pods = [
      pod("seen", { "multiarch.openshift.io/scheduling-gate": "gated" }),
      ...names.map((name) => pod(name)),
    ];
    await unadmitted.conclude(pods.flatMap((one) => unadmitted.candidateOf(one) ?? []), signal);
    return unadmitted.count;
  };
  assert.equal(await sweep(), 0);
  assert.equal(await sweep("a", "b"), 2);
  assert.equal(await sweep("b"), 1);
  assert.equal(await sweep("b", "c"), 2);
  assert.equal(await sweep(), 0);
  assert.deepEqual(events.map(({ message }) => message.split(": ").at(-1)), ["shop/a, shop/b", "shop/b, shop/c"]);
});
