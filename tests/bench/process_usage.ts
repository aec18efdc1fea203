// What a process has used so far, from /proc.

const CLOCK_TICKS_A_SECOND = 100;

/** CPU time of all its threads (ms). Source: proc(5), fields 14 and 15 of `stat`. */
export async function readCpuMs(pid: number): Promise<number> {
  const stat = await Deno.readTextFile(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 1_000 / CLOCK_TICKS_A_SECOND;
}

/** Resident memory (MB): now, or the most it ever was. */
export async function readMemoryMb(pid: number, which: "VmRSS" | "VmHWM" = "VmRSS"): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(new RegExp(`${which}:\\s+(\\d+)`).exec(status)?.[1] ?? NaN) / 1_024;
}
