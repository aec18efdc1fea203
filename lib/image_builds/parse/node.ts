// A node, reduced to what builds and their Jobs depend on.
import { entryOf, listAt, memberOf, objectAt, textAt } from "../../json.ts";
import type { KubeObject } from "../../k8s/types.ts";
import { NODE_OS_LABEL } from "../../names.ts";
import type { BuildNode } from "../observed.ts";
import { McoAnnotation } from "../names.ts";
import { isTrue, parseConditions } from "./meta.ts";

/** Reads a node. */
export function parseBuildNode(object: KubeObject): BuildNode {
  const { name, labels = {}, annotations } = object.metadata;
  const spec = objectAt(object, "spec");
  const status = objectAt(object, "status");
  const info = objectAt(status, "nodeInfo");
  return {
    name,
    labels,
    taints: (listAt(spec, "taints") ?? []).map((taint) => ({
      key: textAt(taint, "key"),
      value: textAt(taint, "value"),
      effect: textAt(taint, "effect"),
    })),
    reported: textAt(info, "architecture"),
    os: textAt(info, "operatingSystem") || entryOf(labels, NODE_OS_LABEL) || "",
    isSchedulable: memberOf(spec, "unschedulable") !== true,
    isReady: isTrue(parseConditions(status), "Ready"),
    currentImage: entryOf(annotations, McoAnnotation.nodeCurrentImage) ?? "",
    desiredImage: entryOf(annotations, McoAnnotation.nodeDesiredImage) ?? "",
  };
}
