// Where chaos and soak report their results: the terminal, JSON for machines, markdown for people.
const FOLDER = new URL("./", import.meta.url).pathname;

/** One line on standard output. */
export function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

/** One sentence about the machine and the day. */
export async function describeMachine(): Promise<string> {
  const memory = /MemTotal:\s+(\d+)/.exec(await Deno.readTextFile("/proc/meminfo").catch(() => ""))?.[1];
  const gigabytes = memory === undefined ? "unknown memory" : `${Math.round(Number(memory) / 1_048_576)} GB`;
  const day = new Date().toISOString().slice(0, 10);
  return `${day}, ${navigator.hardwareConcurrency} CPUs, ${gigabytes}, Deno ${Deno.version.deno}, ` +
    `${Deno.build.os} ${Deno.build.arch}.`;
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
