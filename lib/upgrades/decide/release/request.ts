// What has to be written to the ClusterVersion so that it takes a target.
import type { JsonObject } from "../../../json.ts";
import type { ClusterVersion } from "../types/cluster.ts";
import type { DesiredRelease } from "../types/plan.ts";
import { isCommenced, isMigration } from "./target.ts";

/** The next write. Patches are JSON merge patches. */
export type ReleaseRequest =
  | { readonly kind: "asked" }
  /** The channel decides which releases are offered: they must be read again before one is chosen. */
  | { readonly kind: "channel"; readonly patch: JsonObject }
  | { readonly kind: "release"; readonly patch: JsonObject }
  | { readonly kind: "notOffered"; readonly message: string };

export function decideRequest(desired: DesiredRelease, cv: ClusterVersion): ReleaseRequest {
  if (isCommenced(desired, cv)) return { kind: "asked" };
  const { version, channel, image } = desired;
  if (image !== "") return ask({ image, version: null, architecture: null });
  if (channel !== "" && channel !== cv.channel) return { kind: "channel", patch: { spec: { channel } } };
  if (isMigration(desired, cv)) return ask({ version, architecture: "Multi", image: null });
  if (cv.availableUpdates.some((update) => update.version === version && update.image !== "")) {
    return ask({ version, image: null, architecture: null });
  }
  const conditional = cv.conditionalUpdates.find((update) => update.version === version);
  // With its image, which says that the risks of this update are accepted.
  if (conditional !== undefined) return ask({ version, image: conditional.image, architecture: null });
  return { kind: "notOffered", message: notOffered(version, cv) };
}

/** A ClusterVersion that is on its way to another version offers what follows from that one. */
function notOffered(version: string, { history: [latest] }: ClusterVersion): string {
  const message = `version ${version} is not among the updates of the ClusterVersion yet`;
  return latest?.state === "Partial" ? `${message}, which is on its way to ${latest.version}` : message;
}

function ask(desiredUpdate: JsonObject): ReleaseRequest {
  return { kind: "release", patch: { spec: { desiredUpdate } } };
}
