// Inspects a pod's images, and reads configs only if that can change the judgement: a config shows whether an image is
// an operator bundle, which excludes no architecture.
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
      return possibleBundles.length === 0 ? inspected : await inner.inspect({ ...request, possibleBundles }, signal);
    },
  };
}
