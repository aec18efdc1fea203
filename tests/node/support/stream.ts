// A stream of pods while something happens to Archway: one in ten on the real nodes, the others on nodes that kwok plays.
import { type Fate, judgePod } from "../../chaos/fate.ts";
import { conditionOf, type NodeSpec, read } from "../../cluster/support/cluster_access.ts";
import { failedWebhookCalls, startPodLoad } from "../../cluster/support/pod_load.ts";
import { isScheduled, listNodeArchitectures, type PodOutcome, waitForPods } from "../../cluster/support/pods.ts";
import { waitUntil } from "../../cluster/support/wait.ts";
import type { OpenLab } from "./open_lab.ts";

export interface StreamResult {
  readonly pods: number;
  readonly fates: Readonly<Record<Fate, readonly string[]>>;
  readonly failures: readonly string[];
  /** Webhook calls that the API server let pass unanswered; counted anew when it starts. */
  readonly unanswered: number;
  /** From creation to the scheduler's choice, of the pod that took longest and was not missed; by whole seconds (ms). */
  readonly longestWaitMs: number;
}

const FAKE = { key: "archway.dev/test", value: "kwok", effect: "NoSchedule" } as const;
const EVERY_MS = 200;

const FAKE_NODES: readonly NodeSpec[] = (["amd64", "arm64"] as const).map((arch) => ({
  name: `fake-${arch}`,
  arch,
  labels: { [FAKE.key]: FAKE.value },
  taints: [FAKE],
}));

/** Nodes that kwok plays, for the pods of a stream alone. */
export async function addFakeNodes(lab: OpenLab): Promise<void> {
  await lab.addNodes(FAKE_NODES);
}

/** Creates pods of one architecture each while `event` runs, and judges every one of them afterwards. */
export async function streamDuring(
  lab: OpenLab,
  event: () => Promise<void>,
  { everyMs = EVERY_MS }: { readonly everyMs?: number } = {},
): Promise<StreamResult> {
  const namespace = await lab.createNamespace("stream");
  const images = [{ name: "arm-single", arch: "arm64" }, { name: "amd-single", arch: "amd64" }] as const;
  await waitUntil("the namespace to have its ServiceAccount", async () => {
    const { status } = await lab.request("GET", `/api/v1/namespaces/${namespace}/serviceaccounts/default`);
    return status === 200;
  }, { deadlineMs: 60_000 });
  const before = await failedWebhookCalls(lab);
  const load = startPodLoad(lab, namespace, {
    images: images.map(({ name }) => lab.image(name)),
    everyMs,
    specOf: (number) => number % 10 === 0 ? ON_REAL_NODES : ON_FAKE_NODES,
  });
  try {
    await event();
  } finally {
    await load.stop();
  }
  const { created, failures } = await load.stop();
  const pods = await waitForPods(lab, namespace, { count: created, until: isScheduled, deadlineMs: 90_000 });
  const nodes = await listNodeArchitectures(lab);
  const fates: Record<Fate, string[]> = { stuck: [], missed: [], "given up": [], misplaced: [], placed: [] };
  for (const pod of pods) {
    const architectures = [images[numberOf(pod) % images.length]?.arch ?? ""];
    fates[await judgePod(lab, pod, { namespace, architectures, nodes })].push(pod.name);
  }
  const waits = await readWaits(lab, namespace);
  const handled = pods.filter(({ name }) => !fates.missed.includes(name));
  const longestWaitMs = Math.max(0, ...handled.map(({ name }) => waits.get(name) ?? Infinity));
  await lab.request("DELETE", `/api/v1/namespaces/${namespace}`);
  return { pods: created, fates, failures, unanswered: await failedWebhookCalls(lab) - before, longestWaitMs };
}

/** From creation to the scheduler's choice, by pod (ms). */
async function readWaits(lab: OpenLab, namespace: string): Promise<ReadonlyMap<string, number>> {
  const items = [read(await lab.get(`/api/v1/namespaces/${namespace}/pods`), "items")].flat();
  return new Map(items.map((pod) => {
    const scheduled = conditionOf(pod, "PodScheduled");
    const [from, to] = [read(pod, "metadata", "creationTimestamp"), read(scheduled, "lastTransitionTime")];
    return [String(read(pod, "metadata", "name")), Date.parse(String(to)) - Date.parse(String(from))];
  }));
}

function numberOf({ name }: PodOutcome): number {
  return Number(name.slice(name.lastIndexOf("-") + 1));
}

const QUICK = { terminationGracePeriodSeconds: 0, dnsPolicy: "Default" };
const ON_REAL_NODES = QUICK;
const ON_FAKE_NODES = { ...QUICK, tolerations: [FAKE], nodeSelector: { [FAKE.key]: FAKE.value } };
