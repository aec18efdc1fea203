// A served cluster in memory with an operator on it, and the objects its tests look at.
import type { Condition } from "../../../lib/vocabulary/condition.ts";
import { Operator } from "../../../controllers/operator/controller.ts";
import type { OperatorDeps, OperatorSettings } from "../../../controllers/operator/deps.ts";
import { systemClock } from "../../../lib/clock.ts";
import { type KubeApi, readOptional } from "../../../lib/k8s/api.ts";
import { type KubeObject, Resource, type ResourceTarget, type ResourceType } from "../../../lib/k8s/types.ts";
import { silentLogger } from "../../../lib/log.ts";
import { WebhookName } from "../../../lib/names.ts";
import { parseOperandConfig } from "../../../lib/operator/decide/config_view.ts";
import { serveCluster } from "../../playground/make.ts";
import { openTestApi, plainAccess } from "../../support/cluster_api.ts";
import { openConfigWatches } from "../../support/config_watches.ts";
import { until } from "../../support/until.ts";

export const NAMESPACE = "archway-system";
export const GATE = "multiarch.openshift.io/scheduling-gate";

export type Recorded = Parameters<OperatorDeps["events"]["record"]>[0];

export interface OperatorBench extends AsyncDisposable {
  readonly api: KubeApi;
  readonly operator: Operator;
  readonly events: readonly Recorded[];
  readonly signal: AbortSignal;
  find(type: ResourceType, target: ResourceTarget): Promise<KubeObject | undefined>;
  createConfig(spec?: Readonly<Record<string, unknown>>): Promise<KubeObject>;
  conditions(): Promise<readonly Condition[]>;
  until(what: string, holds: () => Promise<boolean>): Promise<void>;
  start(): void;
}

export const SETTINGS: OperatorSettings = {
  namespace: NAMESPACE,
  endpoint: { kind: "service", namespace: NAMESPACE, name: "archway-webhook" },
  watchesQueued: false,
  deploymentName: undefined,
  execFormatImage: undefined,
  maxGateAgeMs: 60_000,
  resyncMs: 60_000,
};

export function makeDeps(api: KubeApi, overrides: Partial<OperatorDeps> = {}): OperatorDeps {
  return {
    ...{ api, unfencedApi: api, clock: systemClock, log: silentLogger, settings: SETTINGS },
    events: { record: () => {} },
    canServe: () => true,
    canReconcile: () => true,
    secretPaths: undefined,
    caBundle: () => "CA",
    whyNotGating: () => undefined,
    taints: () => undefined,
    ...overrides,
  };
}

/** What the operator has otherwise than {@link makeDeps}, by the API of its cluster. */
type Overrides = Partial<OperatorDeps> | ((api: KubeApi) => Partial<OperatorDeps>);

export async function openBench(overrides: Overrides = {}): Promise<OperatorBench> {
  const served = await serveCluster();
  const api = openTestApi(plainAccess(served.server.url));
  const stop = new AbortController();
  const { signal } = stop;
  const events: Recorded[] = [];
  const record = (event: Recorded): void => void events.push(event);
  const given = typeof overrides === "function" ? overrides(api) : overrides;
  const operator = new Operator(makeDeps(api, { events: { record }, ...given }));
  let running: Promise<unknown> = Promise.resolve();
  const configs = openConfigWatches(api, () => operator.requestReconcile());
  const find = (type: ResourceType, target: ResourceTarget): Promise<KubeObject | undefined> =>
    readOptional(api, { type, ...target, signal });
  await api.create(Resource.namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } }, {
    signal,
  });
  return {
    api,
    operator,
    events,
    signal,
    find,
    createConfig: (spec = {}) =>
      api.create(Resource.clusterConfigs, {
        apiVersion: "multiarch.openshift.io/v1beta1",
        kind: "ClusterPodPlacementConfig",
        metadata: CONFIG,
        spec,
      }, { signal }),
    conditions: async () => {
      const config = await find(Resource.clusterConfigs, CONFIG);
      return config === undefined ? [] : parseOperandConfig(config).conditions;
    },
    until,
    start: () => {
      running = Promise.all([operator.run(signal), ...configs.map((reflector) => reflector.run(signal))]);
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await running;
      await api[Symbol.asyncDispose]();
      await served[Symbol.asyncDispose]();
    },
  };
}

export const CONFIG = { name: "cluster" };
export const WEBHOOK = { name: WebhookName.configuration };

/** Whether the config has it: `Available=True`. */
export async function hasCondition(bench: OperatorBench, wanted: string): Promise<boolean> {
  return (await bench.conditions()).some(({ type, status }) => `${type}=${status}` === wanted);
}

export async function patchConfig(bench: OperatorBench, document: unknown, subresource?: string): Promise<KubeObject> {
  const target = subresource === undefined ? CONFIG : { ...CONFIG, subresource };
  const body = { kind: "merge", document } as const;
  return await bench.api.patch(Resource.clusterConfigs, target, { body, signal: bench.signal });
}

export async function deleteConfig({ api, signal }: OperatorBench): Promise<void> {
  await api.delete(Resource.clusterConfigs, CONFIG, { signal });
}

/** The mutating webhooks as JSON; empty while there are none. */
export async function webhookText(bench: OperatorBench): Promise<string> {
  return JSON.stringify((await bench.find(Resource.mutatingWebhooks, WEBHOOK))?.webhooks) ?? "";
}

/** With a config that is available. */
export async function openSteady(...given: Parameters<typeof openBench>): Promise<OperatorBench> {
  const bench = await openBench(...given);
  await bench.createConfig();
  bench.start();
  await bench.until("available", () => hasCondition(bench, "Available=True"));
  return bench;
}
