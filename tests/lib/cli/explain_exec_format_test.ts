import assert from "node:assert/strict";
import { readExecFormatErrors } from "../../../lib/cli/explain_exec_format.ts";
import { buildFailedImage } from "../../../lib/exec_format/decide/failed_image.ts";
import type { KubeApi } from "../../../lib/k8s/api.ts";
import { AnswerTooLarge, ApiError } from "../../../lib/k8s/api_error.ts";
import { type KubeObject, Resource } from "../../../lib/k8s/types.ts";
import { explainPod } from "../../../lib/placement/decide/explain/explain.ts";
import { parsePod } from "../../../lib/placement/decide/pod/pod_view.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import { MemoryCluster } from "../../support/memory_kube_api.ts";
import { makeFailedImage, makeFailedPod } from "../exec_format/decide/make.ts";

const never = new AbortController().signal;
const LABELLED = makeFailedPod({ metadata: { labels: { "multiarch.openshift.io/exec-format-error": "true" } } });
const clock = new FakeClock();

function linesOf(api: KubeApi, pod: KubeObject = LABELLED): Promise<readonly string[]> {
  return readExecFormatErrors({ api, clock }, parsePod(pod) ?? assert.fail("no pod"), never);
}

function furnish(cluster: MemoryCluster): void {
  const said = { reason: "ExecFormatError", message: 'Container "c" is' };
  const metadata = { name: "web-1.e", namespace: "shop" };
  cluster.put(Resource.events, { metadata, involvedObject: { name: "web-1" }, ...said });
  const failed = makeFailedImage({ image: "single-amd64" });
  cluster.put(Resource.enoexecEvents, buildFailedImage(failed, "archway-system") ?? assert.fail("no record"));
}

Deno.test("readExecFormatErrors() gives the messages of the pod's events and what is recorded of its images", async () => {
  const cluster = new MemoryCluster();
  furnish(cluster);
  assert.deepEqual(await linesOf(cluster.api), [
    'Container "c" is',
    "Image single-amd64 claims arm64, but its program has failed there (sha256:abababababab).",
  ]);
});

Deno.test("readExecFormatErrors() reads nothing about a pod without the label", async () => {
  const cluster = new MemoryCluster();
  furnish(cluster);
  assert.deepEqual([await linesOf(cluster.api, makeFailedPod()), cluster.lists], [[], []]);
});

Deno.test("readExecFormatErrors() reports what the label says where nothing more may be read", async () => {
  const forbid = (): void => {
    throw new ApiError("forbidden", { status: 403 });
  };
  const lines = await linesOf(new MemoryCluster().client(forbid));
  assert.deepEqual(lines, ["A container of it was to run a program of another architecture than its node has."]);
});

Deno.test("readExecFormatErrors() reads 50 events at most, in smaller pages where they are large, and prints none that moves the cursor", async () => {
  const limits: (number | undefined)[] = [];
  const client = new MemoryCluster().api;
  const messageOf = (at: number): string => `Message ${at}\u001b[2J\r\n${"x".repeat(5_000)}`;
  const api: KubeApi = {
    ...client,
    list: (type, options, signal) => {
      if (type.plural !== Resource.events.plural) return client.list(type, options, signal);
      limits.push(options.limit);
      const { limit = 0 } = options;
      if (limit > 20) return Promise.reject(new AnswerTooLarge("too large"));
      const from = Number(options.continue ?? 0);
      const items = Array.from({ length: limit }, (_, at) => ({
        metadata: { name: `e${from + at}`, namespace: "shop" },
        message: messageOf(from + at),
      }));
      // There is always more.
      return Promise.resolve({ items, resourceVersion: "1", continue: String(from + limit), bytes: 3_000_000 });
    },
  };
  const lines = await linesOf(api);
  assert.equal(lines.length, 50);
  assert.deepEqual([limits[0], limits.slice(1).every((limit = 0) => limit <= 20)], [50, true]);
  assert.ok(lines.every((line) => line.length <= 1_024 && !/\p{Cc}/u.test(line)));
  assert.match(lines[0] ?? "", /^Message 0\?\[2J\?\?x+$/);
});

Deno.test("explainPod() begins with programs of another architecture, and reports what to do", () => {
  const pod = parsePod(LABELLED) ?? assert.fail("no pod");
  const around = { ageMs: 3_000, schedulerSays: undefined, participation: "selected" } as const;
  const { why, next } = explainPod(pod, { ...around, execFormatErrors: ["It is so."] });
  assert.equal(why[0], "It is so.");
  assert.deepEqual(next, ["Do what the message says, then recreate the pod."]);
});
