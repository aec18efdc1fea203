// docs/figures.md against the committed results.
import assert from "node:assert/strict";
import { FILES, renderCommitted } from "../bench/figures.ts";
import { renderFigures } from "../bench/figures_page.ts";

const MACHINE = {
  ...{ cpu: "Test", cores: 2, memoryMb: 4_096, kernel: "linux", architecture: "x86_64", deno: "2", v8: "15" },
  ...{ commit: "abc", date: "2026-01-02T00:00:00Z" },
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
      baseline: { name: "floor", value: 100 },
      target: { kind: "atMostTimesBaseline", factor: 1.15 },
    },
  ] as const;
  const entry = { machine: MACHINE, cluster: "kube-apiserver v1", bed: "control plane", pods: 10, rounds: 3, rows };
  const page = renderFigures({
    cluster: { bursts: entry },
    route: undefined,
    indexes: {
      machine: MACHINE,
      rows: [{ measure: "assemble an index, s", archway: 0.21, target: { kind: "atMost", limit: 0.2 } }],
    },
    growth: [MACHINE, MACHINE, { ...MACHINE, commit: "def" }],
  });
  assert.match(page, /^\| B7 start, ms \| 701 \| – \| – \| ≤ 700 \| \*\*no\*\* \| control plane \| – \|$/m);
  assert.match(page, /^\| B3 total, ms \| 110 \| floor 100 \| 1\.10 \| ≤ 1\.15 × \| yes \| control plane \| – \|$/m);
  assert.match(
    page,
    /^\| assemble an index, s \| 0\.21 \| – \| – \| ≤ 0\.2 \| \*\*no\*\* \| real registries \| – \|$/m,
  );
  assert.match(page, /^Not measured yet: `deno task bench:cluster --only B4`\.$/m);
  const machine = "2 cores of Test, 4 GB, Deno 2";
  assert.ok(
    page.includes(
      `\nMeasured on ${machine}, commit \`abc\`, 2026-01-02; and on ${machine}, commit \`def\`, 2026-01-02.\n`,
    ),
  );
});
