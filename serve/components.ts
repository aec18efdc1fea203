// The components of `archway serve`: configs, pod placement and operator, and the questions they ask each other. Called by serve.
import { type LiveArchitectures, openLiveArchitectures } from "../lib/informers/architectures.ts";
import { type AuditedNamespaces, openAuditedNamespaces } from "../lib/informers/audited_namespaces.ts";
import { type Configs, logLevelOf, openConfigs } from "../lib/informers/configs.ts";
import { openOperator, type Operator } from "../controllers/operator/controller.ts";
import { openPodPlacement, type PodPlacement } from "../controllers/pod_placement/controller.ts";
import type { Clients, ServeDeps } from "./clients.ts";
import { type LeaseView, NO_LEASE_SEEN } from "../lib/k8s/lease.ts";
import { fenceWrites } from "../lib/k8s/write_fence.ts";
import { decideGating, type GatingVerdict } from "../lib/operand/dead_man.ts";
import type { PlacementSettings } from "../lib/placement/config_types.ts";

/** Between two looks of the operator at everything, when nothing wakes it before (ms). */
const OPERATOR_RESYNC_MS = 60_000;

/** The components, and the questions they ask each other; each is answered at once from memory. */
export interface Components extends Clients {
  readonly configs: Configs;
  readonly audited: AuditedNamespaces;
  readonly live: LiveArchitectures;
  readonly podPlacement: PodPlacement;
  readonly operator: Operator;
  readonly lease: { view: LeaseView };
  readonly verdict: () => GatingVerdict;
  readonly settings: () => PlacementSettings;
  readonly settingsOf: (namespace: string) => PlacementSettings;
  readonly configsOf: Configs["of"];
  readonly liveArchitectures: () => readonly string[] | undefined;
}

/** Opens them. Nothing runs before the controllers do. */
export function wireComponents(parts: ServeDeps, clients: Clients, stop: AbortSignal): Components {
  const { config, settings, clock, log } = parts;
  const { api } = clients;
  const configs = openConfigs({ api, clock, log });
  const audited = openAuditedNamespaces({ api, clock, log });
  const live = openLiveArchitectures({ api, clock, log });
  const lease: Components["lease"] = { view: NO_LEASE_SEEN };
  const auditSettings: PlacementSettings = { ...settings, audit: true };
  const verdict = (): GatingVerdict => {
    const { lastRenewObservedMs } = lease.view;
    const silentForMs = lastRenewObservedMs === undefined ? undefined : clock.monotonicMs() - lastRenewObservedMs;
    return decideGating(configs.presence(), { silentForMs });
  };
  const leading = { ...clients, api: fenceWrites(api, () => clock.monotonicMs() < (lease.view.heldUntilMs ?? 0)) };
  const questions = {
    verdict,
    settings: () => settings,
    settingsOf: (namespace: string) => audited.has(namespace) ? auditSettings : settings,
    configsOf: configs.of,
    liveArchitectures: () => config.liveArchitectures ? live.current() : undefined,
  };
  const podPlacement = openPodPlacement({
    ...leading,
    ...questions,
    clock,
    log: log.with({ controller: "pod-placement" }),
    random: Math.random,
    workers: config.workers,
  });
  const operator = openOperator({
    ...leading,
    clock,
    log: log.with({ controller: "operator" }),
    settings: {
      namespace: config.namespace,
      endpoint: config.webhookUrl === undefined
        ? { kind: "service", namespace: config.namespace, name: config.webhookService }
        : { kind: "url", baseUrl: config.webhookUrl.replace(/\/+$/, "") },
      watchEphemeral: followsNodes(parts),
      deploymentName: config.webhookUrl === undefined ? "archway" : undefined,
      runbookBaseUrl: config.runbookBaseUrl ?? "",
      migration: config.migration,
      maxGateAgeMs: settings.maxGateAgeMs,
      resyncMs: OPERATOR_RESYNC_MS,
    },
    canServe: () => !stop.aborted && configs.hasSynced(),
    canReconcile: () => podPlacement.hasSynced(),
    caBundle: () => clients.certificate.current().caBundle,
    gatingStopped: () => reasonOf(verdict()),
    enoexec: () => "unmanaged",
  });
  configs.onChange((namespace) => {
    if (namespace === undefined) log.setLevel(logLevelOf(configs.cluster()) ?? config.fallbackLogLevel);
    podPlacement.configChanged(namespace);
    operator.poke();
  });
  return { ...clients, ...questions, configs, audited, live, lease, podPlacement, operator };
}

function reasonOf(verdict: GatingVerdict): string | undefined {
  return verdict.kind === "stopped" ? verdict.reason : undefined;
}

/** Whether something asks for the architectures of nodes. */
export function followsNodes({ config }: ServeDeps): boolean {
  return config.liveArchitectures || config.daemonsets !== "ignore";
}
