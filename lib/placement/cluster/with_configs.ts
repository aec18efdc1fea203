// Images as a pod is judged by them. Operator bundles narrow nothing, but only the config identifies one: it is read where
// that makes a difference.
import type { PlacementSettings } from "../decide/config/types.ts";
import { judgeImages } from "../decide/images.ts";
import type { PodView } from "../decide/types.ts";
import type { PodImages } from "../images/pod_images.ts";

export function podImagesWithConfigs(
  inner: Pick<PodImages, "inspect">,
  pod: PodView,
  settings: PlacementSettings,
): Pick<PodImages, "inspect"> {
  return {
    inspect: async (request, signal) => {
      const inspected = await inner.inspect(request, signal);
      const { imageConfigs } = judgeImages(pod, settings, request.images, inspected);
      return imageConfigs.length === 0 ? inspected : await inner.inspect({ ...request, imageConfigs }, signal);
    },
  };
}
