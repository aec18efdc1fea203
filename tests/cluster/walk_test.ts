// The main job on a real control plane and a real registry: pods are held, their images inspected, and the real scheduler
// puts them where all of their images run. Archway runs under its own ServiceAccount, so a missing right fails a test.
import assert from "node:assert/strict";
import { SCHEDULING_GATE } from "../../lib/names.ts";
import { enablePlacement } from "./support/archway.ts";
import { startPair } from "./support/lease.ts";
import {
  createPods,
  createPullSecret,
  isReleased,
  isScheduled,
  listNodeArchitectures,
  listPodEvents,
  listPods,
  type PodOutcome,
  type PodSpec,
  waitForPods,
} from "./support/pods.ts";
import { startRegistry } from "./support/registry.ts";
import { waitUntil } from "./support/wait.ts";
import { index, openOwnWorkingBed, openWalkBed, openWorkingBed, type WalkBed } from "./support/walk_bed.ts";

function find(pods: readonly PodOutcome[], name: string): PodOutcome {
  return pods.find((pod) => pod.name === name) ?? assert.fail(`no pod ${name}`);
}

type Expected = Readonly<Record<string, readonly string[]>>;

async function assertPlaced(
  bed: WalkBed,
  pods: readonly PodOutcome[],
  expected: (pod: PodOutcome) => readonly string[],
): Promise<void> {
  const architectures = await listNodeArchitectures(bed.controlPlane);
  const misplaced = pods.filter((pod) => !expected(pod).includes(architectures.get(pod.nodeName) ?? "none"));
  assert.deepEqual(misplaced.map(({ name, nodeName }) => `${name} on ${nodeName}`), []);
}

async function pushFifty(
  bed: WalkBed,
): Promise<{ readonly images: readonly string[]; readonly expected: readonly (readonly string[])[] }> {
  const all = ["amd64", "arm64", "ppc64le", "s390x"];
  const kinds = [["amd64", "arm64"], ["arm64"], ["amd64"], ["ppc64le", "s390x"], all];
  const expected = Array.from({ length: 50 }, (_, number) => kinds[number % kinds.length] ?? []);
  const images = await Promise.all(expected.map((kind, number) => bed.push(`many/app-${number}`, index(...kind))));
  return { images, expected };
}

function fiveHundred(images: readonly string[], prefix: string): readonly PodSpec[] {
  return Array.from({ length: 500 }, (_, number) => ({
    name: `${prefix}-${number}`,
    images: [images[number % images.length] ?? ""],
  }));
}

const imageNumber = ({ name }: PodOutcome): number => Number(name.split("-").at(-1)) % 50;

Deno.test("walk: the samples end on the right nodes by the real scheduler, with Basic and token authentication", async () => {
  await using bed = await openWorkingBed({
    spec: { fallbackArchitecture: "amd64" },
    registry: { auth: "token", token: { publicRepositories: ["demo/"] } },
  });
  await using basic = await startRegistry({ auth: "htpasswd" });
  const { controlPlane, proxy } = bed;
  const namespace = await controlPlane.createNamespace("walk");
  const web = await bed.push("demo/web", index("amd64", "arm64"));
  const edge = await bed.push("demo/edge", { single: { architecture: "arm64" } });
  const legacy = await bed.push("demo/legacy", { single: { architecture: "amd64" }, format: "docker" });
  const attested = await bed.push("demo/attested", { platforms: [{ architecture: "s390x" }], attestations: true });
  const secret = await bed.push("private/app", index("arm64", "ppc64le"));
  const login = { name: "pull", user: "puller", password: "secret" };
  await createPullSecret(controlPlane, namespace, { ...login, host: proxy.host });
  const pods: readonly PodSpec[] = [
    { name: "multi", images: [web] },
    { name: "arm", images: [edge] },
    { name: "amd", images: [legacy] },
    { name: "attested", images: [attested] },
    { name: "shared-one", images: [web, edge] },
    { name: "init", images: [web], initImages: [legacy] },
    { name: "none", images: [edge, legacy] },
    { name: "missing", images: [`${proxy.host}/demo/no-such-image:v1`] },
    { name: "private", images: [secret], pullSecrets: ["pull"] },
    { name: "no-secret", images: [secret], pullSecrets: ["absent"] },
    { name: "nothing", images: [web], spec: { nodeSelector: { "kubernetes.io/arch": "s390x" } } },
    { name: "foreign", images: [edge], gates: ["example.com/quota"] },
  ];
  await createPods(controlPlane, namespace, { pods });
  const nowhere = ["none", "foreign"];
  const ended = await waitForPods(controlPlane, namespace, {
    count: pods.length,
    until: (pod) => isReleased(pod) && (nowhere.includes(pod.name) || isScheduled(pod)),
  });
  const expected: Expected = {
    multi: ["amd64", "arm64"],
    arm: ["arm64"],
    amd: ["amd64"],
    attested: ["s390x"],
    "shared-one": ["arm64"],
    init: ["amd64"],
    missing: ["amd64"],
    private: ["arm64", "ppc64le"],
    "no-secret": ["amd64"],
    nothing: ["s390x"],
  };
  await assertPlaced(bed, ended.filter(({ name }) => !nowhere.includes(name)), ({ name }) => expected[name] ?? []);
  assert.equal(find(ended, "none").nodeName, "");
  assert.deepEqual(find(ended, "foreign").gates, ["example.com/quota"]);
  assert.deepEqual(find(ended, "foreign").requiredArchitectures, [["arm64"]]);
  assert.equal(find(ended, "nothing").labels[SCHEDULING_GATE], "not-set");
  const reasons = (await waitUntil("a warning about the missing image", async () => {
    const events = await listPodEvents(controlPlane, { namespace, name: "missing" });
    return events.some(({ reason }) => reason === "ArchAwareFallbackPredicateSet") && events;
  })).filter(({ type }) => type === "Warning");
  assert.match(reasons.map(({ message }) => message).join("\n"), /no-such-image/);

  // Basic authentication, on a registry that only a second replica has flags for.
  await basic.push("team/tool", "v1", index("ppc64le"));
  await bed.archway.stop();
  await bed.startReplica({ name: "second", registries: [{ host: basic.host, caFile: basic.caFile }] });
  const other = await controlPlane.createNamespace("basic");
  await createPullSecret(controlPlane, other, { ...login, host: basic.host });
  // The operator has to move the webhook to the new replica's address first.
  await waitUntil("a pod to be gated by the second replica", async () => {
    const name = `probe-${crypto.randomUUID().slice(0, 8)}`;
    await createPods(controlPlane, other, {
      pods: [{ name, images: [`${basic.host}/team/tool:v1`], pullSecrets: ["pull"] }],
    });
    const answer = await controlPlane.request("GET", `/api/v1/namespaces/${other}/pods/${name}`);
    return JSON.stringify(answer.body).includes(SCHEDULING_GATE);
  }, { intervalMs: 300 });
  const [probe] = await waitForPods(controlPlane, other, { count: 1, until: isScheduled }).then((all) =>
    all.filter(({ labels }) => labels[SCHEDULING_GATE] === "removed")
  );
  assert.deepEqual(probe?.requiredArchitectures, [["ppc64le"]]);
});

Deno.test("walk: 500 pods of 50 images are all placed, each by one inspection an image", async () => {
  await using bed = await openWorkingBed();
  const namespace = await bed.controlPlane.createNamespace("many");
  const { images, expected } = await pushFifty(bed);
  await createPods(bed.controlPlane, namespace, { pods: fiveHundred(images, "pod"), parallel: 16 });
  const pods = await waitForPods(bed.controlPlane, namespace, { count: 500, until: isScheduled, deadlineMs: 120_000 });
  await assertPlaced(bed, pods, (pod) => expected[imageNumber(pod)] ?? []);
  assert.equal(bed.proxy.counts().manifestGet, 50);
});

Deno.test("walk: while the registry answers 500 nobody is misplaced, and afterwards nobody is stuck", async () => {
  await using bed = await openWorkingBed({ spec: { fallbackArchitecture: "s390x" } });
  const namespace = await bed.controlPlane.createNamespace("faulty");
  const image = await bed.push("demo/app", index("arm64"));
  bed.proxy.setFaults([{ fault: { kind: "status", status: 500 } }]);
  const pods = Array.from({ length: 50 }, (_, number) => ({ name: `pod-${number}`, images: [image] }));
  await createPods(bed.controlPlane, namespace, { pods });
  const error = "multiarch.openshift.io/image-inspect-error";
  const failing = await waitForPods(bed.controlPlane, namespace, { count: 50, until: ({ labels }) => error in labels });
  assert.ok(failing.every((pod) => !isReleased(pod) && pod.labels[`${error}-count`] !== "5"));
  bed.proxy.setFaults([]);
  const recovered = await waitForPods(bed.controlPlane, namespace, {
    count: 50,
    until: isScheduled,
    deadlineMs: 30_000,
  });
  await assertPlaced(bed, recovered, () => ["arm64"]);
  assert.ok(recovered.every(({ labels }) => !("multiarch.openshift.io/fallback-arch" in labels)));
});

async function surviveBurst(bed: WalkBed, prefix: string, disturb: () => Promise<void>): Promise<void> {
  const namespace = await bed.controlPlane.createNamespace(prefix);
  const { images, expected } = await pushFifty(bed);
  // A little latency keeps pods gated for long enough to be in the middle of it.
  bed.proxy.setFaults([{ fault: { kind: "latency", ms: 400 } }]);
  const away = { fromMs: 0, toMs: 0 };
  await Promise.all([
    createPods(bed.controlPlane, namespace, { pods: fiveHundred(images, prefix), parallel: 16 }),
    waitForPods(bed.controlPlane, namespace, { count: 100, until: () => true }).then(async () => {
      away.fromMs = Date.now();
      await disturb();
      away.toMs = Date.now();
    }),
  ]);
  const pods = await waitForPods(bed.controlPlane, namespace, {
    count: 500,
    until: (pod) => isReleased(pod) && isScheduled(pod),
    deadlineMs: 120_000,
  });
  const ours = pods.filter(({ labels }) => SCHEDULING_GATE in labels);
  await assertPlaced(bed, ours, (pod) => expected[imageNumber(pod)] ?? []);
  assertMissedOnlyWhile(away, pods.filter((pod) => !ours.includes(pod)));
}

/** Creation times are whole seconds, and the API server may find a connection dead a little later than we killed it. */
const SLACK_MS = 2_000;

/** Pods that came while nothing answered are admitted as they are (failurePolicy Ignore); at any other time none may be. */
function assertMissedOnlyWhile(
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  missed: readonly PodOutcome[],
): void {
  for (const { name, creationTimestamp, affinity, gates } of missed) {
    const createdMs = Date.parse(creationTimestamp);
    assert.ok(createdMs >= fromMs - SLACK_MS && createdMs <= toMs + SLACK_MS, `"${name}" met no webhook`);
    assert.deepEqual([affinity, gates], [undefined, []], name);
  }
}

Deno.test("walk: kill -9 in the middle of a burst and a restart leave no pod gated, none misplaced, and none missed but while it was away", async () => {
  await using bed = await openWorkingBed({ replica: { persistCache: true } });
  await surviveBurst(bed, "killed", async () => {
    bed.archway.kill("SIGKILL");
    await waitUntil("the process to be dead", () => !bed.archway.isAlive());
    await bed.archway.restart();
  });
});

Deno.test("walk: when the leader of two replicas is killed the other one gates and releases on", async () => {
  await using bed = await openWalkBed();
  await using pair = await startPair(bed, { enable: () => enablePlacement(bed.controlPlane) });
  await surviveBurst(bed, "leader", () => Promise.resolve(pair.first.kill("SIGKILL")));
  assert.equal(await pair.second.metric("archway_leader"), 1);
});

Deno.test("walk: a restart of the API server in the middle of a burst loses no pod", async () => {
  // On a busy machine the API server may be away for most of a minute, and the time counts: no pod is to be given up here.
  await using bed = await openOwnWorkingBed({ replica: { args: ["--max-gate-age=5m"] } });
  const namespace = await bed.controlPlane.createNamespace("restart");
  const { images, expected } = await pushFifty(bed);
  bed.proxy.setFaults([{ fault: { kind: "latency", ms: 1_500 } }]);
  const pods = fiveHundred(images, "pod").slice(0, 200);
  await createPods(bed.controlPlane, namespace, { pods, parallel: 16 });
  const waiting = (await listPods(bed.controlPlane, namespace)).filter((pod) => !isReleased(pod));
  assert.ok(waiting.length > 0, "the restart is in the middle of the burst");
  await bed.controlPlane.restartApiServer();
  const ended = await waitForPods(bed.controlPlane, namespace, { count: 200, until: isScheduled, deadlineMs: 240_000 });
  assert.deepEqual(ended.filter(({ labels }) => !(SCHEDULING_GATE in labels)).map(({ name }) => name), []);
  await assertPlaced(bed, ended, (pod) => expected[imageNumber(pod)] ?? []);
});
