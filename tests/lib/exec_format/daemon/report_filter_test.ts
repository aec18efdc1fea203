import assert from "node:assert/strict";
import { REPORT_LIMITS, ReportFilter } from "../../../../lib/exec_format/daemon/report_filter.ts";

Deno.test("ReportFilter reports a container once a minute", () => {
  const filter = new ReportFilter(REPORT_LIMITS);
  const verdicts = [0, 1_000, 59_999, 60_000].map((nowMs) => filter.judge("a", nowMs));
  assert.deepEqual(verdicts, ["report", "repeated", "repeated", "report"]);
  assert.equal(filter.judge("b", 60_000), "report");
});

Deno.test("ReportFilter lets a burst pass and then so many a second; what was held back may be reported later", () => {
  const filter = new ReportFilter({ ...REPORT_LIMITS, perSecond: 2, burst: 3 });
  const judge = (name: string, nowMs: number): string => filter.judge(name, nowMs);
  assert.deepEqual(["a", "b", "c", "d"].map((name) => judge(name, 0)), ["report", "report", "report", "limited"]);
  assert.equal(judge("d", 499), "limited");
  assert.equal(judge("d", 500), "report");
});

Deno.test("ReportFilter drops the oldest container when there are too many", () => {
  const filter = new ReportFilter({ ...REPORT_LIMITS, maxContainers: 2 });
  for (const name of ["a", "b", "c"]) filter.judge(name, 0);
  assert.equal(filter.judge("a", 1), "report");
  assert.equal(filter.judge("c", 1), "repeated");
});
