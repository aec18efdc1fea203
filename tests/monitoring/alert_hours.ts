// Alerts as Prometheus evaluates them over hours that are made up.
import assert from "node:assert/strict";
import { readAlertGroups } from "../support/alerts.ts";
import { runToEnd } from "../support/commands.ts";
import { lacks } from "../support/needs.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

/** Values by series, one a minute, as `promtool` reads them: `0x9 1x9` is ten of 0 and ten of 1. */
export type Series = Readonly<Record<string, string>>;

export interface Hour {
  readonly title: string;
  readonly series: Series;
  readonly fires: Readonly<Record<number, readonly string[]>>;
}

/** Of the alerts whose names match. */
export function testHours(names: RegExp, hours: readonly Hour[]): void {
  const rules = readAlertGroups().archway.alerts.filter(({ alert }) => names.test(alert))
    .map(({ alert, expr, for: lasting }) => ({ alert, expr, for: lasting }));
  for (const hour of hours) {
    Deno.test(hour.title, { ignore: lacks("prometheus") }, () => evaluate(rules, hour));
  }
}

async function evaluate(rules: readonly unknown[], hour: Hour): Promise<void> {
  await using directory = await temporaryFolder();
  await Deno.writeTextFile(`${directory.path}/rules.yml`, JSON.stringify({ groups: [{ name: "test", rules }] }));
  const test = { rule_files: ["rules.yml"], evaluation_interval: "1m", tests: [renderTest(hour)] };
  await Deno.writeTextFile(`${directory.path}/test.yml`, JSON.stringify(test));
  const args = ["test", "rules", `${directory.path}/test.yml`];
  const { code, said } = await runToEnd("promtool", args);
  assert.equal(code, 0, said);
}

function renderTest({ series, fires }: Hour): unknown {
  return {
    interval: "1m",
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: Object.entries(fires).map(([minute, names]) => ({
      expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
      eval_time: `${minute}m`,
      exp_samples: names.map((name) => ({ labels: `{alertname="${name}"}`, value: 1 })),
    })),
  };
}
