// Images as a pod is judged by them. An operator bundle narrows nothing, and its config shows that it is one. Configs
// are read where that makes a difference.
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
