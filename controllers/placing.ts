// What controllers need that place pods or judge their placement.
import type { PlacementConfigs, PlacementSettings } from "../lib/placement/decide/config/types.ts";
import type { PodImages } from "../lib/placement/images/pod_images.ts";
import type { ControllerDeps } from "./controller.ts";

/** The functions answer from memory. */
export interface PlacingDeps extends ControllerDeps {
  readonly images: PodImages;
  readonly settingsOf: (namespace: string) => PlacementSettings;
  readonly configsOf: (namespace: string) => PlacementConfigs;
  readonly liveArchitectures: () => readonly string[] | undefined;
}
