import assert from "node:assert/strict";
import { readMachineFacts } from "../bench/machine.ts";
import { seededRandom } from "../support/random.ts";
import { drawArrivals } from "./engine.ts";
import { courseOf } from "./process_sample.ts";
import { describeMachine } from "./report.ts";
import { chaosTable } from "./rows.ts";
import { planSoak } from "./soak_plan.ts";
import { renderResults } from "./table.ts";
import { cutAt, type CutPlace } from "./watch_cuts.ts";

const LINE = '{"type":"ADDED","object":{"note":"größer"}}\n';
const BYTES = new TextEncoder().encode(LINE);
const CHUNK = new Uint8Array([...new TextEncoder().encode(`${BYTES.length.toString(16)}\r\n`), ...BYTES, 13, 10]);

function passed(place: CutPlace, bytes = CHUNK): string | undefined {
  const at = cutAt(bytes, place);
  return at === undefined ? undefined : new TextDecoder().decode(bytes.subarray(0, at));
}

Deno.test("cutAt() cuts at the kind of byte that is requested", () => {
  assert.equal(passed("in a chunk header"), "2");
  assert.equal(passed("between lines"), `${BYTES.length.toString(16)}\r\n${LINE}\r\n`);
  assert.ok(passed("in a character")?.endsWith("gr\ufffd"));
  assert.match(passed("in a line") ?? "", /^2e\r\n\{"type":"ADDED"[^\n]*$/);
});

Deno.test("cutAt() finds no place in the head of an answer, and no character where all is ASCII", () => {
  assert.equal(passed("in a line", new TextEncoder().encode("HTTP/1.1 200 OK\r\n")), undefined);
  assert.equal(passed("in a character", new TextEncoder().encode('10\r\n{"a":"b"}\n\r\n')), undefined);
});

Deno.test("planSoak() and drawArrivals() draw the same from the same seed", () => {
  assert.deepEqual(planSoak(300_000, seededRandom(7)), planSoak(300_000, seededRandom(7)));
  assert.notDeepEqual(planSoak(300_000, seededRandom(7)), planSoak(300_000, seededRandom(8)));
  const [row] = chaosTable({ absenceMs: 20_000 });
  assert.ok(row !== undefined);
  assert.deepEqual(drawArrivals(row, seededRandom(7)), drawArrivals(row, seededRandom(7)));
});

Deno.test("planSoak() does everything in a minute as in five, and restarts replicas in the first half only", () => {
  for (const durationMs of [60_000, 120_000, 300_000]) {
    const plan = planSoak(durationMs, seededRandom(1));
    const kinds = new Set(plan.map(({ kind }) => kind));
    assert.deepEqual([...kinds].sort(), ["certificate rotation", "config change", "registry fault", "replica restart"]);
    assert.ok(plan.every(({ kind, atMs }) => kind !== "replica restart" || atMs < durationMs / 2));
  }
});

Deno.test("courseOf() compares the end of a row with its beginning, and tolerates bursts", () => {
  assert.deepEqual(courseOf([10, 90, 10, 10, 10, 10, 90, 12]), { first: 10, last: 12, peak: 90, growth: 2 });
});

Deno.test("renderResults() names the commit that was measured", async () => {
  const page = renderResults([], { seed: 1, machine: await describeMachine() });
  const { commit } = await readMachineFacts();
  assert.match(commit, /^(?:[0-9a-f]{10}(?:-dirty)?|unknown)$/);
  assert.ok(page.split("\n").some((line) => line.startsWith("Written by") && line.endsWith(`commit \`${commit}\`.`)));
});
