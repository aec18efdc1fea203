// What is worth knowing before a migration and never holds it up: how the cluster imports and stores images.
import { type ReadApi, readOptional } from "../../k8s/api.ts";
import { Resource, type ResourceType } from "../../k8s/types.ts";
import { objectAt, textAt } from "../../json.ts";

const IMAGE_REGISTRY: ResourceType = {
  group: "imageregistry.operator.openshift.io",
  version: "v1",
  plural: "configs",
  kind: "Config",
  namespaced: false,
};

/** One sentence each; empty where the objects do not exist. */
export async function readAdvisories(api: ReadApi, signal: AbortSignal): Promise<readonly string[]> {
  const [registry, images] = await Promise.all([
    readOptional(api, { type: IMAGE_REGISTRY, name: "cluster", signal }),
    readOptional(api, { type: Resource.imageConfigs, name: "cluster", signal }),
  ]);
  const state = textAt(objectAt(registry, "spec"), "managementState");
  const mode = textAt(objectAt(images, "spec"), "imageStreamImportMode");
  return [
    ...state !== "" && state !== "Managed" ? [`the image registry is ${state}: images are not pruned or mirrored`] : [],
    ...mode === "Legacy"
      ? ["imageStreamImportMode is Legacy: image streams keep one architecture of each image after the migration"]
      : [],
  ];
}
