// Starts of a program that fail, each in a container of its own as the kernel sees it: a cgroup with a container's name in
// that of a pod. Two hundred real containers a minute are more than the machine of a test can make.
import { runCommand } from "./commands.ts";
import { kubectl, NAMESPACE } from "./install.ts";
import type { OpenLab } from "./open_lab.ts";
import { pause } from "../../cluster/support/wait.ts";

const UNIFIED = "/sys/fs/cgroup/unified";
const CPU = "/sys/fs/cgroup/cpuacct";
/** bash sees that the file is no text, and does not run it itself. */
const START = 'echo $$ > "$1/cgroup.procs" && exec "$2"';

/** Fails so many starts at a steady pace; gives the IDs of the containers. */
export async function startFailing(
  podUid: string,
  { count, everyMs, program }: { readonly count: number; readonly everyMs: number; readonly program: string },
): Promise<readonly string[]> {
  const pod = await findCgroup(UNIFIED, podUid);
  const ids: string[] = [];
  const startedMs = performance.now();
  for (let at = 0; at < count; at++) {
    const id = `${crypto.randomUUID()}${crypto.randomUUID()}`.replaceAll("-", "");
    await Deno.mkdir(`${pod}/${id}`);
    const args = ["-c", START, "bash", `${pod}/${id}`, program];
    await new Deno.Command("bash", { args, stdout: "null", stderr: "null" }).output();
    await Deno.remove(`${pod}/${id}`);
    ids.push(id);
    await pause(Math.max(0, startedMs + (at + 1) * everyMs - performance.now()));
  }
  return ids;
}

/** UID of the daemon's pod on a node. */
export async function podOf(lab: OpenLab, { node }: { readonly node: string }): Promise<string> {
  const select = ["-l", "app=enoexec-event-daemon", `--field-selector=spec.nodeName=${node}`];
  return await kubectl(lab, "-n", NAMESPACE, "get", "pods", ...select, "-o", "jsonpath={.items[0].metadata.uid}");
}

/** Processor time that a pod has used (s). */
export async function cpuSecondsOf(podUid: string): Promise<number> {
  return Number(await Deno.readTextFile(`${await findCgroup(CPU, podUid)}/cpuacct.usage`)) / 1e9;
}

async function findCgroup(hierarchy: string, podUid: string): Promise<string> {
  const found = await runCommand("find", [hierarchy, "-type", "d", "-name", `pod${podUid}`]);
  return found.trim().split("\n")[0] ?? "";
}
