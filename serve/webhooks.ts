// The TLS listener for the API server: pod gate, config checks, conversion.
import { openMismatchChecks } from "../lib/placement/cluster/mismatch_checks.ts";
import type { GatePodDeps } from "../routes/gate_pod.ts";
import { webhookApp } from "../routes/mod.ts";
import { holdsWithin } from "../lib/clock.ts";
import { openSiblingConfigs } from "../lib/operator/cluster/sibling_configs.ts";
import { type HttpsListener, openHttpsListener } from "../lib/server/https_listener.ts";
import { CONNECTION_LIMITS } from "../lib/server/connection_table.ts";
import type { ListenerGuard } from "../lib/server/connection_guard.ts";
import { makePathCheck } from "../lib/server/path_check.ts";
import { WebhookPath } from "../lib/names.ts";
import { openLoadLimit, OTHER_LOAD, POD_LOAD } from "../lib/server/load_limit.ts";
import { readClientCa } from "../lib/server/certificate/open_certificate.ts";
import { pullIdentityOf } from "../lib/placement/decide/pod/pod_refs.ts";
import type { ServeDeps } from "./capability.ts";
import type { PlacementResources } from "./placement_resources.ts";
import { followsNodes, type PlacementComponents } from "./placement_components.ts";

/** Longest wait of first admissions for configs, audited namespaces and a leader (ms): without it pods pass ungated. */
const STARTUP_MS = 2_000;

interface WebhooksDeps {
  readonly placement: PlacementResources;
  readonly components: PlacementComponents;
}

export async function openWebhooks(deps: ServeDeps, webhooks: WebhooksDeps): Promise<HttpsListener> {
  const { placement: { certificate, metrics, checkApi, shared }, components: { operator, configs } } = webhooks;
  const signal = shared.background;
  const siblings = openSiblingConfigs({ api: checkApi, configs, signal });
  const app = webhookApp({
    gate: gateDeps(deps, webhooks),
    check: { api: checkApi, siblings, signal },
    otherLimit: openLoadLimit(OTHER_LOAD, deps),
  });
  const listener = await openHttpsListener({
    host: deps.config.listen.host,
    port: deps.config.listen.port,
    certificate: certificate.current(),
    handler: (request) => app.fetch(request),
    guard: guardOf(webhooks),
    clientCa: await readClientCa(deps.config.webhookClientCa),
  });
  certificate.onChange((next) => {
    listener.setCertificate(next);
    metrics.server.archway_certificate_reloads_total.inc();
    operator.requestReconcile();
  });
  return listener;
}

/** Accepts requests by a secret path, and by the manifests' paths while the API server uses them. */
function guardOf({ placement: { pathSecret, metrics }, components: { webhookPaths } }: WebhooksDeps): ListenerGuard {
  const routes: readonly string[] = Object.values(WebhookPath);
  /** The paths that the API server may call besides today's secret ones. */
  const registered = (): readonly string[] =>
    pathSecret?.pathOf(WebhookPath.gatePod) === undefined ? routes : webhookPaths.registered();
  return {
    limits: CONNECTION_LIMITS,
    check: makePathCheck({
      routes,
      proving: WebhookPath.gatePod,
      // While any configuration has a path of the manifests, each route accepts its own path of the manifests.
      pathsOf: (route) => [
        ...pathSecret?.acceptedPaths(route) ?? [],
        ...registered().flatMap((path) => routes.includes(path) ? [route] : [path]),
      ],
    }),
    manifestPathProves: () => registered().includes(WebhookPath.gatePod),
    dropped: (reason) => metrics.server.archway_webhook_connections_dropped_total.inc({ reason }),
    began: (accepted, taken) => {
      metrics.server.archway_webhook_requests_total.inc({ path: accepted.kind, outcome: taken ? "taken" : "shed" });
      if (taken || !accepted.url.startsWith(WebhookPath.gatePod)) return;
      metrics.placement.admission("shed", { ms: 0, dryRun: false });
    },
  };
}

function gateDeps(deps: ServeDeps, { placement, components }: WebhooksDeps): GatePodDeps {
  const { clock } = deps;
  const { decisions, images, metrics, shared: { background: signal, events } } = placement;
  const { configs, gatingHealth, clusterArchitectures, liveArchitectures, settingsOf } = components;
  const log = deps.log.with({ route: "gate-pod" });
  return {
    clock,
    log,
    limit: openLoadLimit(POD_LOAD, { clock, log }),
    settingsOf,
    configsOf: configs.forNamespace,
    recall: (pod, wanted) => images.recall({ identity: pullIdentityOf(pod), images: wanted }),
    prefetch: (pod, wanted, possibleBundles) =>
      images.prefetch({
        identity: pullIdentityOf(pod),
        images: wanted,
        possibleBundles,
        priority: "admission",
        mayRenew: true,
      }),
    mayGate: () => gatingHealth().kind === "gating",
    startup: startupOf(deps, { placement, components }),
    mismatches: openMismatchChecks({
      clock,
      images,
      events,
      log: deps.log,
      settingsOf,
      signal,
      onPinMismatch: metrics.placement.pinMismatch,
      onLateMismatch: metrics.placement.lateMismatch,
      architectureOf: (node) => followsNodes(deps) ? clusterArchitectures.architectureOfNode(node) : undefined,
    }),
    liveArchitectures,
    decisions,
    observe: metrics.placement.admission,
  };
}

/** What the first admissions wait for; undefined afterwards. */
function startupOf(
  { clock }: ServeDeps,
  { placement: { shared: { background: signal, election } }, components: { configs, audited } }: WebhooksDeps,
): () => Promise<void> | undefined {
  const hasStarted = (): boolean =>
    configs.hasSynced() && audited.hasSynced() && election.view().lastRenewObservedMs !== undefined;
  let startup: Promise<void> | undefined = holdsWithin(hasStarted, { clock, limitMs: STARTUP_MS, signal }).then(() => {
    startup = undefined;
  });
  return () => startup;
}
