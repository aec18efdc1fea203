// A replica on the arm64 node: it starts, leads and answers. It is emulated, so no figure is taken.
import assert from "node:assert/strict";
import { lacks } from "../support/needs.ts";
import { assertConfined, assertNothingLeft } from "./support/invariants.ts";
import { configure, ensureImage, install, kubectl, uninstall } from "./support/install.ts";
import { openLab } from "./support/open_lab.ts";
import { listReplicas } from "./support/replicas.ts";

const CONTAINER = "/spec/template/spec/containers/0";

/** One replica on arm64, with the patience and the memory that emulation takes. */
const EMULATED: readonly unknown[] = [
  { op: "replace", path: "/spec/replicas", value: 1 },
  // The image's entry point is a script, and the emulation of this node runs ELF files alone.
  { op: "add", path: `${CONTAINER}/command`, value: ["/usr/bin/deno", "-qP", "/usr/share/archway/archway"] },
  { op: "add", path: "/spec/template/spec/nodeSelector", value: { "kubernetes.io/arch": "arm64" } },
  { op: "replace", path: `${CONTAINER}/startupProbe/timeoutSeconds`, value: 10 },
  { op: "replace", path: `${CONTAINER}/startupProbe/failureThreshold`, value: 300 },
  { op: "replace", path: `${CONTAINER}/livenessProbe/timeoutSeconds`, value: 30 },
  { op: "replace", path: `${CONTAINER}/readinessProbe/timeoutSeconds`, value: 30 },
  { op: "replace", path: `${CONTAINER}/resources/limits/memory`, value: "2Gi" },
];

Deno.test("node: a replica on the emulated arm64 node is ready within 120 s, gates and places", {
  ignore: lacks("nodes"),
}, async () => {
  await using lab = await openLab();
  const image = await ensureImage(lab);
  const startedMs = performance.now();
  await install(lab, { image, patch: EMULATED, rolloutSeconds: 300 });
  const seconds = (performance.now() - startedMs) / 1_000;
  await configure(lab);
  const replicas = await listReplicas(lab);
  assert.deepEqual(replicas.map(({ node }) => node), ["n2"]);
  await assertConfined(replicas);
  assert.ok(seconds <= 120, `${seconds} s`);
  const namespace = await lab.createNamespace("emulated");
  await lab.createPods(namespace, [{ name: "amd", image: "amd-single", args: ["hello"] }]);
  assert.equal(await lab.logOfEnded(namespace, "amd", { deadlineMs: 180_000 }), "hello from linux/amd64\n");
  const path = "jsonpath={.metadata.labels.multiarch\\.openshift\\.io/scheduling-gate}";
  assert.equal(await kubectl(lab, "-n", namespace, "get", "pod", "amd", "-o", path), "removed");
  await uninstall(lab);
  await assertNothingLeft(lab);
});
