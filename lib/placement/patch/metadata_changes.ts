// The marks Archway leaves on a pod: which labels and annotations a decision ends in, and the JSON Patch operations that
// get a pod there. The rows are those of the final-state matrix. Source: §2.9, §4.3.
import { KNOWN_ARCHITECTURES } from "../../arch.ts";
import { type JsonPatch, type PatchOperation, pointer } from "../../k8s/patch.ts";
import {
  AffinityLabel,
  architectureLabel,
  GateLabel,
  INSPECT_RETRY_LIMIT,
  PodAnnotation,
  PodLabel,
} from "../../names.ts";
import { unreachable } from "../../unreachable.ts";
import type { ImageFailure, PlacementDecision } from "../decision_types.ts";
import { failureText } from "../failures.ts";
import type { PreferencePlan } from "../plan_types.ts";
import { recordOf, renderRecord } from "./record.ts";

/** Key → wanted value; undefined = the key must be absent. Keys not in the map are left alone. */
export type Changes = ReadonlyMap<string, string | undefined>;

/** The labels and annotations to change. */
export interface MetadataChanges {
  readonly labels: Changes;
  readonly annotations: Changes;
}

type Entry = readonly [string, string | undefined];

const ARCHITECTURE_LABELS: readonly string[] = [
  PodLabel.singleArch,
  PodLabel.multiArch,
  PodLabel.noSupportedArch,
  PodLabel.fallbackArch,
  ...KNOWN_ARCHITECTURES.map(architectureLabel),
];

const NO_ARCHITECTURE: readonly Entry[] = ARCHITECTURE_LABELS.map((key) => [key, undefined]);
const UNGATED: Entry = [PodLabel.gate, GateLabel.removed];
const NO_ERROR: Entry = [PodLabel.inspectError, undefined];

/** What a new pod must not bring along: marks that only a decision makes. They prove nothing (design §5). */
export const STRIPPED_METADATA: MetadataChanges = {
  labels: new Map<string, undefined>([
    ...ARCHITECTURE_LABELS,
    PodLabel.preferredNodeAffinity,
    PodLabel.inspectError,
    PodLabel.inspectErrorCount,
    PodLabel.execFormatError,
  ].map((key) => [key, undefined])),
  annotations: new Map(Object.values(PodAnnotation).map((key) => [key, undefined])),
};

/** The marks of a decision, by the matrix of §2.9. */
export function marksOf(decision: PlacementDecision): MetadataChanges {
  switch (decision.kind) {
    case "ignore":
      return { labels: new Map([UNGATED]), annotations: new Map() };
    case "place":
    case "nowhere":
      return {
        labels: new Map([...NO_ARCHITECTURE, UNGATED, NO_ERROR, ...placedLabels(decision), preferredLabel(decision)]),
        annotations: new Map([auditEntry(decision.preferences), recordEntry(decision)]),
      };
    case "retry":
      return failedMarks(decision.failed, {
        count: decision.count,
        labels: [preferredLabel(decision)],
        annotations: [auditEntry(decision.preferences)],
      });
    case "fallback":
      return failedMarks(decision.failed, {
        count: INSPECT_RETRY_LIMIT,
        labels: [
          ...NO_ARCHITECTURE,
          UNGATED,
          preferredLabel(decision),
          [PodLabel.nodeAffinity, AffinityLabel.set],
          [PodLabel.fallbackArch, decision.architecture],
        ],
        annotations: [auditEntry(decision.preferences), recordEntry(decision)],
      });
    case "release":
      return failedMarks(decision.failed, {
        count: INSPECT_RETRY_LIMIT,
        labels: [...NO_ARCHITECTURE, UNGATED, preferredLabel(decision), [PodLabel.nodeAffinity, AffinityLabel.notSet]],
        annotations: [auditEntry(decision.preferences), recordEntry(decision)],
      });
    default:
      return unreachable(decision);
  }
}

/** The labels that say which architectures a pod got: one, several, each known one (§2.7 step 6). */
export function architectureLabels(architectures: readonly string[]): Changes {
  if (architectures.length === 0) return new Map([[PodLabel.noSupportedArch, ""]]);
  const known = KNOWN_ARCHITECTURES.filter((architecture) => architectures.includes(architecture));
  const count = architectures.length === 1 ? PodLabel.singleArch : PodLabel.multiArch;
  return new Map([count, ...known.map(architectureLabel)].map((key) => [key, ""]));
}

/** The operations that bring the map at `path` (`/metadata/labels`) from what it holds to what is wanted. */
export function mapOperations(
  path: string,
  { held, changes }: { readonly held: Readonly<Record<string, string>> | undefined; readonly changes: Changes },
): JsonPatch {
  if (held === undefined) {
    const wanted = [...changes].filter(([, value]) => value !== undefined);
    return wanted.length === 0 ? [] : [{ op: "add", path, value: Object.fromEntries(wanted) }];
  }
  const operations: PatchOperation[] = [];
  for (const [key, value] of changes) {
    const before = Object.hasOwn(held, key) ? held[key] : undefined;
    if (before === value) continue;
    const at = path + pointer(key);
    if (value === undefined) operations.push({ op: "remove", path: at });
    else operations.push({ op: before === undefined ? "add" : "replace", path: at, value });
  }
  return operations;
}

function placedLabels(decision: Extract<PlacementDecision, { kind: "place" | "nowhere" }>): readonly Entry[] {
  const preset = decision.kind === "place" && decision.required.kind === "preset";
  if (preset) return [[PodLabel.nodeAffinity, AffinityLabel.notSet]];
  const architectures = decision.kind === "place" && decision.required.kind === "in"
    ? decision.required.architectures
    : [];
  return [[PodLabel.nodeAffinity, AffinityLabel.set], ...architectureLabels(architectures)];
}

/** `set` with a term of ours, `not-set` when a config wanted one, else no label (D25: both processes agree). */
function preferredLabel({ preferences }: { readonly preferences: PreferencePlan }): Entry {
  if (preferences.present) return [PodLabel.preferredNodeAffinity, AffinityLabel.set];
  return [PodLabel.preferredNodeAffinity, preferences.wanted ? AffinityLabel.notSet : undefined];
}

function failedMarks(
  failed: ImageFailure,
  more: { readonly count: number; readonly labels: readonly Entry[]; readonly annotations: readonly Entry[] },
): MetadataChanges {
  const count: Entry = [PodLabel.inspectErrorCount, String(more.count)];
  return {
    labels: new Map([...more.labels, [PodLabel.inspectError, ""], count]),
    annotations: new Map([...more.annotations, [PodAnnotation.inspectError, failureText(failed)]]),
  };
}

function auditEntry({ audit }: PreferencePlan): Entry {
  return [PodAnnotation.preferredSources, audit];
}

function recordEntry(decision: PlacementDecision): Entry {
  const record = recordOf(decision);
  return [PodAnnotation.decision, record === undefined ? undefined : renderRecord(record)];
}
