// The dependencies of the operator: settings, clients and callbacks.
import type { KubeApi } from "../../lib/k8s/api.ts";
import type { KubeObject } from "../../lib/k8s/types.ts";
import type { EventRecorder } from "../../lib/k8s/event_recorder.ts";
import type { MonitorState, OperandObservation } from "../../lib/operator/decide/conditions.ts";
import type { OperandFacts } from "../../lib/operator/decide/operand_step.ts";
import type { WebhookEndpoint } from "../../lib/operator/decide/webhook_clients.ts";
import type { OperatorMemory } from "./operator_memory.ts";
import type { ControllerDeps } from "../controller.ts";

export interface OperatorSettings {
  readonly namespace: string;
  readonly endpoint: WebhookEndpoint;
  readonly watchesQueued: boolean;
  /** Name of Archway's own Deployment, for roll-out conditions; undefined outside a cluster. */
  readonly deploymentName: string | undefined;
  /** Image of the exec format error daemon; undefined: no daemon. */
  readonly execFormatImage: string | undefined;
  readonly maxGateAgeMs: number;
  readonly resyncMs: number;
}

interface SecretPaths {
  /** A route's secret path; undefined without a secret. */
  readonly pathOf: (route: string) => string | undefined;
  /** Whether the paths of the configurations are known. */
  readonly isKnown: () => boolean;
  /** Whether a configuration already has a secret path. */
  readonly isInUse: () => boolean;
}

export interface OperandTaints {
  /** The number of tainted nodes, from the taint controller; undefined before its first list. */
  readonly carried: () => number | undefined;
  /** Removes the taints at full speed, without the Lease. Returns how many nodes still have theirs. */
  readonly lift: (signal: AbortSignal) => Promise<number>;
}

/** Clients, and functions that each reconcile calls and that must return at once. */
export interface OperatorDeps extends ControllerDeps {
  readonly api: KubeApi;
  /** `api` without the fence, for an uninstall, which deletes the Lease before other objects. */
  readonly unfencedApi: KubeApi;
  readonly events: EventRecorder;
  readonly settings: OperatorSettings;
  readonly canServe: () => boolean;
  readonly canReconcile: () => boolean;
  readonly secretPaths: SecretPaths | undefined;
  /** PEM of the current CA; undefined when another controller injects it. */
  readonly caBundle: () => string | undefined;
  /** Why pods are not gated now; undefined while they are. */
  readonly whyNotGating: () => string | undefined;
  /** Undefined when Archway manages no taints. */
  readonly taints: () => OperandTaints | undefined;
}

export interface OperatorRun extends OperatorDeps {
  readonly memory: OperatorMemory;
  readonly signal: AbortSignal;
}

export interface OperatorFacts extends OperandFacts {
  readonly seen: OperandObservation;
  readonly desiredWebhook: KubeObject | undefined;
  readonly monitorState: MonitorState | undefined;
}
