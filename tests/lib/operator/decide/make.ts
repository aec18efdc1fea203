// Builders of the operand tests: configs, facts and webhook configurations with overrides.
import type { KubeObject } from "../../../../lib/k8s/types.ts";
import { Finalizer } from "../../../../lib/names.ts";
import type { OperandConfig } from "../../../../lib/operator/decide/config_view.ts";
import type { MonitorFacts, OperandFacts } from "../../../../lib/operator/decide/operand_step.ts";
import type { WebhookSettings } from "../../../../lib/operator/cluster/webhook_configuration.ts";

export function makeOperandConfig(overrides: Partial<OperandConfig> = {}): OperandConfig {
  return {
    uid: "u-1",
    resourceVersion: "7",
    generation: 1,
    deletingSinceMs: undefined,
    finalizers: [Finalizer.podPlacement],
    namespaceSelector: undefined,
    monitorsExecFormat: false,
    conditions: [],
    ...overrides,
  };
}

export function makeMonitor(overrides: Partial<MonitorFacts> = {}): MonitorFacts {
  return {
    daemonSet: "unread",
    ownDeployment: "foreign",
    hasImage: false,
    handledEvents: 0,
    pendingEvents: 0,
    leavingForMs: 0,
    isForced: false,
    ...overrides,
  };
}

export function makeFacts(overrides: Partial<OperandFacts> = {}): OperandFacts {
  return {
    config: makeOperandConfig(),
    hasNamespaceConfigs: false,
    webhook: "current",
    unservedForMs: 0,
    gatedPods: 0,
    leavingForMs: 0,
    maxGateAgeMs: 60_000,
    forced: { attempts: 0, agoMs: 0 },
    installation: "withFinalizer",
    monitor: makeMonitor(),
    taints: "none",
    ...overrides,
  };
}

export const SERVICE_SETTINGS: WebhookSettings = {
  watchesQueued: false,
  pathOf: (route) => route,
  endpoint: { kind: "service", namespace: "archway-system", name: "archway-webhook" },
  caBundle: "-----BEGIN CERTIFICATE-----\n",
};

export function stored(object: KubeObject, change: (json: string) => string = (json) => json): KubeObject {
  return JSON.parse(change(JSON.stringify(object)));
}
