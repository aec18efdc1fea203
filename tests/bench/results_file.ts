// A results file that grows: what was not measured this time stays, with the machine, commit and date it was measured on.
import { dirname } from "node:path";
import type { MachineFacts } from "./machine.ts";

export interface ResultEntry {
  readonly machine: MachineFacts;
  readonly [fact: string]: unknown;
}

export async function readResults<Entry>(file: string): Promise<Readonly<Record<string, Entry>>> {
  try {
    return JSON.parse(await Deno.readTextFile(file));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return {};
    throw new Error(`Cannot read the results "${file}": not JSON. Move the file away to begin anew.`, { cause: error });
  }
}

export async function mergeResults(file: string, entries: Readonly<Record<string, ResultEntry>>): Promise<void> {
  await Deno.mkdir(dirname(file), { recursive: true });
  const all = { ...await readResults<ResultEntry>(file), ...entries };
  await Deno.writeTextFile(file, `${JSON.stringify(all, null, 2)}\n`);
}
