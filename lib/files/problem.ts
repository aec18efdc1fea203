// What is wrong with a configuration file.
import type { Fault } from "../parsed.ts";

/** A fault in a file: said once, with the line where it is known. */
export interface Problem extends Fault {
  readonly file: string;
}

/** The first line that has this text, so that a fault found after parsing can still be pointed at. */
export function findLine(text: string, needle: string): number | undefined {
  const at = needle === "" ? -1 : text.indexOf(needle);
  return at < 0 ? undefined : text.slice(0, at).split("\n").length;
}
