// The alerts on exec format errors, as Prometheus evaluates them over hours that are made up.
import assert from "node:assert/strict";
import { EXEC_FORMAT_ALERTS } from "../../lib/operand/alerts/exec_format_errors.ts";
import { lacks } from "../support/needs.ts";

const RULES = EXEC_FORMAT_ALERTS
  .map(({ name, expression, forDuration }) => ({ alert: name, expr: expression, for: forDuration }));

/** Values by series, one a minute, as `promtool` reads them: `0x9 1x9` is ten of 0 and ten of 1. */
type Series = Readonly<Record<string, string>>;

/** An hour, and which alerts fire when, by minutes. */
interface Hour {
  readonly title: string;
  readonly series: Series;
  readonly fires: Readonly<Record<number, readonly string[]>>;
}

const AT_ZERO: Series = {
  'archway_exec_format_errors_total{source="kernel"}': "0x60",
  'archway_exec_format_errors_total{source="status"}': "0x60",
  "mto_enoexecevents_invalid_total": "0x60",
};

const unavailable = (daemonSet: string): string =>
  `kube_daemonset_status_number_unavailable{daemonset="${daemonSet}",namespace="archway-system"}`;

const HOURS: readonly Hour[] = [
  {
    title: "alerts on exec format errors: none fires while nothing was reported",
    series: AT_ZERO,
    fires: { 5: [], 59: [] },
  },
  {
    title: "230 alerts on exec format errors: the first report of all fires one, because its metric was at 0 before",
    series: { ...AT_ZERO, 'archway_exec_format_errors_total{source="status"}': "0x9 1x50" },
    fires: { 9: [], 12: ["ExecFormatErrorsDetected"], 59: ["ExecFormatErrorsDetected"] },
  },
  {
    title: "alerts on exec format errors: events that cannot be handled fire after a quarter of an hour",
    series: { ...AT_ZERO, "mto_enoexecevents_invalid_total": "0x9 1+1x50" },
    fires: { 20: [], 30: ["ExecFormatErrorsUnhandled"] },
  },
  {
    title: "alerts on exec format errors: a daemon that is away fires after twenty minutes",
    series: { ...AT_ZERO, [unavailable("enoexec-event-daemon")]: "1x60" },
    fires: { 15: [], 25: ["ExecFormatErrorDaemonDown"] },
  },
  {
    title: "alerts on exec format errors: nodes that another DaemonSet misses count for nothing",
    series: { ...AT_ZERO, [unavailable("enoexec-event-daemon")]: "0x60", [unavailable("agent")]: "1x60" },
    fires: { 59: [] },
  },
];

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

for (const hour of HOURS) {
  Deno.test({
    name: hour.title,
    ignore: lacks("prometheus"),
    fn: async () => {
      const directory = await Deno.makeTempDir();
      try {
        const rules = { groups: [{ name: "exec-format", rules: RULES }] };
        await Deno.writeTextFile(`${directory}/rules.yml`, JSON.stringify(rules));
        const test = { rule_files: ["rules.yml"], evaluation_interval: "1m", tests: [renderTest(hour)] };
        await Deno.writeTextFile(`${directory}/test.yml`, JSON.stringify(test));
        const args = ["test", "rules", `${directory}/test.yml`];
        const { code, stdout, stderr } = await new Deno.Command("promtool", { args }).output();
        const said = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("");
        assert.equal(code, 0, said);
      } finally {
        await Deno.remove(directory, { recursive: true });
      }
    },
  });
}
