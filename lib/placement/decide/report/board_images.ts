// What the dashboard shows of a pod's images: the architectures of each as they were known, and why one could not be inspected.
import type { BoardImage } from "./board.ts";
import type { ImageUse } from "../../../oci/types.ts";
import type { PlacementDecision } from "../decision_types.ts";

export function boardImages(decision: PlacementDecision): readonly BoardImage[] {
  const outcomes = "images" in decision ? decision.images : [];
  const known = outcomes.filter(({ source }) => source !== "failed")
    .map(({ image, architectures }) => ({ image, architectures, failure: "" }));
  if (!("failed" in decision)) return known;
  const { image, failure } = decision.failed;
  return [{ image, architectures: [], failure: `${failure.reason}: ${failure.message}` }, ...known];
}

/** Images that are still to be inspected. */
export function unknownImages(images: readonly ImageUse[]): readonly BoardImage[] {
  return images.map(({ image }) => ({ image, architectures: [], failure: "" }));
}
