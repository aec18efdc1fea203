// A decision's changes to a pod: labels, annotations, node requirements, preferences, tolerations and gate.
import { KNOWN_ARCHITECTURES } from "../../../arch.ts";
import {
  AffinityLabel,
  architectureLabel,
  GateLabel,
  INSPECT_RETRY_LIMIT,
  PodAnnotation,
  PodLabel,
} from "../../../names.ts";
import { assertNever } from "../../../parsed.ts";
import type { PlacementDecision, Preferences, PreferredTerm } from "../decision_types.ts";
import { annotationText } from "../failure_advice.ts";
import {
  architectureRequirement,
  NOWHERE_REQUIREMENT,
  plainAddition,
  type RequiredAddition,
  requiredAddition,
} from "./affinity.ts";
import { decisionRecordOf, renderRecord } from "../pod/record.ts";
import type { AddedToleration } from "../../../vocabulary/taint.ts";

/** Key → wanted value; undefined = the key must be absent. Other keys stay. */
export type Changes = ReadonlyMap<string, string | undefined>;

export interface PodChanges {
  readonly labels: Changes;
  readonly annotations: Changes;
  readonly required?: RequiredAddition | undefined;
  readonly preferred: readonly PreferredTerm[];
  readonly tolerations: readonly AddedToleration[];
  readonly gate: "added" | "removed" | "kept";
}

type ChangeEntry = readonly [string, string | undefined];
type NotIgnored = Exclude<PlacementDecision, { kind: "ignore" }>;

export const NO_CHANGES: PodChanges = {
  labels: new Map(),
  annotations: new Map(),
  preferred: [],
  tolerations: [],
  gate: "kept",
};

const ARCHITECTURE_LABELS: readonly string[] = [
  PodLabel.singleArch,
  PodLabel.multiArch,
  PodLabel.noSupportedArch,
  PodLabel.fallbackArch,
  ...KNOWN_ARCHITECTURES.map(architectureLabel),
];

const UNGATED: ChangeEntry = [PodLabel.gate, GateLabel.removed];
const SET: ChangeEntry = [PodLabel.nodeAffinity, AffinityLabel.set];
const NOT_SET: ChangeEntry = [PodLabel.nodeAffinity, AffinityLabel.notSet];

/** Labels and annotations that only decisions may set. On a new pod they are untrusted and removed. */
export const STRIPPED: Pick<PodChanges, "labels" | "annotations"> = {
  labels: absent(
    ...ARCHITECTURE_LABELS,
    PodLabel.preferredNodeAffinity,
    PodLabel.inspectError,
    PodLabel.inspectErrorCount,
    PodLabel.execFormatError,
  ),
  annotations: absent(...Object.values(PodAnnotation)),
};

const NO_ARCHITECTURE = absent(...ARCHITECTURE_LABELS);

function absent(...keys: readonly string[]): ReadonlyMap<string, undefined> {
  return new Map(keys.map((key) => [key, undefined]));
}

export function changesOf(decision: PlacementDecision): PodChanges {
  if (decision.kind === "ignore") {
    return { ...NO_CHANGES, labels: new Map([UNGATED]), tolerations: decision.tolerations ?? [], gate: "removed" };
  }
  const { preferences } = decision;
  const isFinal = decision.kind !== "retry";
  const { labels, required, tolerations } = placementChangesOf(decision);
  const [errorLabels, errorAnnotations] = failureChangesOf(decision);
  return {
    labels: new Map([
      ...isFinal ? [...NO_ARCHITECTURE, UNGATED] : [],
      preferredLabel(preferences),
      ...errorLabels,
      ...labels,
    ]),
    annotations: new Map([
      [PodAnnotation.preferredSources, preferences.sources],
      ...isFinal ? [recordEntry(decision)] : [],
      ...errorAnnotations,
    ]),
    required,
    preferred: preferences.terms,
    tolerations,
    gate: isFinal ? "removed" : "kept",
  };
}

interface PlacementChanges {
  readonly labels: readonly ChangeEntry[];
  readonly required?: RequiredAddition;
  readonly tolerations: readonly AddedToleration[];
}

function placementChangesOf(decision: NotIgnored): PlacementChanges {
  switch (decision.kind) {
    case "place": {
      const { required, tolerations } = decision;
      if (required.kind === "user-constrained") return { labels: [NOT_SET], tolerations };
      const labels = [SET, ...architectureLabels(required.architectures)];
      return { labels, required: requiredAddition(required), tolerations };
    }
    case "nowhere":
      return {
        labels: [SET, ...architectureLabels([])],
        required: plainAddition(NOWHERE_REQUIREMENT),
        tolerations: [],
      };
    case "fallback": {
      const { architecture, tolerations } = decision;
      const required = plainAddition(architectureRequirement([architecture]));
      return { labels: [SET, [PodLabel.fallbackArch, architecture]], required, tolerations };
    }
    case "release":
      // An earlier decision's requirement may stay on the pod.
      return { labels: [decision.kept === undefined ? NOT_SET : SET], tolerations: decision.tolerations };
    case "retry":
      return { labels: [], tolerations: [] };
    default:
      return assertNever(decision);
  }
}

function failureChangesOf(
  decision: NotIgnored,
): readonly [labels: readonly ChangeEntry[], annotations: readonly ChangeEntry[]] {
  if (!("failed" in decision)) return [[[PodLabel.inspectError, undefined]], []];
  const count = decision.kind === "retry" ? decision.count : INSPECT_RETRY_LIMIT;
  return [
    [[PodLabel.inspectError, ""], [PodLabel.inspectErrorCount, String(count)]],
    [[PodAnnotation.inspectError, annotationText(decision.failed)]],
  ];
}

export function architectureLabels(architectures: readonly string[]): Changes {
  if (architectures.length === 0) return new Map([[PodLabel.noSupportedArch, ""]]);
  const known = KNOWN_ARCHITECTURES.filter((architecture) => architectures.includes(architecture));
  const count = architectures.length === 1 ? PodLabel.singleArch : PodLabel.multiArch;
  return new Map([count, ...known.map(architectureLabel)].map((key) => [key, ""]));
}

/** `set` with our term, `not-set` if a config wanted one, else no label. */
function preferredLabel({ isPresent, isWanted }: Preferences): ChangeEntry {
  if (isPresent) return [PodLabel.preferredNodeAffinity, AffinityLabel.set];
  return [PodLabel.preferredNodeAffinity, isWanted ? AffinityLabel.notSet : undefined];
}

function recordEntry(decision: PlacementDecision): ChangeEntry {
  const record = decisionRecordOf(decision);
  return [PodAnnotation.decision, record === undefined ? undefined : renderRecord(record)];
}
