// Sends a load from a process of its own.
import * as z from "zod";
import type { Load, LoadResult } from "./load.ts";

const SCRIPT = new URL("./load_process.ts", import.meta.url).pathname;
const RESULT = z.object({
  requestsPerSecond: z.number(),
  p50: z.number(),
  p99: z.number(),
  failures: z.number(),
});

/** As sendLoad(). Throws when the process fails or when one answer failed: such a load has measured something else. */
export async function sendLoadApart(load: Load): Promise<LoadResult> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", SCRIPT],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(JSON.stringify(load)));
  await writer.close();
  const { success, stdout } = await child.output();
  if (!success) throw new Error("Cannot send the load: its process failed.");
  const result = RESULT.parse(JSON.parse(new TextDecoder().decode(stdout)));
  if (result.failures > 0) throw new Error(`Cannot measure: ${result.failures} answers failed.`);
  return result;
}
