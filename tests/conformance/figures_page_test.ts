import assert from "node:assert/strict";
import { FILES, readCommitted, renderCommitted } from "../bench/figures.ts";
import { comparedOn, machinesCompared, renderFigures } from "../bench/figures_page.ts";
import { combineRounds, type Row } from "../bench/table.ts";
import { git, isAncestor } from "../support/git.ts";
import { lacks } from "../support/needs.ts";

/** Commits between what was measured and what is shown with it. */
const MOST_COMMITS = 200;

const MACHINE = {
  ...{ cpu: "Test", cores: 2, memoryMb: 4_096, kernel: "linux", architecture: "x86_64", deno: "2", v8: "15" },
  ...{ commit: "abc", date: "2026-01-02T00:00:00Z" },
};

const GROWTH = {
  ...{ point: { pods: 1, images: 2, nodes: 3, namespaces: 4 }, requests: {}, idleMb: 90, learntMb: 91, peakMb: 92 },
  ...{ cpuMsPerPod: 1.5, cpuMsPerImage: 2, writesPerPod: 1, eventsPerPod: 3, eventsDropped: 0, reads: 7 },
  ...{ watchedBytesPerPod: 2_048, burstMs: 1, gateP50Ms: 5, gateP99Ms: 9 },
};

Deno.test("what is compared was measured in one go, on a clean commit that this one comes from, not long ago", {
  ignore: lacks("history"),
}, async () => {
  const results = await readCommitted();
  assert.equal(comparedOn(results).length, 1, `run \`deno task figures --run\`: ${comparedOn(results).join("; ")}`);
  const commit = machinesCompared(results)[0]?.commit ?? "not measured";
  assert.match(commit, /^[0-9a-f]+$/, "a tree with changes");
  assert.ok(await isAncestor(commit), commit);
  const later = Number(await git("rev-list", "--count", `${commit}..HEAD`));
  assert.ok(later <= MOST_COMMITS, `${later} commits ago`);
});

const REVIEWS = { p50Ms: 5, p99Ms: 10, ungated: 0, count: 1_000, maxRssMb: 170, cpuMsPerSecond: 50 };
const ATTACK = {
  quiet: REVIEWS,
  attacked: { ...REVIEWS, p99Ms: 16, count: 2_000 },
  strangers: { opened: 1, closed: 1, most: 1 },
};

Deno.test("docs/figures.md is what the committed results give", async () => {
  assert.ok(await Deno.readTextFile(FILES.page) === await renderCommitted(), "run `deno task figures`");
});

Deno.test("renderFigures() judges each row by its own numbers, and reports what was not measured", () => {
  const rows = [
    { measure: "B7 start, ms", archway: 701, target: { kind: "atMost", limit: 700 } },
    {
      measure: "B3 total, ms",
      archway: 110,
      spread: { least: 105, most: 130 },
      baseline: { name: "floor", value: 100 },
      target: { kind: "atMostTimesBaseline", factor: 1.15 },
    },
  ] as const;
  const entry = { machine: MACHINE, cluster: "kube-apiserver v1", bed: "control plane", pods: 10, rounds: 3, rows };
  const assembled = { measure: "assemble an index, s", archway: 0.21, target: { kind: "atMost", limit: 0.2 } } as const;
  const page = renderFigures({
    cluster: { bursts: entry },
    indexes: { machine: MACHINE, rows: [assembled] },
    growth: [MACHINE, MACHINE, { ...MACHINE, commit: "def" }].map((machine) => ({ ...GROWTH, machine })),
    attack: { machine: { ...MACHINE, commit: "fed" }, results: { nowhere: ATTACK } },
  });
  const machine = "2 cores of Test, 4 GB, Deno 2";
  const lines = page.split("\n");
  for (
    const line of [
      "| B7 start, ms | 701 | – | – | – | ≤ 700 | **no** | control plane | – |",
      "| B3 total, ms | 110 | 105 – 130 | floor 100 | 1.10 | ≤ 1.15 × | yes | control plane | – |",
      "| assemble an index, s | 0.21 | – | – | – | ≤ 0.2 | **no** | real registries | – |",
      "Not measured yet: `deno task bench:cluster --only B4`.",
      "| pods=1 images=2 nodes=3 namespaces=4 | 1.50 | yes | 2.00 | 90 | 92 | yes | 1.00 | 3.00 | 7 | 2.0 | 5 |",
      "| nowhere | 16 | 10 | 1.6 | 170 | 50 | 0 of 2000 |",
      `Measured on ${machine}, commit \`abc\`, 2026-01-02; and on ${machine}, commit \`def\`, 2026-01-02.`,
    ]
  ) assert.ok(lines.includes(line), line);
  assert.match(page, /closes every connection\. .*commit `fed`/);
});

Deno.test("combineRounds() gives medians of what was measured and of its floor, with least and most", () => {
  const round = (archway: number, value: number): readonly Row[] => [
    { measure: "B3 total, ms", archway, baseline: { name: "floor", value }, target: { kind: "none" } },
  ];
  assert.deepEqual(combineRounds([round(3, 10), round(1, 30), round(7, 20)]), [{
    measure: "B3 total, ms",
    archway: 3,
    spread: { least: 1, most: 7 },
    baseline: { name: "floor", value: 20 },
    target: { kind: "none" },
  }]);
  assert.deepEqual(combineRounds([round(3, 10)]), round(3, 10), "one round has no spread");
});

Deno.test("the page says once where it was measured when all that is compared is of one go", () => {
  const entry = { machine: MACHINE, cluster: "kube-apiserver v1", bed: "control plane", pods: 10, rounds: 3, rows: [] };
  const names = ["webhook", "bursts", "registry cost", "size", "registry faults", "upgrades"];
  const cluster = Object.fromEntries(names.map((name) => [name, entry]));
  const indexes = { machine: { ...MACHINE, date: "2026-01-03T00:00:00Z" }, rows: [] };
  const results = { cluster, indexes, growth: [] };
  assert.deepEqual(comparedOn(results), ["2 cores of Test, 4 GB, Deno 2, commit `abc`"]);
  assert.match(renderFigures(results), /of one go of `deno task figures --run`: 2 cores of Test/);
  const mixed = { ...results, indexes: { ...indexes, machine: { ...MACHINE, commit: "def" } } };
  assert.match(renderFigures(mixed), /^The tables below are not of one go/m);
});
