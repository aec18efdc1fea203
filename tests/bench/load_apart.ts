// Sends a load from a process of its own.
import { startScript } from "./child.ts";
import type { Load, LoadResult } from "./load.ts";

/** As sendLoad(). Throws when the process fails or when one answer failed: such a load has measured something else. */
export async function sendLoadApart(load: Load): Promise<LoadResult> {
  await using child = startScript("load_process.ts", [JSON.stringify(load)]);
  const text = await child.readLine();
  if (text === "") throw new Error("Cannot send the load: its process failed.");
  const result: LoadResult = JSON.parse(text);
  if (result.failures > 0) throw new Error(`Cannot measure: ${result.failures} answers failed.`);
  return result;
}
