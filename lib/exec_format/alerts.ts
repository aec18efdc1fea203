// Alerts on exec format errors. They have the MTO's names, but for "Unhandled".
import type { Alert } from "../cluster/alert.ts";

export const EXEC_FORMAT_ALERTS: readonly Alert[] = [
  {
    name: "ExecFormatErrorsDetected",
    expression: "sum(increase(archway_exec_format_errors_total[6h])) > 0",
    forDuration: "1m",
    severity: "critical",
    summary: "Containers run programs of another architecture.",
    description:
      "{{ $value | humanize }} containers were reported in six hours that were to run a program of another architecture than their node has.",
  },
  {
    name: "ExecFormatErrorsUnhandled",
    expression: "sum(increase(mto_enoexecevents_invalid_total[15m])) > 0",
    forDuration: "15m",
    severity: "warning",
    summary: "Reports of exec format errors cannot be handled.",
    description: "{{ $value | humanize }} attempts to handle an ENoExecEvent failed in fifteen minutes.",
  },
  {
    name: "ExecFormatErrorDaemonDown",
    expression: 'max by (namespace) (kube_daemonset_status_number_unavailable{daemonset="enoexec-event-daemon"}) > 0',
    forDuration: "20m",
    severity: "warning",
    summary: "Some nodes are not watched for exec format errors.",
    description: "{{ $value }} daemons have not been available for twenty minutes.",
  },
];
