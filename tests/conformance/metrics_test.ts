import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import { LATENCY_BUCKETS_SECONDS, WAIT_BUCKETS_SECONDS } from "../../lib/metrics.ts";
import { DECISION_LABELS } from "../../lib/placement/metrics.ts";
import { API_CODES, API_METHODS } from "../../lib/k8s/client_metrics.ts";
import { listAtPath, textAtPath } from "../../playground/json_path.ts";
import { DEFAULT_SETTINGS } from "../support/placement_settings.ts";
import { adminApp } from "../../routes/mod.ts";
import { ProcessMetrics } from "../support/process_metrics.ts";

const POLICY = new URL("../../manifests/base/network_policy.yaml", import.meta.url);

Deno.test("DV-140 openMetrics() shows the controller's metrics before the first pod", async () => {
  const text = await new ProcessMetrics().text();
  assert.match(text, /^mto_ppo_ctrl_processed_pods_total 0$/m);
  assert.match(text, /^mto_ppo_ctrl_failed_image_inspection_total 0$/m);
  for (const name of ["process_pod", "process_gated_pod", "inspect_pod_images", "inspect_image"]) {
    assert.match(text, new RegExp(`^mto_ppo_ctrl_time_to_${name}_seconds_count 0$`, "m"));
  }
});

Deno.test("openMetrics() has a sample at zero of every counter, for each combination of its labels", async () => {
  const metrics = new ProcessMetrics();
  metrics.client.queue("a");
  const text = await metrics.text();
  const samplesOf = (name: string): number =>
    [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? 0$`, "gm"))].length;
  const counters = [...text.matchAll(/^# TYPE (\S+) counter$/gm)].map(([, name = ""]) => name);
  assert.ok(counters.length >= 10);
  assert.deepEqual(counters.filter((name) => samplesOf(name) === 0), []);
  assert.equal(samplesOf("archway_decisions_total"), DECISION_LABELS.length);
  assert.equal(samplesOf("archway_webhook_requests_total"), 4);
  assert.equal(samplesOf("workqueue_adds_total"), 1);
  assert.equal(samplesOf("rest_client_requests_total"), API_METHODS.length * API_CODES.length);
});

Deno.test("DV-141 openMetrics() counts three attempts and two failures", async () => {
  const metrics = new ProcessMetrics();
  for (let failure = 0; failure < 2; failure++) {
    metrics.placement.imageInspected({ ms: 1, source: "registry", failure: "ServerError" });
    metrics.placement.podProcessed(1);
  }
  metrics.placement.imageInspected({ ms: 1, source: "registry" });
  metrics.placement.podProcessed(1);
  const text = await metrics.text();
  assert.match(text, /^mto_ppo_ctrl_processed_pods_total 3$/m);
  assert.match(text, /^mto_ppo_ctrl_failed_image_inspection_total 2$/m);
});

/** The bounds of each histogram, the same for all of its series. */
async function boundsByHistogram(): Promise<ReadonlyMap<string, readonly string[]>> {
  const metrics = new ProcessMetrics();
  metrics.client.queue("a");
  const text = await metrics.text();
  const histograms = [...text.matchAll(/^# TYPE (\S+) histogram$/gm)].map(([, name = ""]) => name);
  return new Map(histograms.map((name) => {
    const [first = [], ...others] = Object.values(Object.groupBy(
      text.matchAll(new RegExp(`^${name}_bucket\\{le="([^"]+)"(.*?)\\}`, "gm")),
      ([, , labels = ""]) => labels,
    ));
    assert.ok(others.every((one) => one?.length === first.length), name);
    return [name, first.map(([, bound = ""]) => bound)];
  }));
}

Deno.test("DV-142 openMetrics() gives every histogram of the MTO the eighteen finite buckets", async () => {
  const ofMto = [...await boundsByHistogram()].filter(([name]) => name.startsWith("mto_"));
  assert.equal(LATENCY_BUCKETS_SECONDS.length, 18);
  assert.equal(ofMto.length, 7);
  for (const [name, bounds] of ofMto) {
    assert.deepEqual(bounds, [...LATENCY_BUCKETS_SECONDS.map(String), "+Inf"], name);
  }
});

Deno.test("openMetrics() tells a pod released at its deadline from one that waited longer, and so with queues", async () => {
  const bounds = await boundsByHistogram();
  for (
    const name of ["archway_gate_age_seconds", "workqueue_queue_duration_seconds", "workqueue_work_duration_seconds"]
  ) {
    assert.deepEqual(bounds.get(name), [...WAIT_BUCKETS_SECONDS.map(String), "+Inf"], name);
  }
  const deadlineSeconds = DEFAULT_SETTINGS.maxGateAgeMs / 1_000;
  const metrics = new ProcessMetrics();
  for (const seconds of [3, 20, deadlineSeconds, deadlineSeconds + 1]) metrics.placement.gateReleased(seconds * 1_000);
  const text = await metrics.text();
  for (const [le, count] of [["4", 1], ["30", 2], [String(deadlineSeconds), 3], ["120", 4]] as const) {
    assert.match(text, new RegExp(`^archway_gate_age_seconds_bucket\\{le="${le}"\\} ${count}$`, "m"));
  }
});

Deno.test("DV-143 (different: metrics need no token, the NetworkPolicy says who may scrape) adminApp() shows them", async () => {
  const app = adminApp({ registry: new ProcessMetrics().registry, beforeScrape: () => {}, ready: [], pages: {} });
  assert.equal((await app.request("/metrics")).status, 200);
  const [policy] = parseAllDocuments(await Deno.readTextFile(POLICY)).map((document) => document.toJS());
  const rules = listAtPath(policy, "spec", "ingress").filter((rule) =>
    listAtPath(rule, "ports").some((port) => textAtPath(port, "port") === "admin")
  );
  assert.equal(rules.length, 1);
  assert.ok(rules.every((rule) => listAtPath(rule, "from").length > 0));
});
