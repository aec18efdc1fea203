// Inspects a pod's images, and reads configs only if that can change the judgement: a config shows whether an image is
// an operator bundle, which excludes no architecture.
import type { InspectedImage } from "../../oci/inspection.ts";
import type { PlacementSettings } from "../decide/config/settings.ts";
import { judgeImages } from "../decide/judge_images.ts";
import type { PodView } from "../decide/pod/pod_view.ts";
import type { PodImageInspector } from "../images/pod_image_inspector.ts";

export function podImagesWithBundles(
  inner: Pick<PodImageInspector, "inspect">,
  pod: PodView,
  settings: PlacementSettings,
): Pick<PodImageInspector, "inspect"> {
  return {
    inspect: async (request, signal) => {
      const inspected = await inner.inspect(request, signal);
      const { possibleBundles } = judgeImages(pod, settings, request.images, inspected);
      if (possibleBundles.length === 0) return inspected;
      const deeper = await inner.inspect({ ...request, possibleBundles }, signal);
      return inspected.map((byIndex, at) => unlessLacking(deeper[at], byIndex));
    },
  };
}

/**
 * What the index said, where no config was read: every registry of the image lacks it or the manifest on the way to it,
 * or nobody was asked. A bundle then counts by its index, too.
 */
function unlessLacking(one: InspectedImage | undefined, byIndex: InspectedImage): InspectedImage {
  if (one === undefined) return byIndex;
  const { inspection } = one;
  const isLacking = inspection.kind === "failed" && inspection.failure.reason === "ManifestUnknown";
  return isLacking && byIndex.inspection.kind !== "failed" ? byIndex : one;
}
