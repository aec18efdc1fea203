import { type Hour, type Series, testHours } from "./alert_hours.ts";

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

testHours(/^ExecFormat/, HOURS);
