// The configs as every replica sees them: watched, parsed once, answered from memory. Opened by main, run on all replicas.
import type { Clock } from "../../lib/clock.ts";
import type { KubeApi } from "../../lib/k8s/api.ts";
import { openReflector } from "../../lib/k8s/reflector.ts";
import { type KubeObject, Resource } from "../../lib/k8s/types.ts";
import type { Logger } from "../../lib/log.ts";
import { CLUSTER_CONFIG_NAME } from "../../lib/names.ts";
import type { ConfigPresence } from "../../lib/operand/dead_man.ts";
import { parseClusterConfig, parseNamespaceConfig } from "../../lib/placement/config.ts";
import type { ClusterConfig, NamespaceConfig, Parsed, PlacementConfigs } from "../../lib/placement/types.ts";

/** The configs in force. */
export interface Configs {
  /** Follows the configs until the signal aborts; never rejects. */
  run(signal: AbortSignal): Promise<void>;
  hasSynced(): boolean;
  cluster(): ClusterConfig | undefined;
  presence(): ConfigPresence;
  /** What concerns pods of a namespace. Cheap: the same arrays until something changes. */
  of(namespace: string): PlacementConfigs;
  /** Calls back with the namespace whose configs changed; undefined = the cluster config. */
  onChange(listener: (namespace: string | undefined) => void): void;
}

/** What it is made with. */
export interface ConfigsParts {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly log: Logger;
}

const NONE: readonly NamespaceConfig[] = [];

/** Opens the view. Nothing is asked of the API server before `run`. */
export function openConfigs({ api, clock, log }: ConfigsParts): Configs {
  const listeners: ((namespace: string | undefined) => void)[] = [];
  const tell = (namespace: string | undefined): void => listeners.forEach((listener) => listener(namespace));
  const byNamespace = new Map<string, readonly NamespaceConfig[]>();
  const accept = <T>(parse: (object: unknown) => Parsed<T>) => (object: KubeObject): T | undefined => {
    const parsed = parse(object);
    if (parsed.kind === "ok") return parsed.value;
    const { namespace, name } = object.metadata;
    log.warn("config left out: it cannot be read", { kind: object.kind, namespace, name, reason: parsed.message });
    return undefined;
  };
  const clusterConfigs = openReflector<ClusterConfig>({
    api,
    resource: Resource.clusterConfigs,
    parse: accept(parseClusterConfig),
    onChange: () => tell(undefined),
    clock,
    log,
    name: "cluster configs",
  });
  const namespaceConfigs = openReflector<NamespaceConfig>({
    api,
    resource: Resource.namespaceConfigs,
    parse: accept(parseNamespaceConfig),
    onChange: ({ kind, value }) => {
      const others = (byNamespace.get(value.namespace) ?? NONE).filter(({ name }) => name !== value.name);
      const now = kind === "apply" ? [...others, value] : others;
      if (now.length === 0) byNamespace.delete(value.namespace);
      else byNamespace.set(value.namespace, now);
      tell(value.namespace);
    },
    clock,
    log,
    name: "namespace configs",
  });
  const cluster = (): ClusterConfig | undefined => clusterConfigs.get(CLUSTER_CONFIG_NAME);

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
      return config.deleting ? "leaving" : "present";
    },
    of: (namespace) => ({ cluster: cluster(), namespace: byNamespace.get(namespace) ?? NONE }),
    onChange: (listener) => void listeners.push(listener),
  };
}

/** The log level that the cluster config's `logVerbosity` asks for. Source: pod placement §0. */
export function logLevelOf(config: ClusterConfig | undefined): "info" | "debug" | undefined {
  if (config === undefined) return undefined;
  return config.logVerbosity === "" || config.logVerbosity === "Normal" ? "info" : "debug";
}
