// The dependencies of the operator: settings, clients, and callbacks into the rest of the process.
import type { KubeApi } from "../../lib/k8s/api.ts";
import type { KubeObject } from "../../lib/k8s/types.ts";
import type { EventRecorder } from "../../lib/k8s/event_recorder.ts";
import type { MonitorState, OperandObservation } from "../../lib/operator/decide/conditions.ts";
import type { OperandFacts } from "../../lib/operator/decide/operand_step.ts";
import type { WebhookEndpoint } from "../../lib/operator/decide/webhook_clients.ts";
import type { Memory } from "./memory.ts";
import type { ControllerDeps } from "../controller.ts";

export interface OperatorSettings {
  readonly namespace: string;
  readonly endpoint: WebhookEndpoint;
  readonly watchQueued: boolean;
  /** Name of Archway's own Deployment, for roll-out conditions; undefined outside of a cluster. */
  readonly deploymentName: string | undefined;
  /** Image of the exec format error daemon; undefined: no daemon runs. */
  readonly execFormatImage: string | undefined;
  readonly maxGateAgeMs: number;
  readonly resyncMs: number;
}

interface SecretPaths {
  /** The secret path of a route; undefined while there is no secret. */
  readonly pathOf: (route: string) => string | undefined;
  /** Whether it is known what the configurations carry. */
  readonly isKnown: () => boolean;
  /** Whether a configuration carries a secret path already. */
  readonly isInUse: () => boolean;
}

export interface OperandTaints {
  /** How many nodes carry a taint, by the controller of the taints; undefined before it has listed them. */
  readonly carried: () => number | undefined;
  /** Takes the taints off at full speed, without the Lease. Gives how many nodes still have theirs. */
  readonly lift: (signal: AbortSignal) => Promise<number>;
}

/** Clients, and functions that are called at each reconcile and must return at once. */
export interface OperatorDeps extends ControllerDeps {
  readonly api: KubeApi;
  /** `api` without the fence, for an uninstall: the Lease is deleted before other objects, and then no replica leads. */
  readonly unfencedApi: KubeApi;
  readonly events: EventRecorder;
  readonly settings: OperatorSettings;
  readonly canServe: () => boolean;
  readonly canReconcile: () => boolean;
  readonly secretPaths: SecretPaths | undefined;
  /** PEM of the present CA; undefined when another controller of the cluster injects it. */
  readonly caBundle: () => string | undefined;
  /** Why pods are not gated at the moment; undefined while they are. */
  readonly gatingStopped: () => string | undefined;
  /** Gives undefined where Archway keeps none. */
  readonly taints: () => OperandTaints | undefined;
}

export interface OperatorRun extends OperatorDeps {
  readonly memory: Memory;
  readonly signal: AbortSignal;
}

export interface OperatorFacts extends OperandFacts {
  readonly seen: OperandObservation;
  readonly desiredWebhook: KubeObject | undefined;
  readonly monitorState: MonitorState | undefined;
}
