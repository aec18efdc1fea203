// Starts of a program that fail, each in a container of its own as the kernel sees it: a cgroup with a container's name in
// that of a pod. Two hundred real containers a minute are more than the machine of a test can make.
import type { Pace } from "../../cluster/support/failing_starts.ts";
import { waitUntil } from "../../cluster/support/wait.ts";
import { runCommand } from "../../support/commands.ts";
import { kubectl, NAMESPACE } from "./install.ts";
import type { OpenLab } from "./open_lab.ts";

const UNIFIED = "/sys/fs/cgroup/unified";
const CPU = "/sys/fs/cgroup/cpuacct";
const PROGRAM = new URL("fail_steadily.ts", import.meta.url).pathname;

export interface FailingStarts {
  ended(): Promise<readonly string[]>;
}

/** Begins to fail so many starts in the folder of a pod, at a steady pace. */
export async function beginFailing(
  podUid: string,
  { program, count, everyMs }: Pace & { readonly program: string },
): Promise<FailingStarts> {
  const pod = await findCgroup(UNIFIED, podUid);
  const file = `${await Deno.makeTempDir({ prefix: "archway-failing-" })}/ids.json`;
  const args = [PROGRAM, pod, program, String(count), String(everyMs), file];
  const inBackground = ["-c", '"$@" >/dev/null 2>&1 &', "sh"];
  await runCommand("sh", [...inBackground, Deno.execPath(), "run", "-A", "--no-check", ...args]);
  return {
    ended: async () => {
      return await waitUntil("the starts to have failed", async () => JSON.parse(await Deno.readTextFile(file)), {
        deadlineMs: 2 * count * everyMs,
        intervalMs: 250,
      });
    },
  };
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
  const found = await findFolder(hierarchy, `pod${podUid}`);
  if (found === undefined) throw new Error(`Cannot find the cgroup of pod ${podUid} in ${hierarchy}`);
  return found;
}

/** Folders of others, also of other labs, go meanwhile. */
async function findFolder(within: string, wanted: string): Promise<string | undefined> {
  try {
    for await (const { name, isDirectory } of Deno.readDir(within)) {
      if (!isDirectory) continue;
      const path = `${within}/${name}`;
      const found = name === wanted ? path : await findFolder(path, wanted);
      if (found !== undefined) return found;
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return undefined;
}
