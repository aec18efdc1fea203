// A node, reduced to what builds and their Jobs depend on.
import { parseNode } from "../../../cluster/node.ts";
import { entryOf } from "../../../json.ts";
import type { KubeObject } from "../../../k8s/types.ts";
import { McoAnnotation } from "../names.ts";
import type { BuildNode } from "../observed.ts";

export function parseBuildNode(object: KubeObject): BuildNode {
  const { name, labels, taints, reported, os, isSchedulable, isReady, annotations } = parseNode(object);
  return {
    ...{ name, labels, taints, reported, os, isSchedulable, isReady },
    currentImage: entryOf(annotations, McoAnnotation.nodeCurrentImage) ?? "",
    desiredImage: entryOf(annotations, McoAnnotation.nodeDesiredImage) ?? "",
  };
}
