// Parses the two configs of placement on arrival: ClusterPodPlacementConfig and PodPlacementConfig, v1beta1.
import * as z from "zod";
import { parseTime } from "../../../vocabulary/time.ts";
import { asParsed, type Parsed, unparsable } from "../../../parsed.ts";
import { memberOf } from "../../../json.ts";
import { CLUSTER_SELECTOR_BOUNDS, parseSelector } from "../../../vocabulary/label_selector.ts";

/** The maximum of both schemas. A disabled config may name an architecture more than once. */
const MAX_PLATFORMS = 16;

const SCORING = z.object({
  enabled: z.boolean().default(false),
  platforms: z.array(z.object({ architecture: z.string().min(1), weight: z.int().min(1).max(100) }))
    .max(MAX_PLATFORMS).nullish().transform((platforms) => platforms ?? []),
});

const PLUGINS = z.object({
  nodeAffinityScoring: SCORING.nullish(),
  execFormatErrorMonitor: z.object({ enabled: z.boolean().catch(false) }).nullish().catch(undefined),
}).nullish().transform((plugins) => ({
  scoring: plugins?.nodeAffinityScoring ?? { enabled: false, platforms: [] },
  monitorsExecFormat: plugins?.execFormatErrorMonitor?.enabled ?? false,
}));

const METADATA = z.object({
  name: z.string(),
  uid: z.string().default(""),
  generation: z.int().default(0),
  creationTimestamp: z.string().nullish(),
  managedFields: z.array(z.object({ time: z.string().nullish(), fieldsV1: z.unknown() })).nullish().catch(undefined),
  deletionTimestamp: z.string().nullish(),
  finalizers: z.array(z.string()).nullish(),
});

const ClusterConfigSchema = z.object({
  metadata: METADATA,
  spec: z.object({
    logVerbosity: z.string().default("Normal"),
    namespaceSelector: z.record(z.string(), z.unknown()).nullish()
      .transform((selector) => parseSelector(selector, CLUSTER_SELECTOR_BOUNDS)),
    fallbackArchitecture: z.string().nullish(),
    plugins: PLUGINS,
  }).prefault({}),
}).transform(({ metadata, spec: { plugins, ...spec } }) => ({
  uid: metadata.uid,
  generation: metadata.generation,
  isDeleting: typeof metadata.deletionTimestamp === "string",
  finalizers: metadata.finalizers ?? [],
  selectedSinceMs: selectedSinceMs(metadata),
  ...spec,
  ...plugins,
  fallbackArchitecture: spec.fallbackArchitecture || undefined,
}));

const NamespaceConfigSchema = z.object({
  metadata: z.object({ name: z.string(), namespace: z.string(), creationTimestamp: z.string().nullish() }),
  spec: z.object({
    priority: z.int().min(0).max(255).default(0),
    /** An invalid selector is kept as `unparsable`: it selects nothing and says why. */
    labelSelector: z.unknown().optional().transform((selector) => parseSelector(selector)),
    /** Not a field of the MTO. Wins over the fallback of the cluster config. */
    fallbackArchitecture: z.string().nullish(),
    plugins: PLUGINS,
  }),
}).transform(({ metadata: { namespace, name, creationTimestamp }, spec: { plugins: { scoring }, ...spec } }) => ({
  namespace,
  name,
  createdMs: parseTime(creationTimestamp) ?? 0,
  ...spec,
  scoring,
  fallbackArchitecture: spec.fallbackArchitecture || undefined,
}));

export type ClusterConfig = Readonly<z.output<typeof ClusterConfigSchema>>;
export type NamespaceConfig = Readonly<z.output<typeof NamespaceConfigSchema>>;

/** The configs that may apply to a pod. Without a cluster config, scoring is off and there is no fallback. */
export interface PlacementConfigs {
  readonly cluster: ClusterConfig | undefined;
  /** All configs of the pod's namespace, in any order, matching or not. */
  readonly namespace: readonly NamespaceConfig[];
}

export function parseClusterConfig(object: unknown): Parsed<ClusterConfig> {
  return parsedBy(ClusterConfigSchema, "ClusterPodPlacementConfig", object);
}

export function parseNamespaceConfig(object: unknown): Parsed<NamespaceConfig> {
  return parsedBy(NamespaceConfigSchema, "PodPlacementConfig", object);
}

/** Epoch ms of the creation, or of the last change by a manager of the namespace selector; 0 when unknown. */
function selectedSinceMs({ creationTimestamp, managedFields }: z.output<typeof METADATA>): number {
  const changes = (managedFields ?? [])
    .filter(({ fieldsV1 }) => memberOf(memberOf(fieldsV1, "f:spec"), "f:namespaceSelector") !== undefined)
    .map(({ time }) => time);
  return Math.max(0, ...[creationTimestamp, ...changes].map((time) => parseTime(time) ?? 0));
}

function parsedBy<T>(schema: z.ZodType<T>, kind: string, object: unknown): Parsed<T> {
  const { success, data, error } = schema.safeParse(object);
  if (success) return asParsed(data);
  const problems = error.issues.slice(0, 5).map((issue) => `${issue.path.join(".") || "object"}: ${issue.message}`);
  return unparsable(`Cannot read the ${kind}: ${problems.join("; ")}. It is ignored until corrected.`);
}
