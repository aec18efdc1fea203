// Exec format errors on real nodes, as users have them: Archway with the component, the plugin switched on, a wrong program
// started, an event on its pod; who started it, on which node, how soon, and at what price.
import assert from "node:assert/strict";
import { buildEnoexecEvent } from "../../lib/exec_format/decide/enoexec_event.ts";
import { Finalizer } from "../../lib/names.ts";
import { read } from "../cluster/support/cluster_access.ts";
import { EVENTS, openDaemonAccess } from "../cluster/support/exec_format_bed.ts";
import type { PodName } from "../cluster/support/pods.ts";
import { isOk, RunningProcess } from "../cluster/support/process.ts";
import { waitUntil } from "../cluster/support/wait.ts";
import { lacks } from "../support/needs.ts";
import {
  CAPABILITIES,
  daemonPodSpec,
  MOUNT_TRACEFS,
  mountTracefs,
  waitForDaemons,
} from "./support/exec_format_daemon.ts";
import { archwayLog, type EventFollower, eventsLeft, followEvents, reportOn } from "./support/exec_format_events.ts";
import {
  containerOf,
  FOREIGN,
  startLater,
  startQuiet,
  startWrong,
  startWrongEphemeral,
  startWrongInit,
  ZEROS,
} from "./support/exec_format_pods.ts";
import { beginFailing, cpuSecondsOf, daemonOn, type FailingStarts } from "./support/failing_starts.ts";
import { assertNothingLeft } from "./support/invariants.ts";
import {
  configure,
  ensureDaemonImage,
  install,
  kubectl,
  NAMESPACE,
  plainRegistry,
  uninstall,
} from "./support/install.ts";
import { type OpenLab, openLab } from "./support/open_lab.ts";
import { ensureNodePrograms } from "./support/programs.ts";

/**
 * Longest from the start of a container until the daemon's report, and from that until the leader's (ms), which names the container
 * and so waits for the kubelet to show it; the API's times are whole seconds.
 */
const WITHIN_MS = 5_000;
const COMPONENTS = ["exec-format-errors"];
const plugin = (enabled: boolean): unknown => ({ plugins: { execFormatErrorMonitor: { enabled } } });

/** Why a daemon that lacks a capability sees nothing, and what bpftrace said. */
const REFUSED_BY_KERNEL = new RegExp(
  "Cannot trace this node: the kernel refuses\\. The container needs the capabilities BPF and PERFMON, and the kernel may " +
    "be locked down \\(/sys/kernel/security/lockdown\\)\\. It said: \\S",
);

/** What is to be said of a container that was started. */
interface Expected {
  readonly node: string;
  readonly container: string;
  readonly list?: string;
  readonly command: string;
  readonly isEntryPoint: boolean;
}

interface Bed {
  readonly lab: OpenLab;
  readonly events: EventFollower;
}

/** Daemon and leader have said it of this container, and soon; the pod is labelled, and was left alone before. */
async function assertReported({ lab, events }: Bed, pod: PodName, expected: Expected): Promise<void> {
  const { node, container, list, command, isEntryPoint } = expected;
  const { id, startedAtMs, shownAtMs } = await containerOf(lab, pod, list);
  const [event] = await events.of(pod);
  const report = await reportOn(lab, pod);
  assert.ok(event !== undefined);
  assert.deepEqual(
    [event.nodeName, event.author, event.containerID, event.command, event.isEntryPoint],
    [node, node, id, command, isEntryPoint],
  );
  const architecture = node === "n2" ? "arm64" : "amd64";
  const words = [`Container "${container}"`, `(${architecture})`, `: ${command}.`, `Its node is ${node}.`];
  for (const word of [...words, lab.lab.registry]) {
    assert.ok(report.message.includes(word), `${word}: ${report.message}`);
  }
  const knownAtMs = Math.max(event.createdAtMs, shownAtMs);
  for (
    const [what, tookMs, withinMs] of [
      ["ENoExecEvent", event.createdAtMs - startedAtMs, WITHIN_MS],
      ["event", report.createdAtMs - knownAtMs, WITHIN_MS],
      ["event, from the start", report.createdAtMs - startedAtMs, 3 * WITHIN_MS],
    ] as const
  ) {
    assert.ok(tookMs <= withinMs, `${what}: after ${tookMs} ms; the kubelet's: ${shownAtMs - startedAtMs} ms`);
  }
  const body = await lab.get(`/api/v1/namespaces/${pod.namespace}/pods/${pod.name}`);
  const labels = ["exec-format-error", "scheduling-gate"].map((name) =>
    read(body, "metadata", "labels", `multiarch.openshift.io/${name}`)
  );
  assert.deepEqual(labels, ["true", "not-set"]);
}

/** The daemon of the emulated node, on this machine: qemu-user has no system call bpf. */
async function startDaemonOfEmulatedNode(lab: OpenLab): Promise<RunningProcess> {
  const main = new URL("../../main.ts", import.meta.url).pathname;
  const daemon = [Deno.execPath(), "run", "-A", "--no-check", "--unstable-kv", main, "enoexec-daemon"];
  const address = "127.0.0.1:18080";
  const flags = ["--node-name=n2", `--namespace=${NAMESPACE}`, `--kubeconfig=${lab.kubeconfigFile}`];
  const shell = ["sh", "-c", `${MOUNT_TRACEFS}; exec "$@"`, "sh"];
  const process = RunningProcess.start({
    name: "daemon-n2",
    command: "unshare",
    args: ["--mount", "--propagation", "private", ...shell, ...daemon, ...flags, `--admin-listen=${address}`],
    directory: lab.lab.directory,
    env: { NO_COLOR: "1" },
  });
  await process.waitReady(() => isOk(`http://${address}/readyz`), { deadlineMs: 60_000 });
  return process;
}

/** What the account of n1's daemon may not do, at the API server of the nodes. */
async function assertTied(lab: OpenLab): Promise<void> {
  using daemon = await openDaemonAccess(lab, await daemonOn(lab, { node: "n1", field: "name" }));
  const write = async (nodeName: string): Promise<string> => {
    const containerId = `containerd://${"7".repeat(64)}`;
    const failure = { nodeName, podNamespace: "shop", podName: "p", podUid: "u", containerId, command: "/app" };
    const owner = { namespace: NAMESPACE, name: "enoexec-event-daemon", uid: "d" };
    const { object } = buildEnoexecEvent({ ...failure, isEntryPoint: true, atMs: Date.now() }, owner);
    const { status, text } = await daemon.request("POST", EVENTS, object);
    return status === 201 ? "created" : text;
  };
  assert.match(await write("n3"), /own node alone/);
  assert.equal(await write("n1"), "created");
  assert.equal((await daemon.request("DELETE", `${EVENTS}/${"7".repeat(64)}`)).status, 200);
  const forbidden = [
    ["GET", "/api/v1/secrets"],
    ["GET", "/api/v1/nodes"],
    ["GET", EVENTS],
    ["DELETE", `/api/v1/namespaces/${NAMESPACE}/pods/any`],
    ["PATCH", `/api/v1/nodes/n1`],
  ] as const;
  for (const [method, path] of forbidden) {
    const { status } = await daemon.request(method, path, method === "PATCH" ? {} : undefined);
    assert.equal(status, 403, `${method} ${path}`);
  }
}

/** What kubelets show of images that are wrong for n1, and how the report of each begins. */
const SHOWN = [
  ["arm-single", /"terminated":\{[^}]*"exitCode":(?:1|255)\b/, "is running a binary incompatible with"],
  ["arm-index", /"waiting":\{[^}]*no match for platform in manifest/, "cannot run: its image has nothing for"],
] as const;

/** With no daemon anywhere the pod's status is enough: a program that was refused, and an image that was. */
async function assertSeenByStatus(lab: OpenLab, namespace: string): Promise<void> {
  assert.equal(await kubectl(lab, "-n", NAMESPACE, "get", "daemonsets", "-o", "name"), "");
  for (const [image, shown, says] of SHOWN) {
    const pod = await startWrong(lab, { namespace, node: "n1", image, name: `status-${image}` });
    const { message } = await reportOn(lab, pod);
    assert.equal(
      message,
      `Container "app" ${says} the node architecture (amd64). Its node is n1. Image ${lab.image(image)} has arm64. ` +
        "Its own nodeSelector or affinity names kubernetes.io/arch: correct it. " +
        "Build it for amd64, or keep the pod off such nodes.",
    );
    const body = await lab.get(`/api/v1/namespaces/${namespace}/pods/${pod.name}`);
    const status = JSON.stringify(read(body, "status", "containerStatuses", 0, "state"));
    assert.match(status, shown);
    assert.doesNotMatch(status, /exec format error/);
    assert.equal(read(body, "metadata", "labels", "multiarch.openshift.io/exec-format-error"), "true");
    await kubectl(lab, "-n", namespace, "delete", "pod", pod.name, "--wait=false");
  }
  assert.deepEqual(await eventsLeft(lab), []);
}

/**
 * Names of the events that are left, without the record of the daemon's image: on the emulated node its pod may start bpftrace,
 * which the emulator hands to the kernel as it is, while the daemon that stands in for it looks.
 */
async function eventsOfTests(lab: OpenLab): Promise<readonly string[]> {
  const daemon = await ensureDaemonImage(lab);
  return await eventsLeft(lab, (image) => image !== daemon);
}

/** Without one of its capabilities a daemon says in its log why it sees nothing. */
async function assertNeeds(lab: OpenLab, left: string): Promise<void> {
  const name = `without-${left.toLowerCase()}`;
  const spec = daemonPodSpec(await ensureDaemonImage(lab), CAPABILITIES.filter((one) => one !== left));
  await lab.createPod(NAMESPACE, { name, spec: { ...spec, nodeName: "n1" } });
  const log = await waitUntil(`the reason in the log of ${name}`, async () => {
    const text = await kubectl(lab, "-n", NAMESPACE, "logs", name);
    return text.includes("are not seen") && text;
  }, { deadlineMs: 60_000 });
  assert.match(log, REFUSED_BY_KERNEL);
  await kubectl(lab, "-n", NAMESPACE, "delete", "pod", name, "--wait=false");
}

/** Two hundred starts that fail within a minute, on n1. */
interface Burst {
  readonly pod: PodName;
  readonly starts: FailingStarts;
  /** UID of the daemon's pod, and the processor time that it had used before. */
  readonly daemon: string;
  readonly before: number;
}

async function beginBurst(lab: OpenLab): Promise<Burst> {
  const pod = { namespace: await lab.createNamespace("enoexec-burst"), name: "quiet" };
  const { directory } = await ensureNodePrograms();
  await startQuiet(lab, pod);
  const uid = await kubectl(lab, "-n", pod.namespace, "get", "pod", pod.name, "-o", "jsonpath={.metadata.uid}");
  const daemon = await daemonOn(lab, { node: "n1", field: "uid" });
  const before = await cpuSecondsOf(daemon);
  const starts = await beginFailing(uid, { count: 200, everyMs: 300, program: `${directory}/app-arm64` });
  return { pod, starts, daemon, before };
}

/** All of them are reported, and cost the daemon next to nothing, beside all else that it has done meanwhile. */
async function assertLosesNone(events: EventFollower, { pod, starts, daemon, before }: Burst): Promise<void> {
  const started = await starts.ended();
  const written = await events.of(pod, 200);
  const percent = 100 * (await cpuSecondsOf(daemon) - before) / 60;
  assert.deepEqual(written.map(({ name }) => name).toSorted(), started.toSorted());
  assert.ok(percent > 0 && percent <= 5, `${percent.toFixed(1)} % of a core`);
}

Deno.test("node: exec format errors become events on pods within seconds, whoever starts the program", {
  ignore: lacks("nodes") || lacks("tracing"),
}, async (t) => {
  await using lab = await openLab();
  const args = [plainRegistry(lab), `--exec-format-image=${await ensureDaemonImage(lab)}`];
  await mountTracefs(lab);
  await install(lab, { components: COMPONENTS, args });
  const namespace = await lab.createNamespace("enoexec");
  await t.step("without a daemon, by the status of the pod alone: a refused program, a refused image", async () => {
    await configure(lab, plugin(false));
    await assertSeenByStatus(lab, namespace);
  });
  await configure(lab, plugin(true));
  await waitForDaemons(lab);
  await using events = await followEvents(lab);
  const bed = { lab, events };
  // Goes on through the steps.
  const burst = await beginBurst(lab);
  await t.step("117 while the plugin is on, config and Deployment have the finalizer of its events", async () => {
    for (const object of ["clusterpodplacementconfig/cluster", "deployment/archway"]) {
      const finalizers = await kubectl(lab, "-n", NAMESPACE, "get", object, "-o", "jsonpath={.metadata.finalizers}");
      assert.ok(finalizers.includes(Finalizer.enoexecEvents), `${object}: ${finalizers}`);
    }
  });
  const app = { container: "app", command: "/app", isEntryPoint: true };

  for (const node of ["n1", "n3"]) {
    await t.step(`199 the entry point of a container on the native node ${node}`, async () => {
      await assertReported(bed, await startWrong(lab, { namespace, node, image: "lying-index" }), { ...app, node });
    });
  }
  await t.step("200 the entry point of a container on the emulated node", async () => {
    await using process = await startDaemonOfEmulatedNode(lab);
    const pod = await startWrong(lab, { namespace, node: "n2", image: "amd-single" });
    await assertReported(bed, pod, { ...app, node: "n2" });
    const { code } = await process.stop();
    assert.equal(code, 0, await process.readLog());
  });
  await t.step("an init container", async () => {
    const list = "initContainerStatuses";
    await assertReported(bed, await startWrongInit(lab, namespace), { ...app, container: "init", list, node: "n1" });
  });
  await t.step("an ephemeral container", async () => {
    const list = "ephemeralContainerStatuses";
    const pod = await startWrongEphemeral(lab, namespace);
    await assertReported(bed, pod, { ...app, container: "debug", list, node: "n1" });
  });
  const later = [["195 ", "execve", ZEROS], ["", "execve", FOREIGN], ["", "execveat", FOREIGN]] as const;
  for (const [row, call, program] of later) {
    const what = program === ZEROS ? "a kibibyte of zeros" : "a program";
    await t.step(`${row}${what} that a container starts later, by ${call}`, async () => {
      const pod = await startLater(lab, { namespace, call, program });
      await assertReported(bed, pod, { container: "app", command: program, isEntryPoint: false, node: "n1" });
      await kubectl(lab, "-n", namespace, "delete", "pod", pod.name, "--wait=false");
    });
  }
  await t.step("no container has been reported twice, and none by a daemon of another node", () => {
    // What an event is about comes with its second write, and a container that is started again may have just begun one.
    const written = events.all().filter(({ podName }) => podName !== "");
    const ids = written.map(({ containerID }) => containerID);
    assert.deepEqual(ids.toSorted(), [...new Set(ids)].toSorted());
    assert.deepEqual(written.filter(({ nodeName, author }) => nodeName !== author), []);
  });
  await t.step("the account of a daemon can write of its own node alone, and read no more than pods", () => {
    return assertTied(lab);
  });
  for (const left of CAPABILITIES) {
    await t.step(`without the capability ${left} the daemon sees nothing, and says why`, () => assertNeeds(lab, left));
  }
  await t.step("of 200 failing starts a minute none is lost, at 5 % of a core or less", () => {
    return assertLosesNone(events, burst);
  });
  await t.step("no ENoExecEvent is left but the record of the lying image", async () => {
    await waitUntil("all to be handled", async () => {
      return (await eventsOfTests(lab)).every((name) => name.startsWith("failed-amd64-"));
    }, { deadlineMs: 60_000 }).catch(async (cause) => {
      const left = await kubectl(lab, "-n", NAMESPACE, "get", "enoexecevents", "-o", "yaml");
      throw new Error(`Cannot find all handled: ${left}\n${await archwayLog(lab)}`, { cause });
    });
    assert.equal((await eventsOfTests(lab)).length, 1);
  });
  await t.step("switched off, the daemons go; uninstalled, nothing is left", async () => {
    await configure(lab, plugin(false));
    await kubectl(lab, "-n", NAMESPACE, "wait", "--for=delete", "daemonset/enoexec-event-daemon", "--timeout=120s");
    const finalizers = ["get", "deployment/archway", "-o", "jsonpath={.metadata.finalizers}"];
    await waitUntil("the Deployment to be let go", async () => {
      return await kubectl(lab, "-n", NAMESPACE, ...finalizers) === "";
    }, { deadlineMs: 90_000 });
    await uninstall(lab, { components: COMPONENTS });
    await assertNothingLeft(lab);
  });
});
