import assert from "node:assert/strict";
import type { AttackResult, Origin } from "../bench/attack_bed.ts";
import { readResults } from "../bench/results_file.ts";

const ROOT = new URL("../..", import.meta.url).pathname;
const ORIGIN_NAMES: readonly (readonly [Origin, string])[] = [
  ["nowhere", "nowhere"],
  ["other addresses", "from other addresses"],
  ["the API server's address", "from the API server's address"],
];

interface Entry {
  readonly results: Readonly<Record<Origin, AttackResult>>;
}

/** As the page writes it, with spaces between thousands. */
function count(value: number): string {
  return String(Math.round(value)).replace(/(?=\d{3}$)(?<=\d)/, " ");
}

Deno.test("docs/security.md has the figures of the last `deno task attack`", async () => {
  const page = (await Deno.readTextFile(`${ROOT}docs/security.md`)).replaceAll(/ {2,}/g, " ");
  const { full } = await readResults<Entry>(`${ROOT}tests/bench/results/attack.json`);
  assert.ok(full !== undefined);
  for (const [origin, name] of ORIGIN_NAMES) {
    const { quiet, attacked }: AttackResult = full.results[origin];
    const cells: readonly string[] = [
      name,
      `${count(attacked.p99Ms)} ms`,
      `${count(quiet.p99Ms)} ms`,
      `${count(attacked.maxRssMb)} MB`,
      `${count(attacked.cpuMsPerSecond)} ms`,
      `${attacked.ungated} of ${count(attacked.count)}`,
    ];
    assert.ok(page.includes(`| ${cells.join(" | ")} |`), cells.join());
  }
});
