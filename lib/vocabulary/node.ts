// A Node, with the members that several capabilities read.
import { entryOf, memberOf, objectAt, textAt } from "../json.ts";
import { NODE_ARCH_LABEL, NODE_OS_LABEL } from "../names.ts";
import { findCondition, parseConditions } from "./condition.ts";
import { type KubeObject, type Meta, parseMeta } from "./meta.ts";
import { parseTaints, type Taint } from "./taint.ts";

export interface Node extends Meta {
  readonly taints: readonly Taint[];
  /** `status.nodeInfo.architecture`; empty until the kubelet reports. */
  readonly reportedArchitecture: string;
  /** By its label, else as the kubelet reports it. */
  readonly architecture: string;
  /** `status.nodeInfo.operatingSystem`, else its label. */
  readonly os: string;
  readonly isSchedulable: boolean;
  readonly isReady: boolean;
  readonly readyMessage: string;
}

export function parseNode(object: KubeObject): Node {
  const meta = parseMeta(object);
  const [spec, status] = [objectAt(object, "spec"), objectAt(object, "status")];
  const info = objectAt(status, "nodeInfo");
  const reportedArchitecture = textAt(info, "architecture");
  const ready = findCondition(parseConditions(status), "Ready");
  return {
    ...meta,
    taints: parseTaints(spec),
    reportedArchitecture,
    architecture: entryOf(meta.labels, NODE_ARCH_LABEL) || reportedArchitecture,
    os: textAt(info, "operatingSystem") || entryOf(meta.labels, NODE_OS_LABEL) || "",
    isSchedulable: memberOf(spec, "unschedulable") !== true,
    isReady: ready?.status === "True",
    readyMessage: ready?.message ?? "",
  };
}
