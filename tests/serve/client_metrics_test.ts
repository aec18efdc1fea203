// What `serve` wires into the metrics of its Kubernetes client: every controller's queue, every request.
import assert from "node:assert/strict";
import { served } from "./flag_effects/served.ts";

Deno.test("serve exposes the work queue of each controller, and its requests to the API server", async () => {
  const { metrics } = await served();
  const queues = [...metrics.matchAll(/^workqueue_adds_total\{name="([^"]+)"\} /gm)].map(([, name]) => name);
  assert.deepEqual(queues.sort(), ["audit", "daemonsets", "operator", "pod-placement", "prewarm"]);
  const requestsBy = (method: string, code: string): number => {
    const line = `rest_client_requests_total{code="${code}",method="${method}"} `;
    return Number(metrics.split("\n").find((one) => one.startsWith(line))?.slice(line.length));
  };
  assert.ok(requestsBy("GET", "200") > 5, "lists and watches");
  assert.ok(requestsBy("POST", "201") > 0, "the Lease, the webhook configuration");
  assert.match(metrics, /^workqueue_adds_total\{name="operator"\} [1-9]/m);
});
