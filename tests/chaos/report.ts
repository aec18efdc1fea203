// Where chaos and soak report their results: the terminal, JSON for machines, markdown for people.
import { readMachineFacts } from "../bench/machine.ts";

const FOLDER = new URL("./", import.meta.url).pathname;

/** One sentence about the machine, the day and the commit. Read it before a run: the checkout may change during it. */
export async function describeMachine(): Promise<string> {
  const { cores, memoryMb, deno, architecture, commit, date } = await readMachineFacts();
  return `${date.slice(0, 10)}, ${cores} CPUs, ${Math.round(memoryMb / 1_024)} GB, Deno ${deno}, ` +
    `${Deno.build.os} ${architecture}, commit \`${commit}\`.`;
}

/** Writes `.archway/NAME.json`, and the markdown beside this file as `PAGE.md` (default NAME). */
export async function writeReport(
  name: string,
  { json, markdown, page = name }: { readonly json: unknown; readonly markdown: string; readonly page?: string },
): Promise<void> {
  await Deno.mkdir(".archway", { recursive: true });
  await Deno.writeTextFile(`.archway/${name}.json`, `${JSON.stringify(json, null, 2)}\n`);
  await Deno.writeTextFile(`${FOLDER}${page}.md`, markdown);
}
