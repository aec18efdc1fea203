import assert from "node:assert/strict";
import { parseConfig } from "../../../lib/config/parse.ts";

function problemsOf(args: readonly string[]): readonly string[] {
  const parsed = parseConfig(args, { env: {}, readFile: () => "" });
  return parsed.kind === "usage" ? parsed.problems : [];
}

Deno.test("parseConfig() names the flag or command that was meant where one is near, and a flag as it was typed", () => {
  const cases: readonly (readonly [args: readonly string[], says: RegExp])[] = [
    [["dev", "--onec"], /^Cannot use "--onec" with dev: no such flag\. Did you mean --once\?$/],
    [["report", "--kubeconfg=x"], /^Cannot use "--kubeconfg" with report: no such flag\. Did you mean --kubeconfig\?$/],
    [["report", "--onec"], /^Cannot use "--onec" with report: no such flag\. See `archway report --help`\.$/],
    [["inspect", "-x", "web"], /^Cannot use "-x" with inspect: no such flag\. See `archway inspect --help`\.$/],
    [["serve", "-o", "json"], /^Cannot use "-o" with serve: no such flag\./],
    [["inspekt", "web"], /^Cannot run "inspekt": the commands are serve, .*\. Did you mean inspect\?$/],
    [["nonsense"], /^Cannot run "nonsense": the commands are serve, .*completion\.$/],
  ];
  for (const [args, says] of cases) assert.match(problemsOf(args).join(), says);
});
