// What a lab that has ended may not leave on the machine: processes, cgroups, mounts, its folder, kernel settings.

export interface EndedLab {
  readonly name: string;
  readonly directory: string;
  readonly sysctls: string;
}

const SYSCTLS = ["vm/overcommit_memory", "kernel/panic", "kernel/panic_on_oops"];

/** The settings that a kubelet changes, a line each as NAME=VALUE. */
export async function readSysctls(): Promise<string> {
  const lines = await Promise.all(
    SYSCTLS.map(async (name) => `${name}=${(await Deno.readTextFile(`/proc/sys/${name}`)).trim()}`),
  );
  return `${lines.join("\n")}\n`;
}

/** Everything of the lab that is still there, in words; empty when nothing is. */
export async function listTraces({ name, directory, sysctls }: EndedLab): Promise<readonly string[]> {
  const now = await readSysctls();
  return [
    ...(await listProcesses(directory)).map((pid) => `process ${pid}`),
    ...(await listCgroups(name)).map((path) => `cgroup ${path}`),
    ...(await Deno.readTextFile("/proc/self/mountinfo")).split("\n").filter((line) => line.includes(directory)),
    ...(await Deno.stat(directory).then(() => true, () => false) ? [`folder ${directory}`] : []),
    ...(now === sysctls ? [] : [`kernel settings ${now.trim().replaceAll("\n", " ")}`]),
  ];
}

/** Processes whose command line names the folder, as that of every daemon does. */
async function listProcesses(directory: string): Promise<readonly string[]> {
  const pids = (await Array.fromAsync(Deno.readDir("/proc"))).map(({ name }) => name).filter((name) =>
    /^\d+$/.test(name)
  );
  const lines = await Promise.all(pids.map(async (pid) => ({
    pid,
    line: await Deno.readTextFile(`/proc/${pid}/cmdline`).catch(() => ""),
  })));
  // The watcher names the folder as well; it ends once it has removed it.
  return lines.filter(({ line }) => line.includes(directory) && !line.includes("clean_up.sh"))
    .map(({ pid, line }) => `${pid} ${line.replaceAll("\0", " ").slice(0, 120)}`);
}

export async function listCgroups(name: string): Promise<readonly string[]> {
  const root = "/sys/fs/cgroup";
  const found: string[] = [];
  for await (const hierarchy of Deno.readDir(root)) {
    if (!hierarchy.isDirectory) continue;
    for await (const entry of Deno.readDir(`${root}/${hierarchy.name}`)) {
      if (entry.name.startsWith(`${name}-`)) found.push(`${root}/${hierarchy.name}/${entry.name}`);
    }
  }
  return found;
}
