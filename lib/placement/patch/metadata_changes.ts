// Which labels and annotations a decision ends in, and the JSON Patch operations that bring a pod there.
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
import type { ImageFailure, PlacementDecision, PreferencePlan, ReleaseDecision } from "../decision_types.ts";
import { annotationText } from "../failure_advice.ts";
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

/** Labels and annotations that only a decision makes: on a new pod they prove nothing and are taken off. */
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

/** The labels and annotations that a decision ends in. */
export function metadataOf(decision: PlacementDecision): MetadataChanges {
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
      return failedChanges(decision.failed, {
        count: decision.count,
        labels: [preferredLabel(decision)],
        annotations: [auditEntry(decision.preferences)],
      });
    case "fallback":
      return failedChanges(decision.failed, {
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
      return failedChanges(decision.failed, {
        count: INSPECT_RETRY_LIMIT,
        labels: [...NO_ARCHITECTURE, UNGATED, preferredLabel(decision), keptLabel(decision)],
        annotations: [auditEntry(decision.preferences), recordEntry(decision)],
      });
    default:
      return unreachable(decision);
  }
}

/** The labels that say which architectures a pod got: one, several, each known one. */
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
  const keepsUsers = decision.kind === "place" && decision.required.kind === "user-constrained";
  if (keepsUsers) return [[PodLabel.nodeAffinity, AffinityLabel.notSet]];
  const architectures = decision.kind === "place" && decision.required.kind === "in"
    ? decision.required.architectures
    : [];
  return [[PodLabel.nodeAffinity, AffinityLabel.set], ...architectureLabels(architectures)];
}

/** `set` with a term of ours, `not-set` when a config wanted one, else no label. */
function preferredLabel({ preferences }: { readonly preferences: PreferencePlan }): Entry {
  if (preferences.present) return [PodLabel.preferredNodeAffinity, AffinityLabel.set];
  return [PodLabel.preferredNodeAffinity, preferences.wanted ? AffinityLabel.notSet : undefined];
}

/** `set` where a requirement of an earlier decision stays on the pod. */
function keptLabel({ kept }: ReleaseDecision): Entry {
  return [PodLabel.nodeAffinity, kept === undefined ? AffinityLabel.notSet : AffinityLabel.set];
}

function failedChanges(
  failed: ImageFailure,
  more: { readonly count: number; readonly labels: readonly Entry[]; readonly annotations: readonly Entry[] },
): MetadataChanges {
  const count: Entry = [PodLabel.inspectErrorCount, String(more.count)];
  return {
    labels: new Map([...more.labels, [PodLabel.inspectError, ""], count]),
    annotations: new Map([...more.annotations, [PodAnnotation.inspectError, annotationText(failed)]]),
  };
}

function auditEntry({ audit }: PreferencePlan): Entry {
  return [PodAnnotation.preferredSources, audit];
}

function recordEntry(decision: PlacementDecision): Entry {
  const record = recordOf(decision);
  return [PodAnnotation.decision, record === undefined ? undefined : renderRecord(record)];
}
