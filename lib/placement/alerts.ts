// Alerts on the placement of pods. The first two have the MTO's names.
import type { Alert } from "../cluster/alert.ts";

/** In the order of the manifest. */
export const PLACEMENT_ALERTS: readonly Alert[] = [
  {
    name: "PodPlacementControllerDown",
    expression: "absent(archway_leader == 1)",
    forDuration: "1m",
    severity: "critical",
    summary: "No replica of Archway decides about gated pods.",
    description:
      "Nobody has held the Lease archway.multiarch.openshift.io for a minute. New pods are no longer gated; those that are gated are released at their deadline without being placed.",
  },
  {
    name: "PodPlacementWebhookDown",
    expression: 'absent(up{job="archway-metrics"} == 1)',
    forDuration: "5m",
    severity: "warning",
    summary: "No replica of Archway answers.",
    description:
      "No replica has been scraped for five minutes. New pods are created ungated and may be scheduled onto nodes that their images do not support.",
  },
  {
    name: "ArchwayGatingStopped",
    expression: "max by (pod) (archway_gating) == 0",
    forDuration: "2m",
    severity: "warning",
    summary: "Archway has stopped gating pods.",
    description:
      "Replica {{ $labels.pod }} no longer gates pods, because no leader renews the Lease, or the leader cannot watch or release pods. Only pods whose images are known are still placed.",
  },
  {
    name: "ArchwaySplitLeadership",
    expression: "sum(archway_leader) > 1",
    forDuration: "1m",
    severity: "warning",
    summary: "More than one replica of Archway believes that it leads.",
    description:
      "{{ $value }} replicas report that they hold the Lease. Decisions are guarded, so pods stay right, but work is done twice.",
  },
  {
    name: "ArchwayPodsStayGated",
    // An audited pod is counted as well, but it has no gate.
    expression:
      'min_over_time(max(mto_ppo_pods_gated)[5m:30s]) > 0 and sum(increase(archway_decisions_total{kind!="audited"}[5m])) == 0',
    forDuration: "1m",
    severity: "critical",
    summary: "Gated pods are not decided.",
    description: "For five minutes there have been gated pods, and not one decision.",
  },
  {
    name: "ArchwayAdmissionsFailOpen",
    expression:
      'sum(increase(apiserver_admission_webhook_fail_open_count{name="pod-placement-scheduling-gate.multiarch.openshift.io"}[10m])) > 0',
    forDuration: "5m",
    severity: "warning",
    summary: "The API server creates pods without asking Archway.",
    description:
      "{{ $value | humanize }} calls of the pod webhook failed in ten minutes; those pods were created unconstrained.",
  },
  {
    name: "ArchwayWebhookSlow",
    expression: "histogram_quantile(0.99, sum by (le) (rate(mto_ppo_wh_response_time_seconds_bucket[10m]))) > 0.5",
    forDuration: "10m",
    severity: "warning",
    summary: "Archway answers admissions slowly.",
    description: "One admission in a hundred takes more than half a second; the API server gives up after five.",
  },
  {
    name: "ArchwayInspectionsFail",
    expression:
      "sum(rate(mto_ppo_ctrl_failed_image_inspection_total[15m])) / sum(rate(mto_ppo_ctrl_time_to_inspect_image_seconds_count[15m])) > 0.25",
    forDuration: "15m",
    severity: "warning",
    summary: "Many images cannot be inspected.",
    description:
      "{{ $value | humanizePercentage }} of image inspections fail; their pods get the fallback architecture or go unconstrained.",
  },
  {
    name: "ArchwayRegistryUnavailable",
    expression: "max by (host) (archway_registry_circuit_open) == 1",
    forDuration: "10m",
    severity: "warning",
    summary: "A registry keeps failing.",
    description: "Requests to {{ $labels.host }} have been held back for ten minutes.",
  },
  {
    name: "ArchwayRegistryQuotaLow",
    expression: "min by (host) (archway_registry_quota_remaining) < 10",
    forDuration: "5m",
    severity: "warning",
    summary: "A registry's quota is nearly used up.",
    description: "{{ $labels.host }} says that {{ $value }} requests are left in its window.",
  },
  {
    name: "ArchwayPinsContradicted",
    expression: "sum(increase(archway_pins_contradicted_total[1h])) > 0",
    forDuration: "5m",
    severity: "info",
    summary: "Pods name an architecture that their images do not have.",
    description:
      "{{ $value | humanize }} workloads of the last hour cannot run where they are pinned to. Their events name image and pin.",
  },
  {
    name: "ArchwayEventsDropped",
    expression: "sum(increase(archway_events_dropped_total[15m])) > 0",
    forDuration: "15m",
    severity: "info",
    summary: "Archway could not report all it did.",
    description: "{{ $value | humanize }} events were dropped in fifteen minutes. Placement is not affected.",
  },
];
