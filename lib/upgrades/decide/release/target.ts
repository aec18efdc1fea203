// What the ClusterVersion says about a target, which is more than a version, since a migration keeps the version.
import type { ClusterVersion } from "../types/cluster.ts";
import type { DesiredRelease } from "../types/plan.ts";
import type { JsonObject } from "../../../json.ts";

export function isCommenced({ version, image, architecture }: DesiredRelease, cv: ClusterVersion): boolean {
  const asked = cv.desiredUpdate;
  if (asked === undefined) return false;
  if (image !== "") return asked.image === image;
  // No architecture means the one that the cluster has, on both sides.
  const now = cv.desired.architecture;
  return version !== "" && asked.version === version && (asked.architecture || now) === (architecture || now);
}

/**
 * How the request was lost; undefined while the ClusterVersion has the target, even if the request was taken back
 * since.
 */
export function lostRequest(desired: DesiredRelease, cv: ClusterVersion): string | undefined {
  if (isCommenced(desired, cv)) return undefined;
  const asked = cv.desiredUpdate;
  const isFollowed = isReleaseOf(desired, cv.desired);
  if (asked === undefined) return isFollowed ? undefined : "its request to the ClusterVersion was taken back";
  if (isFollowed && asked.image === cv.desired.image) return undefined;
  return `the ClusterVersion is asked for ${asked.version || asked.image} since`;
}

export function isReleaseOf(
  { version, image, architecture }: DesiredRelease,
  release: ClusterVersion["desired"],
): boolean {
  if (image !== "") return release.image === image;
  return release.version === version && (architecture === "" || release.architecture === architecture);
}

/** Whether the ClusterVersion reports that it has completed this target. For a migration there is more to prove. */
export function isCompleted({ version, image, architecture }: DesiredRelease, cv: ClusterVersion): boolean {
  if (image !== "") return cv.history.some((entry) => entry.image === image && entry.state === "Completed");
  const [latest] = cv.history;
  if (architecture === "Multi") {
    return cv.desired.architecture === "Multi" && latest?.version === version && latest.state === "Completed";
  }
  return cv.history.some((entry) => entry.version === version && entry.state === "Completed");
}

export function isAlreadyThere(desired: DesiredRelease, cv: ClusterVersion): boolean {
  if (desired.image !== "") return cv.desired.image === desired.image && isCompleted(desired, cv);
  return cv.desired.version === desired.version && isCompleted(desired, cv);
}

export function isMigration({ architecture }: DesiredRelease, cv: ClusterVersion): boolean {
  return architecture === "Multi" && cv.desired.architecture !== "Multi";
}

export function precedingVersionOf({ version, architecture }: DesiredRelease, cv: ClusterVersion): string {
  const { desired, history } = cv;
  if (desired.version !== version || architecture === "Multi") return desired.version;
  const earlier = history.find((entry) =>
    entry.state === "Completed" && entry.version !== "" && entry.version !== version
  );
  return earlier?.version ?? desired.version;
}

/** The version that was completed last. */
export function currentVersionOf({ history }: ClusterVersion): string | undefined {
  const completed = history.filter(({ state }) => state === "Completed");
  return completed.toSorted((a, b) => (b.completedMs ?? 0) - (a.completedMs ?? 0))[0]?.version;
}

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
  // A request that names the image accepts the risks of this update.
  if (conditional !== undefined) return ask({ version, image: conditional.image, architecture: null });
  return { kind: "notOffered", message: notOffered(version, cv) };
}

/** A ClusterVersion that is on its way to another version offers the updates of that version. */
function notOffered(version: string, { history: [latest] }: ClusterVersion): string {
  const message = `version ${version} is not among the updates of the ClusterVersion yet`;
  return latest?.state === "Partial" ? `${message}, which is on its way to ${latest.version}` : message;
}

function ask(desiredUpdate: JsonObject): ReleaseRequest {
  return { kind: "release", patch: { spec: { desiredUpdate } } };
}
