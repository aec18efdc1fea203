// Whether a plan can be carried out on the cluster as it is.
import { assertNever } from "../../../parsed.ts";
import { CONTENT_DIGEST, cutReference, PATH, splitDomain } from "../../../oci/reference.ts";
import { parseTime } from "../../../vocabulary/time.ts";
import type { ClusterVersion } from "../types/cluster.ts";
import type { Observed, ReadingName, UpgradeFacts } from "../types/observed.ts";
import { currentVersionOf, isAlreadyThere, isMigration } from "./target.ts";
import { orderOf, parseVersion, type VersionOrder } from "./version.ts";

export type PlanValidation =
  | { readonly kind: "valid" }
  /** The cluster is at the target already. */
  | { readonly kind: "nothingToDo"; readonly message: string }
  /** The image is of this version, which the plan must name before anything else. */
  | { readonly kind: "adoptVersion"; readonly version: string }
  /** `retry`: at once with backoff, or at the next regular reconcile. */
  | { readonly kind: "invalid"; readonly message: string; readonly retry: "backoff" | "resync" };

export function validationReads({ plan, config, clusterVersion }: UpgradeFacts): readonly ReadingName[] {
  const { desired } = plan.spec;
  if (desired.image !== "") return releaseImageProblem(desired.image) === undefined ? ["payload"] : [];
  return config.validation.cincinnati && isOtherChannel(desired.channel, clusterVersion) ? ["graph"] : [];
}

/** Problems of the plan itself are reported before those that depend on the cluster. */
export function validatePlan(observed: UpgradeFacts & Pick<Observed, "read">): PlanValidation {
  const { plan, clusterVersion } = observed;
  const { desired, upgradeAt } = plan.spec;
  if (parseTime(upgradeAt) === undefined) {
    return invalid(`spec.upgradeAt "${upgradeAt}" is not a time of RFC 3339, such as 2026-01-31T22:00:00Z`);
  }
  if (desired.image !== "") return validateImage(observed);
  if (desired.version === "" && desired.channel === "") {
    return invalid("spec.desired needs an image, or a version and a channel", "resync");
  }
  const wanted = parseVersion(desired.version);
  if (wanted === undefined) return invalid(`spec.desired.version "${desired.version}" is not a semantic version`);
  const currentText = currentVersionOf(clusterVersion);
  const current = parseVersion(currentText ?? "");
  if (current === undefined) {
    return invalid(
      currentText === undefined
        ? "the ClusterVersion has no completed version yet"
        : `the version of the cluster, "${currentText}", is not a semantic version`,
    );
  }
  return validateOrder(observed, orderOf(wanted, current));
}

function validateOrder(observed: UpgradeFacts & Pick<Observed, "read">, order: VersionOrder): PlanValidation {
  const { plan, clusterVersion } = observed;
  const { desired } = plan.spec;
  const current = currentVersionOf(clusterVersion) ?? "";
  switch (order) {
    case "downgrade":
      return invalid(`spec.desired.version ${desired.version} is older than ${current}: downgrades are not supported`);
    case "equal":
      if (isMigration(desired, clusterVersion)) return { kind: "valid" };
      return { kind: "nothingToDo", message: atTarget(observed) };
    case "upgrade":
      if (isMigration(desired, clusterVersion)) {
        return invalid(
          `a migration keeps the version: set spec.desired.version to ${current}, or upgrade to ${desired.version} first`,
        );
      }
      return validateUpgrade(observed);
    default:
      return assertNever(order);
  }
}

function atTarget({ plan, clusterVersion }: UpgradeFacts): string {
  const { version, architecture } = plan.spec.desired;
  const payload = architecture === "Multi" ? " with a payload for several architectures" : "";
  const stays = architecture === "" && clusterVersion.desired.architecture === "Multi"
    ? "; its payload stays one for several architectures"
    : "";
  return `the cluster is at ${version}${payload} already${stays}`;
}

function validateUpgrade(
  { plan, config, clusterVersion, read }: UpgradeFacts & Pick<Observed, "read">,
): PlanValidation {
  const { version, channel } = plan.spec.desired;
  if (!isOtherChannel(channel, clusterVersion)) {
    const { availableUpdates, conditionalUpdates } = clusterVersion;
    const isOffered = [...availableUpdates, ...conditionalUpdates].some((update) => update.version === version);
    if (isOffered) return { kind: "valid" };
    return invalid(`version ${version} not found in clusterversion available or conditional updates`, "resync");
  }
  if (!config.validation.cincinnati) return { kind: "valid" };
  const graph = read.graph;
  if (graph?.kind !== "observed") return invalid(`the update graph cannot be read: ${graph?.why ?? "not asked"}`);
  if (graph.value.some((update) => update.version === version)) return { kind: "valid" };
  return invalid(`version ${version} is no update from the current one in channel ${channel}`);
}

function validateImage(observed: UpgradeFacts & Pick<Observed, "read">): PlanValidation {
  const { plan, clusterVersion, read } = observed;
  const { desired } = plan.spec;
  const problem = releaseImageProblem(desired.image);
  if (problem !== undefined) return invalid(`spec.desired.image ${problem}`);
  const payload = read.payload;
  if (payload?.kind !== "observed") return invalid(`spec.desired.image cannot be read: ${payload?.why ?? "not asked"}`);
  const { version } = payload.value;
  if (version === "") return invalid("spec.desired.image is no release: its label io.openshift.release is missing");
  if (version !== desired.version) return { kind: "adoptVersion", version };
  if (isAlreadyThere(desired, clusterVersion)) {
    return { kind: "nothingToDo", message: "the cluster has this image already" };
  }
  return { kind: "valid" };
}

function isOtherChannel(channel: string, cv: ClusterVersion): boolean {
  return channel !== "" && channel !== cv.channel;
}

function invalid(message: string, retry: "backoff" | "resync" = "backoff"): PlanValidation {
  return { kind: "invalid", message, retry };
}

/** What is wrong with the pull spec of a release image, as the end of a sentence; undefined when nothing is. */
export function releaseImageProblem(image: string): string | undefined {
  const { name, tag, digest } = cutReference(image);
  const { domain, rest } = splitDomain(name);
  const problem = digest === undefined
    ? "has no digest"
    : !CONTENT_DIGEST.test(digest)
    ? "has a malformed digest"
    : domain === undefined
    ? "names no registry"
    : tag !== undefined || !rest.includes("/") || !PATH.test(rest)
    ? "lacks a namespace or a name"
    : undefined;
  return problem && `${problem}: write it as registry/namespace/name@sha256:…`;
}
