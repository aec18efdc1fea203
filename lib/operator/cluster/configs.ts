// The configs: watched by reflectors, parsed once, answered from memory.
import { heapBytesOf } from "../../json.ts";
import { RETENTION } from "../../k8s/retention.ts";
import { Reflector, type ReflectorDeps } from "../../k8s/reflector.ts";
import { type KubeObject, Resource } from "../../k8s/types.ts";
import { CLUSTER_CONFIG_NAME } from "../../names.ts";
import { parseConditions } from "../../vocabulary/condition.ts";
import { TAINT_CONDITION } from "../decide/conditions.ts";
import type { ConfigPresence } from "../decide/gating_health.ts";
import {
  type ClusterConfig,
  type NamespaceConfig,
  parseClusterConfig,
  parseNamespaceConfig,
  type PlacementConfigs,
} from "../../placement/decide/config/config.ts";
import type { Parsed } from "../../parsed.ts";

export interface Configs {
  run(signal: AbortSignal): Promise<void>;
  hasSynced(): boolean;
  cluster(): ClusterConfig | undefined;
  presence(): ConfigPresence;
  /** The configs for pods of a namespace. Cheap: the same arrays until something changes. */
  forNamespace(namespace: string): PlacementConfigs;
  /** Calls back with the namespace whose configs changed; undefined = the cluster config. */
  onChange(listener: (namespace: string | undefined) => void): void;
}

const NONE: readonly NamespaceConfig[] = [];

/** Bytes that a PodPlacementConfig and its keys take beside its text. An ordinary config weighs 1 800 in all. */
const CONFIG_BYTES = 500;

export function openConfigs(parts: ReflectorDeps): Configs {
  const listeners: ((namespace: string | undefined) => void)[] = [];
  const notify = (namespace: string | undefined): void => listeners.forEach((listener) => listener(namespace));
  const parse = accept(parts, parseClusterConfig);
  const clusterConfigs = new Reflector<{ readonly config: ClusterConfig; readonly changeKey: string }>({
    ...parts,
    resource: Resource.clusterConfigs,
    retain: RETENTION.clusterConfigs,
    parse: (object) => {
      const config = parse(object);
      return config === undefined ? undefined : { config, changeKey: changeKeyOf(object, config) };
    },
    onChange: (change) => {
      if (change.kind === "delete" || change.previous?.changeKey !== change.value.changeKey) notify(undefined);
    },
    name: "cluster configs",
  });
  const namespaceConfigs = openNamespaceConfigs(parts, notify);
  const cluster = (): ClusterConfig | undefined => clusterConfigs.get(CLUSTER_CONFIG_NAME)?.config;
  return {
    run: async (signal) => {
      await Promise.all([clusterConfigs.run(signal), namespaceConfigs.run(signal)]);
    },
    hasSynced: () => clusterConfigs.hasSynced() && namespaceConfigs.hasSynced(),
    cluster,
    presence: () => {
      if (!clusterConfigs.hasSynced()) return "unread";
      const config = cluster();
      if (config === undefined) return "absent";
      return config.isDeleting ? "deleting" : "present";
    },
    forNamespace: (namespace) => ({ cluster: cluster(), namespace: namespaceConfigs.of(namespace) }),
    onChange: (listener) => void listeners.push(listener),
  };
}

/**
 * Changes when a listener must act. Leaves out the condition about architecture taints, which changes with every node.
 */
function changeKeyOf({ metadata: { labels, annotations }, status }: KubeObject, config: ClusterConfig): string {
  const conditions = parseConditions(status).filter(({ type }) => type !== TAINT_CONDITION);
  return JSON.stringify([config, labels, annotations, conditions]);
}

interface NamespaceConfigs extends Pick<Configs, "run" | "hasSynced"> {
  of(namespace: string): readonly NamespaceConfig[];
}

function openNamespaceConfigs(parts: ReflectorDeps, notify: (namespace: string) => void): NamespaceConfigs {
  const byNamespace = new Map<string, readonly NamespaceConfig[]>();
  const reflector = new Reflector<NamespaceConfig>({
    ...parts,
    resource: Resource.namespaceConfigs,
    retain: { ...RETENTION.namespaceConfigs, weightOf: (config) => CONFIG_BYTES + heapBytesOf(JSON.stringify(config)) },
    parse: accept(parts, parseNamespaceConfig),
    onChange: ({ kind, value }) => {
      const others = (byNamespace.get(value.namespace) ?? NONE).filter(({ name }) => name !== value.name);
      const now = kind === "apply" ? [...others, value] : others;
      if (now.length === 0) byNamespace.delete(value.namespace);
      else byNamespace.set(value.namespace, now);
      notify(value.namespace);
    },
    name: "namespace configs",
  });
  return {
    run: (signal) => reflector.run(signal),
    hasSynced: () => reflector.hasSynced(),
    of: (namespace) => byNamespace.get(namespace) ?? NONE,
  };
}

/** A parser for a reflector: an object that cannot be parsed is logged, and counts as absent. */
function accept<T>(
  { log }: ReflectorDeps,
  parse: (object: unknown) => Parsed<T>,
): (object: KubeObject) => T | undefined {
  return (object) => {
    const parsed = parse(object);
    if (parsed.kind === "parsed") return parsed.value;
    const { namespace, name } = object.metadata;
    log.warn("config left out: it cannot be read", {
      kind: object.kind,
      namespace,
      name,
      reason: parsed.fault.message,
    });
    return undefined;
  };
}

export function logLevelOf(config: ClusterConfig | undefined): "info" | "debug" | undefined {
  if (config === undefined) return undefined;
  return config.logVerbosity === "" || config.logVerbosity === "Normal" ? "info" : "debug";
}
