// Starts of a program that fail, each in a container of its own as the kernel sees it: a cgroup with a container's name in
// that of a pod. Two hundred real containers a minute are more than the machine of a test can make.
import { failStart, type Pace, steadily } from "../../cluster/support/failing_starts.ts";
import { runCommand } from "./commands.ts";
import { kubectl, NAMESPACE } from "./install.ts";
import type { OpenLab } from "./open_lab.ts";

const UNIFIED = "/sys/fs/cgroup/unified";
const CPU = "/sys/fs/cgroup/cpuacct";
/** Fails so many starts in the folder of a pod, at a steady pace; gives the IDs of the containers. */
export async function startFailing(
  podUid: string,
  { program, ...pace }: Pace & { readonly program: string },
): Promise<readonly string[]> {
  const pod = await findCgroup(UNIFIED, podUid);
  return await steadily(pace, () => failStart(pod, program));
}

/** Name or UID of the daemon's pod on a node. */
export async function daemonOn(
  lab: OpenLab,
  { node, field }: { readonly node: string; readonly field: "name" | "uid" },
): Promise<string> {
  const select = ["-l", "app=enoexec-event-daemon", `--field-selector=spec.nodeName=${node}`];
  return await kubectl(lab, "-n", NAMESPACE, "get", "pods", ...select, "-o", `jsonpath={.items[0].metadata.${field}}`);
}

/** Processor time that a pod has used (s). */
export async function cpuSecondsOf(podUid: string): Promise<number> {
  return Number(await Deno.readTextFile(`${await findCgroup(CPU, podUid)}/cpuacct.usage`)) / 1e9;
}

async function findCgroup(hierarchy: string, podUid: string): Promise<string> {
  const found = await runCommand("find", [hierarchy, "-type", "d", "-name", `pod${podUid}`]);
  return found.trim().split("\n")[0] ?? "";
}
