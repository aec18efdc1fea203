// The queries to the update graph.
import type { ClusterVersion } from "../types/cluster.ts";
import type { DesiredRelease } from "../types/plan.ts";
import { currentVersionOf } from "./target.ts";

/** The graph of everyone who sets no other. */
const DEFAULT_GRAPH = "https://api.openshift.com/api/upgrades_info/v1/graph";

export interface GraphQuery {
  readonly upstream: string;
  readonly channel: string;
  /** The version that updates lead away from. */
  readonly version: string;
  readonly clusterId: string;
  readonly architecture: string;
}

/**
 * The question for a plan. A cluster that has a payload for several architectures, or is to get one, finds its updates under
 * `multi` only; every other under the architecture of its control plane.
 */
export function graphQueryOf(
  cv: ClusterVersion,
  { desired, controlPlane }: { readonly desired: DesiredRelease; readonly controlPlane: string },
): GraphQuery {
  const isMulti = cv.desired.architecture === "Multi" || desired.architecture === "Multi";
  return {
    upstream: cv.upstream === "" ? DEFAULT_GRAPH : cv.upstream,
    channel: desired.channel === "" ? cv.channel : desired.channel,
    version: currentVersionOf(cv) ?? cv.desired.version,
    clusterId: cv.clusterId,
    architecture: isMulti ? "multi" : controlPlane,
  };
}
