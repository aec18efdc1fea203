// The ConfigMap `managed-upgrade-operator-config`, decoded: every value is there, by itself or by its documented default.
import type { DrainMode } from "./plan.ts";

/** Everything the ConfigMap says. */
export interface OperatorConfig {
  /** For plans that a policy source makes. */
  readonly upgradeType: "OSD" | "ARO";
  readonly configManager: {
    readonly source: "OCM" | "LOCAL" | "none";
    /** Undefined unless the source is OCM. */
    readonly ocmBaseUrl: string | undefined;
    readonly localConfigName: string;
    readonly watchIntervalMinutes: number;
  };
  readonly validation: { readonly cincinnati: boolean };
  readonly environment: { readonly fedramp: boolean };
  readonly maintenance: {
    readonly controlPlaneMinutes: number;
    readonly controlPlaneCriticals: readonly string[];
  };
  readonly scale: {
    readonly timeoutMinutes: number;
    /** Patterns of `path.Match`. */
    readonly extraMachinePools: readonly string[];
  };
  readonly upgradeWindow: {
    /** 0: no end. */
    readonly timeoutMinutes: number;
    /** 0: no notice. */
    readonly delayTriggerMinutes: number;
  };
  readonly nodeDrain: {
    readonly timeoutMinutes: number;
    readonly expectedMinutes: number;
    readonly disableDrainStrategies: boolean;
    /** For plans without `spec.drain.mode`. Not of the original. */
    readonly mode: DrainMode | undefined;
    /** Regular expressions, searched for in the name. */
    readonly ignoredNamespacePatterns: readonly string[];
  };
  readonly healthCheck: {
    readonly ignoredCriticals: readonly string[];
    readonly ignoredNamespaces: readonly string[];
  };
  readonly dependencies: {
    readonly timeoutSeconds: number;
    readonly urls: readonly string[];
  };
  readonly notifications: {
    /** Where notifications are posted as JSON, beside everything else; may be secret. Not of the original. */
    readonly webhookUrl: string | undefined;
  };
  /** Gates that are on. Others are kept in the ConfigMap without effect. */
  readonly gates: ReadonlySet<"PreHealthCheck" | "ServiceLogNotification">;
}

export type ConfigReading =
  /** `warnings` are about keys that have no effect as they are written. */
  | { readonly kind: "parsed"; readonly config: OperatorConfig; readonly warnings: readonly string[] }
  /** All problems, each with the key that it is about. */
  | { readonly kind: "unparsable"; readonly problems: readonly string[] }
  | { readonly kind: "unknown"; readonly why: string };
