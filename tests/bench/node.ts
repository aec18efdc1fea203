// `deno task bench:node`: what an installed replica costs on a real node: image, start and idle memory; and what passes it when one
// is killed. Runs inside of the lab of tests/node/support/run.ts and puts its figures into results/cluster.json.
import { conditionOf, listAt, read } from "../cluster/support/cluster_access.ts";
import { pause, waitUntil } from "../cluster/support/wait.ts";
import { configure, install, kubectl, NAMESPACE } from "../node/support/install.ts";
import { type OpenLab, openLab } from "../node/support/open_lab.ts";
import { readyAndLed } from "../node/support/invariants.ts";
import { listReplicas, pidsOf, type Replica } from "../node/support/replicas.ts";
import { addFakeNodes, streamDuring } from "../node/support/stream.ts";
import { FILES } from "./figures.ts";
import { describeCluster, readMachineFacts } from "./machine.ts";
import { readMemoryMb } from "./process_usage.ts";
import { mergeResults } from "./results_file.ts";
import { median } from "./statistics.ts";
import { atMost, NO_TARGET, type Row, rowOf } from "./table.ts";

/** A replica that has been ready for so long is idle (ms). */
const IDLE_MS = 60_000;
const MEGABYTE = 1_000_000;
const KILLS = { count: 10, everyMs: 500, beforeMs: 2_000 } as const;

/** Bytes that a node of amd64 pulls: config and layers of its manifest (MB). */
async function imageMb(lab: OpenLab): Promise<number> {
  const get = async (reference: string): Promise<unknown> => {
    const url = `http://${lab.lab.registry}/v2/archway/manifests/${reference}`;
    const accept = "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json";
    return await (await fetch(url, { headers: { accept } })).json();
  };
  const entry = listAt(await get("dev"), "manifests").find((each) =>
    read(each, "platform", "architecture") === "amd64"
  );
  const manifest = await get(String(read(entry, "digest")));
  const parts = [read(manifest, "config"), ...listAt(manifest, "layers")];
  return parts.reduce<number>((sum, part) => sum + Number(read(part, "size")), 0) / MEGABYTE;
}

/** From the container's start to the pod's readiness, by the API server's seconds (ms). */
async function readyAfterMs(lab: OpenLab, { name }: Replica): Promise<number> {
  const body = await lab.get(`/api/v1/namespaces/${NAMESPACE}/pods/${name}`);
  const started = read(body, "status", "containerStatuses", 0, "state", "running", "startedAt");
  const ready = read(conditionOf(body, "Ready"), "lastTransitionTime");
  return Date.parse(String(ready)) - Date.parse(String(started));
}

/** Pods that pass while a replica is killed and comes back, none of them gated: their number, for each of the kills. */
async function countMissed(lab: OpenLab): Promise<readonly number[]> {
  await addFakeNodes(lab);
  const missed: number[] = [];
  for (let round = 0; round < KILLS.count; round++) {
    await readyAndLed(lab);
    const replicas = await listReplicas(lab);
    const { fates } = await streamDuring(lab, async () => {
      await pause(KILLS.beforeMs);
      const victim = replicas[round % replicas.length];
      for (const pid of victim === undefined ? [] : await pidsOf(victim)) Deno.kill(pid, "SIGKILL");
      await waitUntil("the kubelet to start it again", async () => await restarts(lab) > round, {
        deadlineMs: 300_000,
      });
      await readyAndLed(lab);
    }, KILLS);
    missed.push(fates.missed.length);
  }
  return missed;
}

async function restarts(lab: OpenLab): Promise<number> {
  const path = "jsonpath={.items[*].status.containerStatuses[*].restartCount}";
  const counts = await kubectl(lab, "-n", NAMESPACE, "get", "pods", "-o", path);
  return counts.split(" ").reduce((sum, count) => sum + Number(count), 0);
}

async function measure(lab: OpenLab): Promise<readonly Row[]> {
  await install(lab);
  await configure(lab);
  const replicas = await waitUntil("two replicas", async () => {
    const found = await listReplicas(lab);
    return found.length === 2 ? found : undefined;
  });
  await pause(IDLE_MS);
  const memory: number[] = [];
  for (const replica of replicas) for (const pid of await pidsOf(replica)) memory.push(await readMemoryMb(pid));
  const starts = await Promise.all(replicas.map((replica) => readyAfterMs(lab, replica)));
  const missed = await countMissed(lab);
  const letThrough = "pods let through after kill -9 of a replica, at 2 a second";
  return [
    rowOf("idle memory of the larger replica, MB RSS", Math.max(...memory), atMost(90)),
    rowOf("image for amd64 as pulled, MB", await imageMb(lab), atMost(45)),
    rowOf("container started to pod ready, ms (whole seconds)", Math.max(...starts), NO_TARGET),
    rowOf(`${letThrough}, median of ${KILLS.count}`, median(missed), atMost(1)),
    rowOf(`${letThrough}, most of ${KILLS.count}`, Math.max(...missed), NO_TARGET),
  ];
}

if (import.meta.main) {
  await using lab = await openLab();
  const rows = await measure(lab);
  const version = JSON.parse(await kubectl(lab, "version", "-o", "json"));
  const cluster = `${describeCluster(read(version, "serverVersion"))}, kubelet and containerd, image form bundle`;
  const machine = await readMachineFacts();
  await mergeResults(FILES.cluster, { node: { machine, cluster, bed: "node", pods: 0, rounds: 1, rows } });
}
