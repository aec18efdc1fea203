// The daemon that reports exec format errors, on the nodes of the lab: its objects, and what it has written.
import { listAt, objectAt } from "../../../lib/json.ts";
import type { KubeObject } from "../../../lib/k8s/types.ts";
import { ExecFormatMonitor } from "../../../lib/names.ts";
import { parseOperandConfig } from "../../../lib/operand/config_view.ts";
import { renderDaemonSet } from "../../../lib/operand/exec_format_daemon_set.ts";
import { waitUntil } from "../../cluster/support/wait.ts";
import { runCommand } from "./commands.ts";
import { kubectl, NAMESPACE } from "./install.ts";
import type { OpenLab } from "./open_lab.ts";

const NAME = ExecFormatMonitor.daemon;
const MANIFESTS = new URL("../../../manifests", import.meta.url).pathname;
/** What the script needs of the kernel; see docs/exec-format-errors.md. */
export const CAPABILITIES = ["BPF", "PERFMON"] as const;

/** For a shell: mounts tracefs unless it is there. */
export const MOUNT_TRACEFS = "test -d /sys/kernel/tracing/events || mount -t tracefs tracefs /sys/kernel/tracing";

/** An event as the daemon wrote it. */
export interface WrittenEvent {
  readonly metadata: {
    readonly name: string;
    readonly creationTimestamp: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly status?: {
    readonly nodeName: string;
    readonly podName: string;
    readonly podNamespace: string;
    readonly containerID: string;
  };
}

/** Mounts tracefs where the pods of the native nodes find it, as an init system does. */
export async function mountTracefs(lab: OpenLab): Promise<void> {
  for (const { holderPid } of lab.lab.hosts.filter(({ arch }) => arch === "amd64")) {
    await runCommand("nsenter", ["-t", String(holderPid), "-m", "--", "sh", "-c", MOUNT_TRACEFS]);
  }
}

/** Applies the CRD, and what the component has for the daemons, without any Archway; waits until each daemon is ready. */
export async function installDaemon(lab: OpenLab, image: string): Promise<void> {
  await kubectl(lab, "apply", "-f", `${MANIFESTS}/base/crds/enoexecevents.yaml`);
  await kubectl(
    lab,
    "wait",
    "--for=condition=Established",
    "crd/enoexecevents.multiarch.openshift.io",
    "--timeout=30s",
  );
  await kubectl(lab, "create", "namespace", NAMESPACE);
  for (const file of ["daemon", "policy"]) {
    await kubectl(lab, "apply", "-f", `${MANIFESTS}/components/exec-format-errors/${file}.yaml`);
  }
  const { metadata: { name, namespace, labels }, ...daemonSet } = renderDaemon(image);
  const stdin = JSON.stringify({ ...daemonSet, metadata: { name, namespace, labels } });
  const { code, stderr } = await lab.kubectl(["apply", "-f", "-"], { stdin });
  if (code !== 0) throw new Error(`Cannot install the daemon: ${stderr}`);
  await waitForDaemons(lab);
}

/** Waits until the daemons of both native nodes are ready; that of the emulated node never is: qemu-user has no bpf(). */
export async function waitForDaemons(lab: OpenLab): Promise<void> {
  const wanted = lab.lab.hosts.filter(({ arch }) => arch === "amd64").length;
  const status = ["-n", NAMESPACE, "get", "daemonset", NAME, "-o", "jsonpath={.status.numberReady}"];
  await waitUntil("the daemons to be ready", async () => Number(await kubectl(lab, ...status)) === wanted, {
    deadlineMs: 120_000,
    intervalMs: 250,
  }).catch(async (cause) => {
    const pods = await kubectl(lab, "-n", NAMESPACE, "describe", "pods");
    throw new Error(`Cannot install the daemon: ${pods}\n${await daemonLog(lab)}`, { cause });
  });
}

function renderDaemon(image: string): KubeObject {
  const config = parseOperandConfig({ metadata: { name: "cluster", uid: "none" } });
  return renderDaemonSet(config, { namespace: NAMESPACE, image });
}

/** Takes away what {@link installDaemon} made. */
export async function uninstallDaemon(lab: OpenLab): Promise<void> {
  await kubectl(lab, "delete", "namespace", NAMESPACE, "--ignore-not-found", "--timeout=90s");
  for (const file of ["daemon", "policy"]) {
    const manifest = `${MANIFESTS}/components/exec-format-errors/${file}.yaml`;
    await kubectl(lab, "delete", "-f", manifest, "--ignore-not-found", "--timeout=60s");
  }
  await kubectl(lab, "delete", "-f", `${MANIFESTS}/base/crds/enoexecevents.yaml`, "--timeout=60s");
}

/** What the daemons have logged. */
export async function daemonLog(lab: OpenLab): Promise<string> {
  return await kubectl(lab, "-n", NAMESPACE, "logs", "-l", `app=${NAME}`, "--prefix", "--tail=50");
}

/** The daemon's pod as the operator makes it, with other capabilities. */
export function daemonPodSpec(image: string, capabilities: readonly string[]): object {
  const { template } = objectAt(renderDaemon(image), "spec") ?? {};
  const spec = objectAt(template, "spec") ?? {};
  const [container] = listAt(spec, "containers") ?? [];
  const securityContext = objectAt(container, "securityContext") ?? {};
  return {
    ...spec,
    containers: [{
      ...Object(container),
      securityContext: { ...securityContext, capabilities: { drop: ["ALL"], add: capabilities } },
    }],
  };
}

/** All that was written. */
export async function listEvents(lab: OpenLab): Promise<readonly WrittenEvent[]> {
  const path = `/apis/multiarch.openshift.io/v1beta1/namespaces/${NAMESPACE}/enoexecevents`;
  const { body } = await lab.request("GET", path);
  return (body as { readonly items: readonly WrittenEvent[] }).items;
}

/** The events of a pod, once there are as many. */
export async function eventsOf(
  lab: OpenLab,
  { namespace, name, count = 1 }: { readonly namespace: string; readonly name: string; readonly count?: number },
): Promise<readonly WrittenEvent[]> {
  let found: readonly WrittenEvent[] = [];
  return await waitUntil(`${count} events of pod ${name}`, async () => {
    found = (await listEvents(lab)).filter(({ status }) =>
      status?.podName === name && status.podNamespace === namespace
    );
    return found.length >= count && found;
  }, { deadlineMs: 60_000 }).catch(async (cause) => {
    throw new Error(`Cannot find the events: ${JSON.stringify(found)}\n${await daemonLog(lab)}`, { cause });
  });
}
