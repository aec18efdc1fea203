// The two configs of placement, parsed once when they arrive: ClusterPodPlacementConfig and PodPlacementConfig, v1beta1.
import * as z from "zod";
import { parseTime } from "../../../vocabulary/time.ts";
import { asParsed, type Parsed, unparsable } from "../../../parsed.ts";
import { memberOf } from "../../../json.ts";
import { CLUSTER_SELECTOR_BOUNDS, parseSelector } from "../../../vocabulary/label_selector.ts";
import type { ClusterConfig, NamespaceConfig, NodeAffinityScoring } from "./types.ts";

/** As many as the schemas of both kinds allow. A config that is switched off may name an architecture more than once. */
const MAX_PLATFORMS = 16;

const PLATFORM = z.looseObject({ architecture: z.string().min(1), weight: z.int().min(1).max(100) });

const SCORING = z.looseObject({
  enabled: z.boolean().default(false),
  platforms: z.array(PLATFORM).max(MAX_PLATFORMS).nullish(),
});

const PLUGINS = z.looseObject({
  nodeAffinityScoring: SCORING.nullish(),
  execFormatErrorMonitor: z.looseObject({ enabled: z.boolean().catch(false) }).nullish().catch(undefined),
});

const MANAGED_FIELDS = z.looseObject({ time: z.string().nullish(), fieldsV1: z.unknown() });

const CLUSTER_CONFIG = z.looseObject({
  metadata: z.looseObject({
    name: z.string(),
    uid: z.string().default(""),
    generation: z.int().default(0),
    creationTimestamp: z.string().nullish(),
    managedFields: z.array(MANAGED_FIELDS).nullish().catch(undefined),
    deletionTimestamp: z.string().nullish(),
    finalizers: z.array(z.string()).nullish(),
  }),
  spec: z.looseObject({
    logVerbosity: z.string().default("Normal"),
    namespaceSelector: z.record(z.string(), z.unknown()).nullish(),
    fallbackArchitecture: z.string().nullish(),
    plugins: PLUGINS.nullish(),
  }).default({ logVerbosity: "Normal" }),
});

const NAMESPACE_CONFIG = z.looseObject({
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string(),
    creationTimestamp: z.string().nullish(),
  }),
  spec: z.looseObject({
    priority: z.int().min(0).max(255).default(0),
    labelSelector: z.unknown().optional(),
    fallbackArchitecture: z.string().nullish(),
    plugins: PLUGINS.nullish(),
  }),
});

export function parseClusterConfig(object: unknown): Parsed<ClusterConfig> {
  const result = CLUSTER_CONFIG.safeParse(object);
  if (!result.success) return problemsOf("ClusterPodPlacementConfig", result.error);
  const { metadata, spec } = result.data;
  const value: ClusterConfig = {
    uid: metadata.uid,
    generation: metadata.generation,
    isDeleting: typeof metadata.deletionTimestamp === "string",
    finalizers: metadata.finalizers ?? [],
    selectedSinceMs: selectedSinceMs(metadata),
    logVerbosity: spec.logVerbosity,
    namespaceSelector: parseSelector(spec.namespaceSelector, CLUSTER_SELECTOR_BOUNDS),
    fallbackArchitecture: spec.fallbackArchitecture || undefined,
    scoring: scoringOf(spec.plugins?.nodeAffinityScoring),
    monitorsExecFormat: spec.plugins?.execFormatErrorMonitor?.enabled ?? false,
  };
  return asParsed(value);
}

/** Parses a PodPlacementConfig. A faulty label selector is kept as `unparsable`: it selects nothing and says why. */
export function parseNamespaceConfig(object: unknown): Parsed<NamespaceConfig> {
  const result = NAMESPACE_CONFIG.safeParse(object);
  if (!result.success) return problemsOf("PodPlacementConfig", result.error);
  const { metadata, spec } = result.data;
  const value: NamespaceConfig = {
    namespace: metadata.namespace,
    name: metadata.name,
    createdMs: parseTime(metadata.creationTimestamp) ?? 0,
    priority: spec.priority,
    labelSelector: parseSelector(spec.labelSelector),
    fallbackArchitecture: spec.fallbackArchitecture || undefined,
    scoring: scoringOf(spec.plugins?.nodeAffinityScoring),
  };
  return asParsed(value);
}

function selectedSinceMs(
  { creationTimestamp, managedFields }: z.infer<typeof CLUSTER_CONFIG>["metadata"],
): number {
  const changes = (managedFields ?? [])
    .filter(({ fieldsV1 }) => memberOf(memberOf(fieldsV1, "f:spec"), "f:namespaceSelector") !== undefined)
    .map(({ time }) => time);
  return Math.max(0, ...[creationTimestamp, ...changes].map((time) => parseTime(time) ?? 0));
}

function scoringOf(plugin: z.infer<typeof SCORING> | null | undefined): NodeAffinityScoring {
  const platforms = (plugin?.platforms ?? []).map(({ architecture, weight }) => ({ architecture, weight }));
  return { enabled: plugin?.enabled ?? false, platforms };
}

function problemsOf<T>(kind: string, error: z.ZodError): Parsed<T> {
  const problems = error.issues.slice(0, 5).map((issue) => `${issue.path.join(".") || "object"}: ${issue.message}`);
  return unparsable(`Cannot read the ${kind}: ${problems.join("; ")}. It is ignored until corrected.`);
}
