// Namespaces that asked for audit mode by a label. Opened by main, run on every replica: the webhook asks it for each pod.
import type { Clock } from "../clock.ts";
import type { KubeApi } from "../k8s/api.ts";
import { openReflector } from "../k8s/reflector.ts";
import { Resource } from "../k8s/types.ts";
import type { Logger } from "../log.ts";
import { AUDIT_NAMESPACE_LABEL } from "../names.ts";

/** The namespaces of the label, as they are now. */
export interface AuditedNamespaces {
  /** Follows them until the signal aborts; never rejects. */
  run(signal: AbortSignal): Promise<void>;
  has(namespace: string): boolean;
  names(): Iterable<string>;
}

/** Opens the view. Only labelled namespaces are watched. */
export function openAuditedNamespaces(
  parts: { readonly api: KubeApi; readonly clock: Clock; readonly log: Logger },
): AuditedNamespaces {
  const labelled = openReflector<string>({
    ...parts,
    resource: Resource.namespaces,
    labelSelector: `${AUDIT_NAMESPACE_LABEL.key}=${AUDIT_NAMESPACE_LABEL.value}`,
    parse: ({ metadata }) => metadata.name,
    onChange: () => {},
    name: "audited namespaces",
  });
  return {
    run: (signal) => labelled.run(signal),
    has: (namespace) => labelled.get(namespace) !== undefined,
    names: () => labelled.values(),
  };
}
