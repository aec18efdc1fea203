// The architectures of a pool: a user's word, else its nodes and machine sets, else the pools that nodes come from.
import type { MachineConfigPool } from "../../../vocabulary/machines.ts";
import { isKnownArchitecture } from "../../../arch.ts";
import { entryOf, parseObject, textMapAt } from "../../../json.ts";
import { asParsed, type Parsed, unparsable } from "../../../parsed.ts";
import { NODE_ARCH_LABEL, NODE_OS_LABEL } from "../../../names.ts";
import type { BuildMachineSet, BuildNode } from "../observed.ts";
import type { ArchitectureSet, DetectedSet, DetectionFinding } from "../types.ts";
import { CONTAINERFILE_ARCHITECTURES } from "../names.ts";
import { type Labels, matchesSelector } from "../../../vocabulary/label_selector.ts";
import { parseTime, renderExactTime } from "../../../vocabulary/time.ts";

// The machine config operator's own pools. A node that no other pool selects belongs to the pool of workers.
const CONTROL_PLANE_POOL = "master";
const WORKER_POOL = "worker";
const ARBITER_POOL = "arbiter";
const STANDARD_POOLS: readonly string[] = [CONTROL_PLANE_POOL, ARBITER_POOL, WORKER_POOL];

export interface DetectInput {
  readonly pool: string;
  readonly pools: readonly MachineConfigPool[];
  readonly nodes: readonly BuildNode[];
  readonly machineSets: readonly BuildMachineSet[];
  readonly isMultiPayload: boolean;
  /** The user's annotation; absent: none. */
  readonly override?: string | undefined;
}

export function detectArchitectures(input: DetectInput): DetectedSet {
  const members = membersOf(input.pool, input);
  const findings = members.flatMap(findingsOf);
  const nodeCounts = countArchitectures(members);
  const override = input.override === undefined ? undefined : parseOverride(input.override);
  if (override?.kind === "parsed") return { set: override.value, source: "override", nodeCounts, findings };
  const all: readonly DetectionFinding[] = override === undefined
    ? findings
    : [{ kind: "InvalidOverride", message: override.fault.message }, ...findings];
  const set = architectureSetOf([...Object.keys(nodeCounts), ...expectedOf(input)]);
  if (set.length > 0) return { set, source: "nodes", nodeCounts, findings: all };
  for (const [pool, source] of FALLBACKS) {
    const others = architectureSetOf(Object.keys(countArchitectures(membersOf(pool, input))));
    if (others.length > 0) return { set: others, source, nodeCounts, findings: all };
  }
  return { set: [], source: "control plane", nodeCounts, findings: all };
}

const FALLBACKS = [[WORKER_POOL, "worker pool"], [CONTROL_PLANE_POOL, "control plane"]] as const;

/** The nodes of a pool, without Windows nodes. */
export function membersOf(
  pool: string,
  { nodes, pools }: Pick<DetectInput, "nodes" | "pools">,
): readonly BuildNode[] {
  return nodes.filter((node) =>
    node.os !== "windows" && entryOf(node.labels, NODE_OS_LABEL) !== "windows" && poolOf(node.labels, pools) === pool
  );
}

/** Counts nodes by the architecture that their kubelets report, if it is one that images are built for. */
function countArchitectures(nodes: readonly BuildNode[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { reportedArchitecture: name } of nodes) {
    if (isKnownArchitecture(name)) counts[name] = (counts[name] ?? 0) + 1;
  }
  return Object.fromEntries(Object.entries(counts).toSorted(([left], [right]) => left < right ? -1 : 1));
}

function expectedOf({ pool, pools, machineSets, isMultiPayload }: DetectInput): readonly string[] {
  if (!isMultiPayload) return [];
  return machineSets.filter(({ nodeLabels }) => poolOf(nodeLabels, pools) === pool).map(({ arch }) => arch);
}

/** The names among them that images are built for, sorted, without duplicates. */
export function architectureSetOf(names: readonly string[]): ArchitectureSet {
  return [...new Set(names)].filter(isKnownArchitecture).toSorted();
}

function findingsOf(node: BuildNode): readonly DetectionFinding[] {
  const { name, reportedArchitecture: reported, labels } = node;
  if (reported === "") return [];
  const label = entryOf(labels, NODE_ARCH_LABEL);
  const found: DetectionFinding[] = [];
  if (label !== undefined && label !== reported) {
    const message = `Node "${name}" reports ${reported} and its label says ${label}: ${reported} counts.`;
    found.push({ kind: "ArchitectureDisagreement", message });
  }
  if (!isKnownArchitecture(reported)) {
    const message = `Node "${name}" is of ${reported}, for which no node image is built.`;
    found.push({ kind: "UnknownArchitecture", message });
  }
  return found;
}

const MAX_SHOWN = 40;

/** Parses a list such as `ARM64, amd64`. One unknown word makes the whole override invalid. */
function parseOverride(text: string): Parsed<ArchitectureSet> {
  const words = text.split(",").map((word) => word.trim()).filter((word) => word !== "");
  const names = words.map((word) => CONTAINERFILE_ARCHITECTURES[word.toUpperCase()]);
  const known = names.filter((name) => name !== undefined);
  if (known.length === words.length && words.length > 0) return asParsed(architectureSetOf(known));
  const wrong = words.find((_, at) => names[at] === undefined)?.slice(0, MAX_SHOWN) ?? "";
  return unparsable(
    `Cannot take the architectures from the annotation: "${wrong}" is none of amd64, arm64, ppc64le and ` +
      "s390x. Those of the nodes are used.",
  );
}

/** The pool that the machine config operator puts a node in; undefined for none, and for several custom ones. */
function poolOf(
  labels: Labels,
  pools: readonly MachineConfigPool[],
): string | undefined {
  const selecting = pools.filter((pool) => selects(pool, labels)).map(({ name }) => name);
  const custom = selecting.filter((name) => !STANDARD_POOLS.includes(name));
  if (selecting.includes(CONTROL_PLANE_POOL)) return CONTROL_PLANE_POOL;
  if (selecting.includes(ARBITER_POOL)) return ARBITER_POOL;
  if (custom.length > 1) return undefined;
  return custom[0] ?? (selecting.includes(WORKER_POOL) ? WORKER_POOL : undefined);
}

function selects({ nodeSelector }: MachineConfigPool, labels: Labels): boolean {
  return nodeSelector.kind === "requirements" && matchesSelector(nodeSelector, labels);
}

export interface UncoveredNode {
  readonly node: string;
  readonly arch: string;
}

export function uncoveredNodes(
  { pool, pools, nodes, covered }: {
    readonly pool: string;
    readonly pools: readonly MachineConfigPool[];
    readonly nodes: readonly BuildNode[];
    readonly covered: readonly string[];
  },
): readonly UncoveredNode[] {
  return membersOf(pool, { nodes, pools })
    .filter(({ reportedArchitecture: name }) => name !== "" && !covered.includes(name))
    .map(({ name, reportedArchitecture }) => ({ node: name, arch: reportedArchitecture }))
    .toSorted((left, right) => left.node < right.node ? -1 : 1);
}

const NAMED = 10;

export function uncoveredMessage(nodes: readonly UncoveredNode[]): string {
  const named = nodes.slice(0, NAMED).map(({ node, arch }) => `${node} (${arch})`).join(", ");
  const more = nodes.length > NAMED ? ` and ${nodes.length - NAMED} more` : "";
  return `The published image does not run on ${named}${more}. Keep these nodes from taking it: pause the pool, or take ` +
    "them out of it, until an image for their architecture is published.";
}

/** Since when architectures of the stored set have had no node (RFC 3339), by architecture. */
export type GoneSince = Readonly<Record<string, string>>;

export function parseGoneSince(text = ""): GoneSince {
  const gone = textMapAt(parseObject(text), "goneSince") ?? {};
  return Object.fromEntries(Object.entries(gone).filter(([, since]) => parseTime(since) !== undefined));
}

/** The text to store for a pool. Only its `observedAt` changes while the nodes stay the same. */
export function renderStoredSet(
  { set, detected, goneSince: before, nowMs }: {
    readonly set: ArchitectureSet;
    readonly detected: DetectedSet;
    readonly goneSince: GoneSince;
    readonly nowMs: number;
  },
): string {
  const gone = set.filter((arch) => !detected.set.includes(arch));
  const now = renderExactTime(nowMs);
  const goneSince = Object.fromEntries(gone.map((arch) => [arch, before[arch] ?? now]));
  const { source, nodeCounts } = detected;
  const lasting = { set, source, nodeCounts, ...(gone.length === 0 ? {} : { goneSince }) };
  return JSON.stringify({ ...lasting, observedAt: now });
}

export function isSameStoredSet(stored: string | undefined, rendered: string): boolean {
  return stored !== undefined && withoutTime(stored) === withoutTime(rendered);
}

function withoutTime(text: string): string | undefined {
  const value = parseObject(text);
  if (value === undefined) return undefined;
  const entries = Object.entries(value).filter(([key]) => key !== "observedAt");
  return JSON.stringify(Object.fromEntries(entries.toSorted(([left], [right]) => left < right ? -1 : 1)));
}

interface EffectiveSetInput {
  readonly detected: ArchitectureSet;
  readonly built: ArchitectureSet;
  readonly goneSince: GoneSince;
  readonly nowMs: number;
  readonly retainMs: number;
  readonly isPublished: (set: ArchitectureSet) => boolean;
}

/**
 * The set to plan for. An architecture without nodes stays for `retainMs`, and longer until something else needs a
 * build.
 */
export function effectiveSet(
  { detected, built, goneSince, nowMs, retainMs, isPublished }: EffectiveSetInput,
): ArchitectureSet {
  const all = architectureSetOf([...detected, ...built]);
  if (all.length === detected.length || isPublished(all)) return all;
  const isGone = (arch: string): boolean => {
    const since = parseTime(goneSince[arch]);
    return since !== undefined && nowMs - since >= retainMs;
  };
  return all.filter((arch) => detected.includes(arch) || !isGone(arch));
}
