// Exec format errors on a real API server, with real controllers, under the rights of the components: the monitor's life, the
// rows of events, the policy about daemons, and what is done without one.
import assert from "node:assert/strict";
import { renderComposition } from "../../manifests/generate/kustomize.ts";
import { buildEnoexecEvent } from "../../lib/exec_format/decide/enoexec_event.ts";
import { EnoexecAnnotation, Finalizer } from "../../lib/names.ts";
import { runArchway } from "../support/archway_program.ts";
import { type Archway, enablePlacement } from "./support/archway.ts";
import { conditionOf, listAt, read } from "./support/cluster_access.ts";
import {
  applyComponents,
  awaitRunning,
  bindPod,
  containerIdOf,
  createDeploymentOfArchway,
  DAEMON_SET,
  DEPLOYMENT,
  endedStatus,
  EVENTS,
  type EventSpec,
  NAMESPACE,
  openDaemonAccess,
  reportsOf,
  setContainerStatus,
  warnBackOff,
  writeEvent,
} from "./support/exec_format_bed.ts";
import { clusterConfig, CONFIG, CONFIGS, POD_WEBHOOK } from "./support/objects.ts";
import { createDeployment, createPods, isScheduled, listPods, waitForPod } from "./support/pods.ts";
import { findIdle, findMissing, readRights, readUses, renderRight } from "./support/rights.ts";
import { waitUntil } from "./support/wait.ts";
import { index, openWalkBed, type WalkBed } from "./support/walk_bed.ts";

const LABEL = "multiarch.openshift.io/exec-format-error";
const ERROR = "multiarch.openshift.io/enoexec-event-error";
const EVENT_KIND = { apiVersion: "multiarch.openshift.io/v1beta1", kind: "ENoExecEvent" };

interface Bed extends WalkBed {
  readonly archway: Archway;
}

async function openBed(): Promise<Bed> {
  const bed = await openWalkBed();
  try {
    await applyComponents(bed.controlPlane);
    await createDeploymentOfArchway(bed.controlPlane);
    const args = ["--exec-format-errors=repair", "--exec-format-image=registry.invalid/daemon:1"];
    return { ...bed, archway: await bed.startReplica({ args }) };
  } catch (error) {
    await bed[Symbol.asyncDispose]();
    throw error;
  }
}

const plugin = (enabled: boolean): unknown => ({ plugins: { execFormatErrorMonitor: { enabled } } });

async function setPlugin({ controlPlane }: Bed, enabled: boolean): Promise<void> {
  await controlPlane.patch(CONFIG, { spec: plugin(enabled) });
}

async function isHeld({ controlPlane }: Bed, path: string): Promise<boolean> {
  return listAt(await controlPlane.get(path), "metadata", "finalizers").includes(Finalizer.enoexecEvents);
}

async function labelOf({ controlPlane }: Bed, namespace: string, name: string): Promise<unknown> {
  return read(await controlPlane.get(`/api/v1/namespaces/${namespace}/pods/${name}`), "metadata", "labels", LABEL);
}

/** The DaemonSet's pod on a node; its image never runs, but its account's tokens can be bound to it. */
async function daemonPodOn({ controlPlane }: Bed, node: string): Promise<string> {
  return await waitUntil(`a daemon on ${node}`, async () => {
    const path = `/api/v1/namespaces/${NAMESPACE}/pods?labelSelector=app%3Denoexec-event-daemon`;
    const pod = (await controlPlane.list(path)).find((one) => read(one, "spec", "nodeName") === node);
    return pod === undefined ? undefined : String(read(pod, "metadata", "name"));
  });
}

async function awaitGone({ controlPlane }: Bed, ...paths: readonly string[]): Promise<void> {
  for (const path of paths) await waitUntil(`${path} to be gone`, async () => !await controlPlane.exists(path));
}

async function holdEvent({ controlPlane }: Bed, name: string): Promise<void> {
  await controlPlane.create(EVENTS, { ...EVENT_KIND, metadata: { name, finalizers: ["example.com/hold"] } });
}

async function letGo({ controlPlane }: Bed, name: string): Promise<void> {
  await controlPlane.request("PATCH", `${EVENTS}/${name}`, { metadata: { finalizers: null } });
  await controlPlane.request("DELETE", `${EVENTS}/${name}`);
}

Deno.test("exec format errors on a real API server", async (t) => {
  await using bed = await openBed();
  const { controlPlane } = bed;
  const namespace = await controlPlane.createNamespace("shop");
  const image = await bed.push("demo/arm", index("arm64"));
  // Before there is a config: it is not gated, and it prefers nodes that it cannot run on.
  const preference = { matchExpressions: [{ key: "kubernetes.io/arch", operator: "In", values: ["amd64"] }] };
  const nodeAffinity = { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, preference }] };
  const stray = { name: "stray", replicas: 1, images: [image], spec: { affinity: { nodeAffinity } } };
  await createDeployment(controlPlane, namespace, stray);

  await t.step(
    "117 119 120 192 enabled: config and Deployment have the finalizer, each node of the image's architectures a daemon",
    async () => {
      await enablePlacement(controlPlane, plugin(true));
      await waitUntil("the DaemonSet", () => controlPlane.exists(DAEMON_SET));
      for (const path of [CONFIG, DEPLOYMENT]) assert.ok(await isHeld(bed, path), path);
      const account = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/enoexec-event-daemon`;
      assert.ok(await controlPlane.exists(account));
      for (const node of ["amd64-1", "arm64-2"]) await daemonPodOn(bed, node);
      const reasonOf = async (): Promise<unknown> =>
        read(conditionOf(await controlPlane.get(CONFIG), "ExecFormatErrorMonitorNotAvailable"), "reason");
      await waitUntil("all daemons ready", async () => await reasonOf() === "DaemonsReady");
      assert.equal(read(await controlPlane.get(DAEMON_SET), "status", "desiredNumberScheduled"), 4);
    },
  );

  const awaitEventGone = (name: string): Promise<void> => awaitGone(bed, `${EVENTS}/${name}`);

  await t.step("a DaemonSet that is deleted comes back; the events of the old one are collected", async () => {
    const before = read(await controlPlane.get(DAEMON_SET), "metadata", "uid");
    // Without a status it is kept for an hour.
    const failure = { nodeName: "amd64-1", podNamespace: "shop", podName: "p", podUid: "u", command: undefined };
    const { object } = buildEnoexecEvent(
      { ...failure, containerId: containerIdOf("9"), isEntryPoint: true, atMs: Date.now() },
      { namespace: NAMESPACE, name: "enoexec-event-daemon", uid: String(before) },
    );
    await controlPlane.create(EVENTS, object);
    await controlPlane.delete(DAEMON_SET);
    await waitUntil("another one", async () => {
      const after = read(await controlPlane.get(DAEMON_SET), "metadata", "uid");
      return typeof after === "string" && after !== before;
    });
    await awaitEventGone(object.metadata.name);
  });

  await t.step("232 a Deployment that somebody deletes is let go at once, and its successor is held", async () => {
    await controlPlane.delete(DEPLOYMENT);
    await awaitGone(bed, DEPLOYMENT);
    assert.ok(await isHeld(bed, CONFIG));
    await createDeploymentOfArchway(controlPlane);
    await waitUntil("the finalizer", () => isHeld(bed, DEPLOYMENT));
  });

  const prepare = async (name: string, digit: string, node = "ppc64le-1"): Promise<void> => {
    await bindPod(controlPlane, { namespace, name, node, image });
    await setContainerStatus(controlPlane, { namespace, name, status: endedStatus(digit) });
  };
  const write = (name: string, spec: Partial<EventSpec> & { readonly pod: string }): Promise<void> =>
    writeEvent(controlPlane, { name, node: "ppc64le-1", namespace, digit: "a", ...spec });
  const reportOn = (name: string): Promise<string> => firstReport(bed, { namespace, name });
  const fail = async (name: string, status: Readonly<Record<string, unknown>>): Promise<void> => {
    await setContainerStatus(controlPlane, { namespace, name, status });
    await warnBackOff(controlPlane, { namespace, name });
  };

  await t.step("145 146 230 a report becomes an event and a label on the pod, and is deleted", async () => {
    const reported = ["kernel", "status"].map((source) => `archway_exec_format_errors_total\\{source="${source}"\\}`);
    for (const metric of ["mto_enoexecevents_total", "mto_enoexecevents_invalid_total", ...reported]) {
      assert.match(await bed.archway.metrics(), new RegExp(`^${metric} 0$`, "m"));
    }
    await prepare("reported", "a");
    await write("e145", { pod: "reported" });
    await awaitEventGone("e145");
    const message = await reportOn("reported");
    assert.match(
      message,
      /^Container "main-0" is running a binary incompatible with the node architecture \(ppc64le\)/,
    );
    assert.match(message, /demo\/arm:v1 has arm64\..*named its node itself/);
    assert.equal(await labelOf(bed, namespace, "reported"), "true");
    // The object is deleted before it is counted.
    await waitUntil("it to be counted", async () => await bed.archway.metric("mto_enoexecevents_total") === 1);
  });

  await t.step(
    "147 148 150 events without pod or node, or of another node, are deleted, and nothing is said",
    async () => {
      await prepare("quiet", "b");
      await write("e147", { pod: "no-such-pod", digit: "b" });
      await write("e148", { pod: "quiet", node: "non-existing-node", digit: "b" });
      await write("e150", { pod: "quiet", node: "amd64-1", digit: "b" });
      for (const name of ["e147", "e148", "e150"]) await awaitEventGone(name);
      assert.deepEqual([
        await labelOf(bed, namespace, "quiet"),
        await reportsOf(controlPlane, { namespace, name: "quiet" }),
      ], [undefined, []]);
    },
  );

  await t.step("149 154 229 a container that the pod's status does not show is reported without its name", async () => {
    await prepare("unknown", "c");
    const status = { containerID: "wrong-container-id" };
    await setContainerStatus(controlPlane, { namespace, name: "unknown", status });
    await write("e149", { pod: "unknown", digit: "9" });
    await awaitEventGone("e149");
    const said = /^A container is running a binary incompatible with the node architecture \(ppc64le\)/;
    assert.match(await reportOn("unknown"), said);
    assert.equal(await labelOf(bed, namespace, "unknown"), "true");
  });

  await t.step("153 155 an event that something holds is marked, and goes when it is let go", async () => {
    await write("e153", { pod: "quiet", node: "non-existent-node", digit: "b", finalizers: ["example.com/test"] });
    await write("e155", { pod: "quiet", node: "amd64-1", digit: "b", finalizers: ["example.com/test"] });
    for (const name of ["e153", "e155"]) {
      await waitUntil(`the mark on ${name}`, async () => {
        const body = await controlPlane.get(`${EVENTS}/${name}`);
        return read(body, "metadata", "labels", ERROR) === "node-not-found" &&
          read(body, "metadata", "deletionTimestamp") !== undefined;
      });
      await controlPlane.patch(`${EVENTS}/${name}`, { metadata: { finalizers: null } });
      await awaitEventGone(name);
    }
    assert.equal(await labelOf(bed, namespace, "quiet"), undefined);
  });

  await t.step(
    "151 152 an event outside of Archway's namespace takes a status that reads back, and is deleted",
    async () => {
      const path = `/apis/multiarch.openshift.io/v1beta1/namespaces/${namespace}/enoexecevents`;
      await controlPlane.create(path, { ...EVENT_KIND, metadata: { name: "test-name" } });
      const status = { nodeName: "n", podName: "p", podNamespace: "s", containerID: `docker://${"a".repeat(64)}` };
      await controlPlane.patch(`${path}/test-name/status`, { status });
      assert.deepEqual(read(await controlPlane.get(`${path}/test-name`), "status"), status);
      await controlPlane.delete(`${path}/test-name`);
    },
  );

  await t.step("a daemon writes of its own node alone", () => checkPolicy(bed));

  await t.step(
    "without a daemon: a container that ends at once on a node that its image lacks is reported, one that merely fails is not",
    async () => {
      const good = await bed.push("demo/both", index("amd64", "arm64"));
      await bindPod(controlPlane, { namespace, name: "merely-fails", node: "amd64-1", image: good });
      await fail("merely-fails", endedStatus("d", 1));
      await bindPod(controlPlane, { namespace, name: "agentless", node: "amd64-1", image });
      await fail("agentless", endedStatus("e"));
      const counter = ["archway_exec_format_errors_total", { source: "status" }] as const;
      // The pod is labelled before it is counted.
      await waitUntil("it to be counted", async () => await bed.archway.metric(...counter) === 1);
      assert.equal(await labelOf(bed, namespace, "agentless"), "true");
      assert.equal(await labelOf(bed, namespace, "merely-fails"), undefined);
    },
  );

  await t.step(
    "199 200 201 202 a wrong image that is pinned to an architecture is reported on every one, and no event object is left",
    async () => {
      for (const architecture of ["amd64", "arm64", "s390x", "ppc64le"]) {
        await checkPinned(bed, {
          namespace,
          architecture,
          image: architecture === "arm64" ? await bed.push("demo/amd", index("amd64")) : image,
        });
      }
      assert.deepEqual(read(await controlPlane.get(EVENTS), "items"), []);
    },
  );

  await t.step("an image that claims what its program lacks is recorded, explained and avoided", async () => {
    const liar = await bed.push("demo/liar", index("amd64", "arm64"));
    await bindPod(controlPlane, { namespace, name: "liar", node: "amd64-2", image: liar });
    const digest = await bed.registry.push("demo/liar", "v1", index("amd64", "arm64")).then(({ digest }) => digest);
    const status = { ...endedStatus("f"), imageID: `registry.invalid/demo/liar@${digest}` };
    await setContainerStatus(controlPlane, { namespace, name: "liar", status });
    const annotations = { [EnoexecAnnotation.entryPoint]: "true" };
    await write("liar", { pod: "liar", node: "amd64-2", digit: "f", annotations });
    const record = `failed-amd64-${digest.slice("sha256:".length).slice(0, 40)}-${namespace}`;
    await waitUntil("the record", () => controlPlane.exists(`${EVENTS}/${record}`));
    const cluster = ["--kubeconfig", controlPlane.kubeconfigFile];
    const { stdout } = await runArchway(["explain", "liar", "-n", namespace, ...cluster]);
    assert.match(stdout, /claims amd64, but its program has failed there/);
    await waitUntil("the next pod to be placed elsewhere", async () => {
      const name = `next-${crypto.randomUUID().slice(0, 8)}`;
      await createPods(controlPlane, namespace, { pods: [{ name, images: [liar] }] });
      const pod = await waitForPod(controlPlane, { namespace, name }, isScheduled);
      return JSON.stringify(pod.requiredArchitectures) === '[["arm64"]]';
    });
  });

  await t.step(
    "a pod that its owner makes again is evicted within its budget, and the next one placed by its images",
    async () => {
      const budget = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;
      const spec = { minAvailable: 1, selector: { matchLabels: { app: "stray" } } };
      await controlPlane.create(budget, { metadata: { name: "stray" }, spec });
      const [stray] = (await listPods(controlPlane, namespace)).filter(({ name }) => name.startsWith("stray-"));
      const name = stray?.name ?? assert.fail("no pod of the Deployment");
      assert.match(stray?.nodeName ?? "", /^amd64-/);
      await awaitRunning(controlPlane, { namespace, name });
      await fail(name, endedStatus("1"));
      const repairs = (outcome: string): Promise<number> =>
        bed.archway.metric("archway_exec_format_repairs_total", { outcome });
      await waitUntil("the budget to hold", async () => await repairs("deferred") > 0);
      assert.ok(await controlPlane.exists(`/api/v1/namespaces/${namespace}/pods/${name}`));
      await controlPlane.delete(`${budget}/stray`);
      const next = await waitUntil("the next pod", async () => {
        const pods = await listPods(controlPlane, namespace);
        return pods.find((pod) => pod.name.startsWith("stray-") && pod.name !== name && isScheduled(pod));
      }, { deadlineMs: 120_000 });
      assert.match(next.nodeName, /^arm64-/);
      assert.equal(await repairs("evicted"), 1);
    },
  );

  await t.step(
    "118 121 123 193 203 disabled: the daemons go, errored events are removed, one that is held is waited for",
    async () => {
      for (const [name, error] of [["one", "pod-not-found"], ["two", "node-not-found"]] as const) {
        await controlPlane.create(EVENTS, { ...EVENT_KIND, metadata: { name, labels: { [ERROR]: error } } });
      }
      await holdEvent(bed, "held");
      await setPlugin(bed, false);
      await awaitGone(bed, DAEMON_SET);
      for (const name of ["one", "two"]) await awaitEventGone(name);
      for (const path of [CONFIG, DEPLOYMENT]) assert.ok(await isHeld(bed, path), `${path}: the event is waited for`);
      await letGo(bed, "held");
      await waitUntil(
        "the finalizer to go",
        async () => !await controlPlane.exists(DAEMON_SET) && !await isHeld(bed, CONFIG),
      );
      assert.equal(await isHeld(bed, DEPLOYMENT), false);
      assert.ok(await controlPlane.exists(CONFIG));
      assert.deepEqual(read(await controlPlane.get(EVENTS), "items"), [], "122 nothing is left to remove");
    },
  );

  await t.step(
    "192 204 deleted: the daemons go first, the webhook stays while an event is held, then all goes",
    async () => {
      await setPlugin(bed, true);
      await waitUntil("the DaemonSet", () => controlPlane.exists(DAEMON_SET));
      await holdEvent(bed, "held");
      await controlPlane.delete(CONFIG);
      await awaitGone(bed, DAEMON_SET);
      assert.ok(await controlPlane.exists(POD_WEBHOOK));
      assert.ok(await isHeld(bed, DEPLOYMENT));
      await letGo(bed, "held");
      await awaitGone(bed, CONFIG, DAEMON_SET, POD_WEBHOOK);
      assert.equal(await isHeld(bed, DEPLOYMENT), false);
    },
  );

  await t.step("194 a config that is deleted at once leaves nothing", async () => {
    const config = clusterConfig(plugin(true));
    await waitUntil("it to be taken", async () => (await controlPlane.request("POST", CONFIGS, config)).status === 201);
    await controlPlane.delete(CONFIG);
    await awaitGone(bed, CONFIG, DAEMON_SET, POD_WEBHOOK);
  });

  await t.step("every right of the components was used, and none was missing but that on logs", () => checkRights(bed));
});

async function firstReport({ controlPlane }: Bed, pod: Parameters<typeof reportsOf>[1]): Promise<string> {
  return await waitUntil("the report", async () => (await reportsOf(controlPlane, pod))[0]);
}

async function checkRights({ controlPlane }: Bed): Promise<void> {
  const log = controlPlane.auditLogFile ?? assert.fail("no audit log");
  const components = ["exec-format-errors", "exec-format-repair"].map((name) => `components/${name}`);
  const rights = readRights(await renderComposition("base", components), "archway");
  const uses = readUses(await Deno.readTextFile(log), `system:serviceaccount:${NAMESPACE}:archway`);
  const own = rights.filter(({ role }) => role.startsWith("archway-exec-format"));
  assert.ok(own.length > 10);
  assert.deepEqual(findIdle(own, uses).map(renderRight), []);
  const missing = findMissing(rights, uses).map(({ verb, resource, status }) => `${verb} ${resource} ${status}`);
  assert.deepEqual([...new Set(missing)], ["get pods/log 403"]);
}

/** A Deployment whose template names the architecture: Archway leaves it alone, and the kubelet shows what comes of it. */
async function checkPinned(
  bed: Bed,
  { namespace, architecture, image }: Readonly<Record<"namespace" | "architecture" | "image", string>>,
): Promise<void> {
  const { controlPlane } = bed;
  const pinned = `pinned-${architecture}`;
  const spec = { nodeSelector: { "kubernetes.io/arch": architecture } };
  await createDeployment(controlPlane, namespace, { name: pinned, replicas: 1, images: [image], spec });
  const pod = await waitUntil("its pod", async () => {
    return (await listPods(controlPlane, namespace)).find((one) => one.name.startsWith(pinned) && isScheduled(one));
  });
  assert.equal(pod.labels["multiarch.openshift.io/scheduling-gate"], "not-set");
  await awaitRunning(controlPlane, { namespace, name: pod.name });
  await setContainerStatus(controlPlane, { namespace, name: pod.name, status: endedStatus("8") });
  await warnBackOff(controlPlane, { namespace, name: pod.name });
  const message = await firstReport(bed, { namespace, name: pod.name });
  assert.match(message, new RegExp(`\\(${architecture}\\).*Its own nodeSelector or affinity`));
}

async function checkPolicy(bed: Bed): Promise<void> {
  const { controlPlane } = bed;
  using daemon = await openDaemonAccess(controlPlane, await daemonPodOn(bed, "amd64-1"));
  using elsewhere = await openDaemonAccess(controlPlane, await daemonPodOn(bed, "arm64-1"));
  using unbound = await openDaemonAccess(controlPlane, undefined);
  // The garbage collector deletes an event whose owner does not exist.
  const uid = String(read(await controlPlane.get(DAEMON_SET), "metadata", "uid"));
  const { object, status } = buildEnoexecEvent({
    ...{ nodeName: "amd64-1", podNamespace: "shop", podName: "p", podUid: "u", containerId: containerIdOf("7") },
    ...{ command: "/app", isEntryPoint: true, atMs: Date.now() },
  }, { namespace: NAMESPACE, name: "enoexec-event-daemon", uid });
  const create = async (name: string, changes: object, access = daemon): Promise<string> => {
    const metadata = { ...object.metadata, name, ...changes };
    const answer = await access.request("POST", EVENTS, { ...object, metadata });
    return answer.status === 201 ? "created" : answer.text;
  };
  const setStatus = async (nodeName: string): Promise<string> => {
    const answer = await daemon.request("PATCH", `${EVENTS}/p3/status`, { status: { ...status, nodeName } });
    return answer.status === 200 ? "set" : answer.text;
  };
  // The API server compiles a new policy within a moment.
  await waitUntil("the policy to be in force", async () => {
    const answer = await create("policy-probe", { annotations: { "archway.dev/node": "amd64-2" } });
    if (answer === "created") await letGo(bed, "policy-probe");
    return /own node alone/.test(answer);
  });
  assert.match(await create("p1", { annotations: {} }), /own node alone/);
  assert.match(await create("p2", { labels: { "archway.dev/failed-architecture": "amd64" } }), /no records of images/);
  assert.match(await create("p4", {}, unbound), /own node alone/);
  assert.match(await create("p5", {}, elsewhere), /own node alone/);
  assert.match(await create("p6", { finalizers: ["example.com/hold"] }), /can be deleted at any time/);
  const long = { ...object.metadata.annotations, "example.com/long": "x".repeat(513) };
  assert.match(await create("p7", { annotations: long }), /is small/);
  const many = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`example.com/${at}`, ""]));
  assert.match(await create("p8", { labels: many }), /is small/);
  assert.equal(await create("p3", {}), "created");
  // The leader would delete it once it has its status.
  await controlPlane.patch(`${EVENTS}/p3`, { metadata: { finalizers: ["example.com/hold"] } });
  assert.match(await setStatus("amd64-2"), /names the node of the daemon/);
  assert.match((await elsewhere.request("DELETE", `${EVENTS}/p3`)).text, /own node alone/);
  assert.equal(await setStatus("amd64-1"), "set");
  assert.equal((await daemon.request("DELETE", `${EVENTS}/p3`)).status, 200);
  await letGo(bed, "p3");
}
