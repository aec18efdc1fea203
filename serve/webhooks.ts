// The TLS listener for the API server: pod gate, config checks, conversion.
import { checkEphemeral } from "../routes/ephemeral_containers.ts";
import type { GatePodDeps } from "../routes/gate_pod.ts";
import { webhookApp } from "../routes/mod.ts";
import { holdsWithin } from "../lib/clock.ts";
import { openSiblingConfigs } from "../lib/informers/sibling_configs.ts";
import { type HttpsListener, openHttpsListener } from "../lib/server/https_listener.ts";
import { CONNECTION_LIMITS } from "../lib/server/connection_table.ts";
import type { ListenerGuard } from "../lib/server/connection_guard.ts";
import { makePathCheck } from "../lib/server/path_check.ts";
import { WebhookPath } from "../lib/names.ts";
import { openLoadLimit } from "../lib/server/load_limit.ts";
import { readClientCa } from "../lib/tls/open_certificate.ts";
import { pullScopeOf } from "../lib/placement/pod_refs.ts";
import type { Clients, ServeDeps } from "./clients.ts";
import { type Components, followsNodes } from "./components.ts";

/**
 * Longest that the first admissions wait for the configs, the audited namespaces and a sight of the leader (ms): a replica
 * that the API server already calls would otherwise let pods of its first moments through ungated, or gate audited ones.
 */
const OPENING_MS = 2_000;

/** What the webhooks are made of. */
interface WebhooksDeps {
  readonly clients: Clients;
  readonly components: Components;
  /** Ends what goes on in the background. */
  readonly signal: AbortSignal;
}

/** Opens it with the certificate of the moment, and changes the certificate when it is renewed. */
export async function openWebhooks(deps: ServeDeps, webhooks: WebhooksDeps): Promise<HttpsListener> {
  const { clients: { certificate, metrics, checkApi }, components: { operator, configs }, signal } = webhooks;
  const siblings = openSiblingConfigs({ api: checkApi, configs, signal });
  const app = webhookApp({ gate: gateDeps(deps, webhooks), check: { api: checkApi, siblings, signal } });
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
    metrics.certificateReloaded();
    operator.requestReconcile();
  });
  return listener;
}

/** Accepts requests by a secret path, and by the manifests' paths while the API server uses them. */
function guardOf({ clients: { pathSecret, metrics }, components: { webhookPaths } }: WebhooksDeps): ListenerGuard {
  const acceptsPlain = (): boolean =>
    pathSecret?.pathOf(WebhookPath.gatePod) === undefined || webhookPaths.acceptsPlain();
  return {
    limits: CONNECTION_LIMITS,
    check: makePathCheck({
      routes: Object.values(WebhookPath),
      secretPaths: (route) => pathSecret?.acceptedPaths(route) ?? [],
      acceptsPlain,
    }),
    acceptsPlain,
    plainProves: true,
    dropped: metrics.webhookConnectionDropped,
    began: ({ verdict, taken }) => {
      metrics.webhookRequest(verdict.kind, taken);
      if (!taken && verdict.url.startsWith(WebhookPath.gatePod)) metrics.admission("shed", { ms: 0, dryRun: false });
    },
  };
}

function gateDeps(deps: ServeDeps, { clients, components, signal }: WebhooksDeps): GatePodDeps {
  const { clock } = deps;
  const { board, images, known, metrics } = clients;
  const { configs, events, gatingHealth, live, liveArchitectures, settingsOf } = components;
  const log = deps.log.with({ route: "gate-pod" });
  return {
    clock,
    log,
    limit: openLoadLimit({ clock, log }),
    settingsOf,
    configsOf: configs.of,
    recall: (pod, wanted) => known.recall(wanted, pullScopeOf(pod)),
    prefetch: (pod, wanted) =>
      images.prefetch({ scope: pullScopeOf(pod), images: wanted, priority: "admission", renew: true }),
    mayGate: () => gatingHealth().kind === "gating",
    opening: openingOf(deps, { clients, components, signal }),
    noticeEphemeral: followsNodes(deps)
      ? checkEphemeral({ images, events, log: deps.log, architectureOf: (node) => live.ofNode(node), signal })
      : () => {},
    liveArchitectures,
    board,
    observe: metrics.admission,
  };
}

/** What the first admissions wait for; undefined from then on. */
function openingOf(
  { clock }: ServeDeps,
  { clients: { election }, components: { configs, audited }, signal }: WebhooksDeps,
): () => Promise<void> | undefined {
  const isOpen = (): boolean =>
    configs.hasSynced() && audited.isSettled() && election.view().lastRenewObservedMs !== undefined;
  let opening: Promise<void> | undefined = holdsWithin(isOpen, { clock, limitMs: OPENING_MS, signal }).then(() => {
    opening = undefined;
  });
  return () => opening;
}
