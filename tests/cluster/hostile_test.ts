// The whole service, `archway serve` in front of a real API server, against 10 000 hostile reviews and many clients that
// only occupy places: what they name reaches the image memory, the prefetch, pull secrets, the dashboard and the metrics.
import assert from "node:assert/strict";
import { installedEnv } from "../bench/as_installed.ts";
import { readMemoryMb } from "../bench/process_usage.ts";
import { MAX_CONTAINERS } from "../../routes/gate_pod.ts";
import { runAssault } from "../hostile/assault.ts";
import { isScheduled, renderPod, waitForPods } from "./support/pods.ts";
import { index, openWorkingBed } from "./support/walk_bed.ts";
import { readSecretPath } from "./support/webhook_path.ts";

/** Two thirds of what the Deployment allows. */
const MAX_RSS_MB = 512;
/** Hostile reviews name registries that are not there: a proxy address without a server keeps the requests on this machine. */
const NOWHERE = "http://127.0.0.1:9";
const PROXIES = { HTTP_PROXY: NOWHERE, HTTPS_PROXY: NOWHERE, NO_PROXY: "127.0.0.1,localhost" };

Deno.test("hostile: the whole service answers 10 000 hostile reviews beside useless connections, and places pods as before", async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const replica = { env: { ...await installedEnv(), ...PROXIES } };
  await using bed = await openWorkingBed({ replica });
  const { archway, controlPlane } = bed;
  const path = await readSecretPath(controlPlane);
  const target = { port: archway.webhookPort, caPem: archway.caPem, path };
  await runAssault(target, { seed, crowd: { idle: 100, halfOpen: 50, slow: 20 } });
  const text = `seed ${seed}`;
  assert.ok(archway.isAlive() && await archway.isReady(), text);
  assert.ok(await archway.metric("archway_admissions_total", { outcome: "gated" }) >= 1_000, text);
  assert.ok(await archway.metric("archway_admissions_total", { outcome: "unreadable" }) >= 1_000, text);
  assert.ok(await readMemoryMb(archway.pid()) < MAX_RSS_MB, `${text}: ${await readMemoryMb(archway.pid())} MB`);
  const image = await bed.push("demo/after", index("arm64"));
  const namespace = await controlPlane.createNamespace("after");
  const crowded = renderPod({ name: "crowded", images: Array.from({ length: MAX_CONTAINERS + 1 }, () => image) });
  const args = ["create", "-n", namespace, "--dry-run=server", "-o", "name", "-f", "-"];
  const { stdout, stderr } = await controlPlane.kubectl(args, { stdin: JSON.stringify(crowded) });
  assert.equal(stdout, "pod/crowded\n", stderr);
  assert.match(stderr, /Warning: Archway admitted this pod without looking at it: it has more than 5000 containers/);
  const pod = renderPod({ name: "after", images: [image] });
  await controlPlane.create(`/api/v1/namespaces/${namespace}/pods`, pod);
  await waitForPods(controlPlane, namespace, { count: 1, until: isScheduled });
});
