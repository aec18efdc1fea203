// The daemon that reports exec format errors, on the nodes of the lab: its objects, and what it has written.
import { listAt, objectAt } from "../../../lib/json.ts";
import { ExecFormatMonitor } from "../../../lib/names.ts";
import { parseOperandConfig } from "../../../lib/operator/decide/config_view.ts";
import { renderDaemonSet } from "../../../lib/operator/cluster/exec_format_daemon_set.ts";
import { waitUntil } from "../../cluster/support/wait.ts";
import { runCommand } from "../../support/commands.ts";
import { kubectl, NAMESPACE } from "./install.ts";
import type { OpenLab } from "./open_lab.ts";

const NAME = ExecFormatMonitor.daemon;
/** What the script needs of the kernel; see docs/exec-format-errors.md. */
export const CAPABILITIES = ["BPF", "PERFMON"] as const;

/** For a shell: mounts tracefs unless it is there. */
export const MOUNT_TRACEFS = "test -d /sys/kernel/tracing/events || mount -t tracefs tracefs /sys/kernel/tracing";

/** Mounts tracefs where the pods of the native nodes find it, as an init system does. */
export async function mountTracefs(lab: OpenLab): Promise<void> {
  for (const { holderPid } of lab.lab.hosts.filter(({ arch }) => arch === "amd64")) {
    await runCommand("nsenter", ["-t", String(holderPid), "-m", "--", "sh", "-c", MOUNT_TRACEFS]);
  }
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
    throw new Error(`Cannot start the daemons: ${pods}\n${await daemonLog(lab)}`, { cause });
  });
}

export async function daemonLog(lab: OpenLab): Promise<string> {
  return await kubectl(lab, "-n", NAMESPACE, "logs", "-l", `app=${NAME}`, "--prefix", "--tail=50");
}

/** The daemon's pod as the operator makes it, with other capabilities. */
export function daemonPodSpec(image: string, capabilities: readonly string[]): object {
  const config = parseOperandConfig({ metadata: { name: "cluster", uid: "none" } });
  const { template } = objectAt(renderDaemonSet(config, { namespace: NAMESPACE, image }), "spec") ?? {};
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
