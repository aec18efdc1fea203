// Exec format errors as the kernels of real nodes report them: who started what, on which node, how soon, and at what price.
import assert from "node:assert/strict";
import { RunningProcess } from "../cluster/support/process.ts";
import { waitUntil } from "../cluster/support/wait.ts";
import { EnoexecAnnotation } from "../../lib/names.ts";
import { lacks } from "../support/needs.ts";
import {
  CAPABILITIES,
  daemonPodSpec,
  eventsOf,
  installDaemon,
  listEvents,
  MOUNT_TRACEFS,
  mountTracefs,
  uninstallDaemon,
  type WrittenEvent,
} from "./support/exec_format_daemon.ts";
import { ensureDaemonImage, kubectl, NAMESPACE } from "./support/install.ts";
import { type OpenLab, openLab } from "./support/open_lab.ts";
import { ensureStarter } from "./support/starter.ts";
import { cpuSecondsOf, podOf, startFailing } from "./support/failing_starts.ts";
import { ensureNodePrograms } from "./support/programs.ts";

/** Longest from the start of a container until its event is written (s); the API's times are whole seconds. */
const WITHIN_SECONDS = 5;

interface ContainerStatus {
  readonly name: string;
  readonly containerID?: string;
  readonly state?: { readonly terminated?: { readonly startedAt: string; readonly containerID?: string } };
}

/** A container of a pod's status, once it has an ID. */
async function containerOf(
  lab: OpenLab,
  pod: { readonly namespace: string; readonly name: string },
  list = "containerStatuses",
): Promise<ContainerStatus> {
  return await waitUntil(`the status of ${pod.name}`, async () => {
    const { body } = await lab.request("GET", `/api/v1/namespaces/${pod.namespace}/pods/${pod.name}`);
    const { status } = body as { readonly status: Readonly<Record<string, readonly ContainerStatus[] | undefined>> };
    const found = status[list]?.[0];
    return found?.containerID !== undefined && found;
  }, { deadlineMs: 60_000 });
}

/** The event names this container, and came soon. */
function assertNames(
  event: WrittenEvent | undefined,
  { container, node }: { readonly container: ContainerStatus; readonly node: string },
): void {
  assert.ok(event?.status !== undefined);
  assert.deepEqual([event.status.nodeName, event.status.containerID], [node, container.containerID]);
  assert.equal(event.metadata.annotations?.[EnoexecAnnotation.node], node);
  const startedAt = container.state?.terminated?.startedAt;
  if (startedAt === undefined) return;
  const seconds = (Date.parse(event.metadata.creationTimestamp) - Date.parse(startedAt)) / 1_000;
  assert.ok(seconds <= WITHIN_SECONDS, `${seconds} s after the start`);
}

const QUICK = { restartPolicy: "Never", dnsPolicy: "Default", terminationGracePeriodSeconds: 1 };

/** A pod on a node whose only container cannot be started there. */
async function startWrong(
  lab: OpenLab,
  { namespace, node, image }: { readonly namespace: string; readonly node: string; readonly image: string },
): Promise<{ readonly namespace: string; readonly name: string }> {
  const name = `wrong-on-${node}`;
  const containers = [{ name: "app", image: lab.image(image), args: ["hello"] }];
  await lab.createPod(namespace, { name, spec: { ...QUICK, nodeName: node, containers } });
  return { namespace, name };
}

/** The daemon of the emulated node, on this machine: qemu-user has no system call bpf. */
async function startDaemonOfEmulatedNode(lab: OpenLab): Promise<RunningProcess> {
  const main = new URL("../../main.ts", import.meta.url).pathname;
  const daemon = [Deno.execPath(), "run", "-A", "--no-check", "--unstable-kv", main, "enoexec-daemon"];
  const flags = ["--node-name=n2", `--namespace=${NAMESPACE}`, `--kubeconfig=${lab.kubeconfigFile}`];
  const address = "127.0.0.1:18080";
  const script = `${MOUNT_TRACEFS}; exec "$@"`;
  const process = RunningProcess.start({
    name: "daemon-n2",
    command: "unshare",
    args: [
      "--mount",
      "--propagation",
      "private",
      "sh",
      "-c",
      script,
      "sh",
      ...daemon,
      ...flags,
      `--admin-listen=${address}`,
    ],
    directory: lab.lab.directory,
    env: { NO_COLOR: "1" },
  });
  await process.waitReady(async () => {
    const answer = await fetch(`http://${address}/readyz`);
    await answer.body?.cancel();
    return answer.ok;
  }, { deadlineMs: 60_000 });
  return process;
}

Deno.test(
  "node: exec format errors are reported with node, pod and container within seconds, whoever starts the program",
  {
    ignore: lacks("nodes") || lacks("tracing"),
  },
  async (t) => {
    await using lab = await openLab();
    const programs = await ensureNodePrograms();
    const image = await ensureDaemonImage(lab);
    await mountTracefs(lab);
    await installDaemon(lab, image);
    const namespace = await lab.createNamespace("enoexec");

    for (const node of ["n1", "n3"]) {
      await t.step(`the entry point of a container on the native node ${node}`, async () => {
        const pod = await startWrong(lab, { namespace, node, image: "lying-index" });
        const [event] = await eventsOf(lab, pod);
        assertNames(event, { container: await containerOf(lab, pod), node });
        assert.equal(event?.metadata.annotations?.[EnoexecAnnotation.command], "/app");
      });
    }

    await t.step("the entry point of a container on the emulated node", async () => {
      await using daemon = await startDaemonOfEmulatedNode(lab);
      const pod = await startWrong(lab, { namespace, node: "n2", image: "amd-single" });
      const [event] = await eventsOf(lab, pod);
      assertNames(event, { container: await containerOf(lab, pod), node: "n2" });
      const { code } = await daemon.stop();
      assert.equal(code, 0, await daemon.readLog());
    });

    await t.step("an init container", async () => {
      const pod = { namespace, name: "wrong-init" };
      const spec = {
        ...QUICK,
        nodeName: "n1",
        initContainers: [{ name: "init", image: lab.image("arm-single"), args: ["hello"] }],
        containers: [{ name: "app", image: lab.image("multi"), args: ["pause"] }],
      };
      await lab.createPod(namespace, { name: pod.name, spec });
      const [event] = await eventsOf(lab, pod);
      assertNames(event, { container: await containerOf(lab, pod, "initContainerStatuses"), node: "n1" });
    });

    await t.step("an ephemeral container", async () => {
      const pod = { namespace, name: "wrong-ephemeral" };
      const containers = [{ name: "app", image: lab.image("multi"), args: ["pause"] }];
      await lab.createPod(namespace, { name: pod.name, spec: { ...QUICK, nodeName: "n1", containers } });
      await containerOf(lab, pod);
      const ephemeralContainers = [{ name: "debug", image: lab.image("arm-single"), args: ["hello"] }];
      const path = `/api/v1/namespaces/${namespace}/pods/${pod.name}/ephemeralcontainers`;
      const contentType = "application/strategic-merge-patch+json";
      const answer = await lab.request("PATCH", path, { spec: { ephemeralContainers } }, { contentType });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      const [event] = await eventsOf(lab, pod);
      assertNames(event, { container: await containerOf(lab, pod, "ephemeralContainerStatuses"), node: "n1" });
    });

    for (const call of ["execve", "execveat"] as const) {
      await t.step(`a program that a container starts later, by ${call}`, async () => {
        const pod = { namespace, name: `later-${call}` };
        await lab.createPod(namespace, { name: pod.name, spec: await specOfLater(lab, call) });
        const [event] = await eventsOf(lab, pod);
        assertNames(event, { container: await containerOf(lab, pod), node: "n1" });
        assert.equal(event?.metadata.annotations?.[EnoexecAnnotation.command], FOREIGN);
        await kubectl(lab, "-n", namespace, "delete", "pod", pod.name, "--wait=false");
      });
    }

    await t.step("no container has been reported twice, and none by a daemon of another node", async () => {
      const events = await listEvents(lab);
      const ids = events.map(({ status }) => status?.containerID);
      assert.deepEqual(ids.toSorted(), [...new Set(ids)].toSorted());
      const strange = events.filter(({ status, metadata }) =>
        status?.nodeName !== metadata.annotations?.[EnoexecAnnotation.node]
      );
      assert.deepEqual(strange, []);
    });

    for (const left of CAPABILITIES) {
      await t.step(`without the capability ${left} the daemon sees nothing, and says why`, async () => {
        const name = `without-${left.toLowerCase().replace("_", "-")}`;
        const capabilities = CAPABILITIES.filter((capability) => capability !== left);
        await lab.createPod(NAMESPACE, { name, spec: { ...daemonPodSpec(image, capabilities), nodeName: "n1" } });
        const log = await waitUntil(`the reason in the log of ${name}`, async () => {
          const text = await kubectl(lab, "-n", NAMESPACE, "logs", name);
          return text.includes("are not seen") && text;
        }, { deadlineMs: 60_000 });
        assert.match(log, /Cannot trace this node: /);
        await kubectl(lab, "-n", NAMESPACE, "delete", "pod", name, "--wait=false");
      });
    }

    await t.step("of 200 failing starts a minute none is lost, at 5 % of a core or less", async () => {
      const uid = await createQuietPod(lab, namespace);
      const daemon = await podOf(lab, { node: "n1" });
      const before = await cpuSecondsOf(daemon);
      const started = await startFailing(uid, { count: 200, everyMs: 300, program: `${programs.directory}/app-arm64` });
      const events = await eventsOf(lab, { namespace, name: "quiet", count: 200 });
      const percent = 100 * (await cpuSecondsOf(daemon) - before) / 60;
      assert.deepEqual(events.map(({ metadata }) => metadata.name).toSorted(), started.toSorted());
      assert.ok(percent <= 5, `${percent.toFixed(1)} % of a core`);
    });
    await uninstallDaemon(lab);
  },
);

/** In the pods of {@link specOfLater}. */
const FOREIGN = "/programs/app-arm64";

/** A pod on n1 whose container runs, and tries again and again to start a program of another architecture. */
async function specOfLater(lab: OpenLab, call: "execve" | "execveat"): Promise<unknown> {
  const [programs, starter] = [await ensureNodePrograms(), await ensureStarter()];
  const mounts = [["starter", starter.directory], ["programs", programs.directory]] as const;
  return {
    ...QUICK,
    nodeName: "n1",
    containers: [{
      name: "app",
      image: lab.image("multi"),
      command: ["/starter/starter", call, FOREIGN],
      volumeMounts: mounts.map(([name]) => ({ name, mountPath: `/${name}`, readOnly: true })),
    }],
    volumes: mounts.map(([name, path]) => ({ name, hostPath: { path, type: "Directory" } })),
  };
}

/** A pod on n1 that does nothing; gives its UID. */
async function createQuietPod(lab: OpenLab, namespace: string): Promise<string> {
  const containers = [{ name: "app", image: lab.image("multi"), args: ["pause"] }];
  await lab.createPod(namespace, { name: "quiet", spec: { ...QUICK, nodeName: "n1", containers } });
  await containerOf(lab, { namespace, name: "quiet" });
  return await kubectl(lab, "-n", namespace, "get", "pod", "quiet", "-o", "jsonpath={.metadata.uid}");
}
