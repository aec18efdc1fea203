// Whether a plan may be written. It is refused for what can never succeed, not for what the cluster may offer later.
import type { AdmissionWrite, Validation } from "../../../vocabulary/admission.ts";
import { parseGlob } from "../../../vocabulary/glob.ts";
import { isDeepStrictEqual } from "node:util";
import { memberOf, objectAt, textAt } from "../../../json.ts";
import { Upgrades } from "../../names.ts";
import { parseSpec, parseUpgradeStatus, type UpgradeSpec } from "../types/plan.ts";
import { historyEntryOf, isStepDone } from "../status_changes.ts";
import { releaseImageProblem } from "../release/validate.ts";
import { currentVersionOf, isAlreadyThere, isCommenced, isMigration } from "../release/target.ts";
import { orderOf, parseVersion } from "../release/version.ts";
import { COMMENCE_STEP } from "../steps/results.ts";
import { parseTime } from "../../../vocabulary/time.ts";
import type { ClusterVersion } from "../types/cluster.ts";

export function validatePlanWrite(write: AdmissionWrite, clusterVersion: ClusterVersion | undefined): Validation {
  const { operation, object, oldObject } = write;
  if (operation === "DELETE") return allow(begunWarnings(oldObject, "deleted"));
  // Finalizers and labels of a plan that was valid once can always be changed.
  if (isDeepStrictEqual(memberOf(object, "spec"), memberOf(oldObject, "spec"))) return allow([]);
  const spec = parseSpec(memberOf(object, "spec"));
  const problem = RULES.map((rule) => rule(spec, clusterVersion)).find((found) => found !== undefined);
  if (problem !== undefined) return { kind: "deny", code: 422, reason: "Invalid", message: problem };
  return allow([
    ...nameWarnings(object),
    ...WARNINGS.map((warn) => warn(spec, clusterVersion)).filter((said) => said !== undefined),
    ...changedWarnings(write),
  ]);
}

type Rule = (spec: UpgradeSpec, cv: ClusterVersion | undefined) => string | undefined;

const RULES: readonly Rule[] = [
  ({ upgradeAt }) =>
    parseTime(upgradeAt) === undefined
      ? `spec.upgradeAt "${upgradeAt}" is no time that exists: write it in RFC 3339, such as 2026-01-31T22:00:00Z`
      : undefined,
  ({ desired: { version } }) =>
    version !== "" && parseVersion(version) === undefined
      ? `spec.desired.version "${version}" is not a semantic version: write it as 4.17.3`
      : undefined,
  ({ desired: { image } }) => {
    const problem = image === "" ? undefined : releaseImageProblem(image);
    return problem === undefined ? undefined : `spec.desired.image ${problem}`;
  },
  ({ capacity }) => {
    const wrong = capacity.pools?.find((pattern) => parseGlob(pattern) === undefined);
    return wrong === undefined
      ? undefined
      : `spec.capacity.pools: "${wrong}" is not a valid pattern: close its brackets`;
  },
  orderProblem,
];

/** A cluster never goes back to an older version, and a migration keeps its version. */
function orderProblem({ desired }: UpgradeSpec, cv: ClusterVersion | undefined): string | undefined {
  if (cv === undefined || desired.image !== "" || isCommenced(desired, cv)) return undefined;
  const current = currentVersionOf(cv) ?? "";
  const [wanted, now] = [parseVersion(desired.version), parseVersion(current)];
  if (wanted === undefined || now === undefined) return undefined;
  const order = orderOf(wanted, now);
  if (order === "downgrade") {
    return `spec.desired.version ${desired.version} is older than ${current}: downgrades are not supported, name a newer one`;
  }
  if (order === "upgrade" && isMigration(desired, cv)) {
    return `spec.desired.architecture Multi keeps the version: set spec.desired.version to ${current}, ` +
      `or upgrade to ${desired.version} first`;
  }
  return undefined;
}

const WARNINGS: readonly Rule[] = [
  ({ desired }, cv) =>
    cv !== undefined && isAlreadyThere(desired, cv) ? "the cluster is there already: nothing will be done" : undefined,
  ({ desired }, cv) =>
    cv !== undefined && isMigration(desired, cv)
      ? "once it has begun, a migration to several architectures cannot be cancelled or taken back"
      : undefined,
  ({ drainMode }) =>
    drainMode === undefined
      ? "spec.drain.mode is absent: unless nodeDrain.mode of the settings says otherwise, pods that keep a node from being " +
        "drained are only reported; DeleteAndStripFinalizers does what the Managed Upgrade Operator does"
      : undefined,
  ({ suspend, desired }, cv) =>
    suspend && cv !== undefined && isCommenced(desired, cv) && !isAlreadyThere(desired, cv)
      ? "spec.suspend has no effect: the update was requested, and goes on"
      : undefined,
];

function nameWarnings(object: unknown): readonly string[] {
  return textAt(objectAt(object, "metadata"), "name") === Upgrades.config
    ? []
    : [`only the plan "${Upgrades.config}" is carried out: this one has no effect`];
}

function changedWarnings({ operation, object, oldObject }: AdmissionWrite): readonly string[] {
  if (operation !== "UPDATE") return [];
  const [before, after] = [oldObject, object].map((each) => parseSpec(memberOf(each, "spec")).desired);
  return isDeepStrictEqual(before, after) ? [] : begunWarnings(oldObject, "changed");
}

function begunWarnings(oldObject: unknown, what: "changed" | "deleted"): readonly string[] {
  const { desired } = parseSpec(memberOf(oldObject, "spec"));
  const entry = historyEntryOf(parseUpgradeStatus(memberOf(oldObject, "status")), desired);
  if (entry?.phase !== "Upgrading" || !isStepDone(entry, COMMENCE_STEP)) return [];
  return what === "deleted"
    ? [`the upgrade to ${entry.version} has begun and goes on by itself, although its plan is deleted`]
    : [
      `the upgrade to ${entry.version} has begun: where the cluster moves to it already, it is finished first, although its plan is changed`,
    ];
}

function allow(warnings: readonly string[]): Validation {
  return { kind: "allow", warnings };
}
