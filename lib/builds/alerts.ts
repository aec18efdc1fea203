// Alerts on image builds.
import type { Alert } from "../cluster/alert.ts";

export const IMAGE_BUILD_ALERTS: readonly Alert[] = [
  {
    name: "ImageBuildsDown",
    expression: 'absent(up{job="archway-image-builds"} == 1)',
    forDuration: "10m",
    severity: "warning",
    summary: "Nothing builds node images.",
    description: "The service of image builds has not been scraped for ten minutes. Changes of pools wait.",
  },
  {
    name: "ImageBuildFailed",
    expression: 'max by (pool) (ocl_build_state{state=~"failed|interrupted"}) == 1',
    forDuration: "5m",
    severity: "warning",
    summary: "The node image of a pool could not be built.",
    description:
      "The build of pool {{ $labels.pool }} has failed or was interrupted. Its nodes keep the image that they have.",
  },
  {
    name: "ImageBuildNodesNotCovered",
    expression: "sum by (pool, arch) (ocl_uncovered_nodes) > 0",
    forDuration: "30m",
    severity: "warning",
    summary: "Nodes have an architecture that the image of their pool lacks.",
    description: "Pool {{ $labels.pool }} has {{ $value }} nodes of {{ $labels.arch }}, and no image for them.",
  },
  {
    name: "ImageBuildNotPublished",
    expression: 'sum by (pool) (increase(ocl_index_publish_total{result="retry"}[30m])) > 3',
    forDuration: "5m",
    severity: "warning",
    summary: "The registry does not take the image of a pool.",
    description: "Publishing the image of pool {{ $labels.pool }} was tried {{ $value }} times in half an hour.",
  },
];
