// Alerts on architecture taints.
import type { Alert } from "../cluster/alert.ts";

export const TAINT_ALERTS: readonly Alert[] = [
  {
    name: "ArchwayTaintsStandStill",
    expression:
      'max(archway_arch_taint_nodes{state="left"}) > 0 and sum(increase(archway_arch_taint_writes_total[15m])) == 0',
    forDuration: "15m",
    severity: "warning",
    summary: "Some nodes do not get their architecture taint.",
    description:
      "For fifteen minutes {{ $value }} nodes have been without their taint, and nothing was written. Pods may run there that do not tolerate it.",
  },
  {
    name: "ArchwayTaintsShutPodsOut",
    expression: 'max(archway_arch_taint_lacking_pods) > 0 and max(archway_arch_taint_nodes{state="tainted"}) > 0',
    forDuration: "5m",
    severity: "warning",
    summary: "Pods lack the toleration of an architecture taint.",
    description: "{{ $value }} pods have lacked a toleration for five minutes; those that are pending find no node.",
  },
  {
    name: "ArchwayTaintsFailedOpen",
    expression: 'sum(increase(archway_arch_taint_writes_total{change="failOpen"}[15m])) > 0',
    forDuration: "0m",
    severity: "critical",
    summary: "Architecture taints were lifted, because no replica of Archway leads.",
    description:
      "{{ $value | humanize }} nodes lost their taint in fifteen minutes. Pods may be scheduled where their images do not run, until a replica leads.",
  },
];
