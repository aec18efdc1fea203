// All alerts, by the PrometheusRule that they are in and by capability. manifests/generate/alerts.ts writes the rules, and each
// alert has a section, its runbook, in a file of this repository.
import type { Alert } from "../cluster/alert.ts";
import { EXEC_FORMAT_ALERTS } from "../exec_format/alerts.ts";
import { IMAGE_BUILD_ALERTS } from "../builds/alerts.ts";
import { PLACEMENT_ALERTS } from "../placement/alerts.ts";
import { TAINT_ALERTS } from "../taints/alerts.ts";
import { UPGRADE_ALERTS } from "../upgrades/alerts.ts";

export interface AlertGroup {
  /** Name of the PrometheusRule; that of its group is `NAME.rules`. */
  readonly name: string;
  /** The file of this repository in which each of them has its section, named after it in lower case. */
  readonly runbooksFile: string;
  /** In the order of the manifest. */
  readonly alerts: readonly Alert[];
}

/** The groups by who applies them: `archway` the operator, where the cluster has the kind; `imageBuilds` the user's component. */
export const ALERT_GROUPS = {
  archway: {
    name: "archway",
    runbooksFile: "manifests/monitoring/runbooks.md",
    alerts: [...PLACEMENT_ALERTS, ...TAINT_ALERTS, ...EXEC_FORMAT_ALERTS, ...UPGRADE_ALERTS],
  },
  imageBuilds: { name: "archway-image-builds", runbooksFile: "docs/image-builds.md", alerts: IMAGE_BUILD_ALERTS },
} as const satisfies Readonly<Record<string, AlertGroup>>;
