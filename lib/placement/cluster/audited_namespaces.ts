// Namespaces labelled for audit mode, in memory because the webhook needs them for each pod.
import { RETENTION } from "../../k8s/retention.ts";
import { Reflector, type ReflectorDeps } from "../../k8s/reflector.ts";
import { Resource } from "../../k8s/types.ts";
import { AUDIT_NAMESPACE_LABEL } from "../../names.ts";

export interface AuditedNamespaces {
  run(signal: AbortSignal): Promise<void>;
  /** Whether the first list arrived or was refused. A refusal is logged, and no namespace is audited by its label. */
  hasSynced(): boolean;
  has(namespace: string): boolean;
  names(): Iterable<string>;
  /** Calls back for each newly audited namespace. */
  onAdded(listener: (namespace: string) => void): void;
}

export function openAuditedNamespaces(deps: ReflectorDeps): AuditedNamespaces {
  const listeners: ((namespace: string) => void)[] = [];
  const labelled = new Reflector<string>({
    ...deps,
    resource: Resource.namespaces,
    labelSelector: `${AUDIT_NAMESPACE_LABEL.key}=${AUDIT_NAMESPACE_LABEL.value}`,
    parse: ({ metadata }) => metadata.name,
    retain: RETENTION.namespaces,
    onChange: ({ kind, key, ...change }) => {
      if (kind === "apply" && !("previous" in change)) listeners.forEach((listener) => listener(key));
    },
    name: "audited namespaces",
  });
  return {
    run: (signal) => labelled.run(signal),
    hasSynced: () => labelled.state() !== "starting",
    has: (namespace) => labelled.get(namespace) !== undefined,
    onAdded: (listener) => void listeners.push(listener),
    names: () => labelled.values(),
  };
}
