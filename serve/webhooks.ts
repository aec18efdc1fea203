// The TLS door, for the API server: pod gate, config checks, conversion. Called by serve.
import { webhookApp } from "../routes/mod.ts";
import { watchEphemeral } from "../routes/ephemeral_containers.ts";
import type { ServeDeps } from "./clients.ts";
import { type Components, followsNodes } from "./components.ts";
import { holdsWithin } from "../lib/clock.ts";
import { type HttpsListener, openHttpsListener } from "../lib/server/https_listener.ts";
import type { PullScope } from "../lib/images/known_images.ts";
import { openLoadLimit } from "../lib/server/load_limit.ts";
import type { PodView } from "../lib/placement/types.ts";

/**
 * Longest that the first admissions wait for the configs and a sight of the leader (ms): a replica that the API server
 * already calls would otherwise let pods of its first moments through ungated.
 */
const OPENING_MS = 2_000;

/** Opens it with the certificate of the moment, and changes the certificate when it is renewed. */
export async function openWebhooks(
  parts: ServeDeps,
  components: Components,
  signal: AbortSignal,
): Promise<HttpsListener> {
  const { config, clock, log } = parts;
  const { certificate, known, images, live, metrics, operator, verdict } = components;
  const gateLog = log.with({ route: "gate-pod" });
  const app = webhookApp({
    gate: {
      ...components,
      clock,
      log: gateLog,
      limit: openLoadLimit({ clock, log: gateLog }),
      recall: (pod, wanted) => known.recall(wanted, scopeOf(pod)),
      isAging: (pod, wanted) => known.isAging(wanted, scopeOf(pod)),
      prefetch: (pod, wanted) => images.prefetch({ scope: scopeOf(pod), images: wanted, priority: "admission" }),
      mayGate: () => verdict().kind === "gating",
      opening: openingOf(parts, components, signal),
      noticeEphemeral: followsNodes(parts)
        ? watchEphemeral({ ...components, log, architectureOf: (node) => live.ofNode(node), signal })
        : () => {},
      observe: metrics.admission,
    },
    check: { api: components.api, signal },
  });
  const handler = (request: Request): Response | Promise<Response> => app.fetch(request);
  const listener = await openHttpsListener({ ...config.listen, certificate: certificate.current(), handler });
  certificate.onChange((next) => {
    listener.setCertificate(next);
    metrics.certificateReloaded();
    operator.poke();
  });
  return listener;
}

/** What the first admissions wait for; undefined from then on. */
function openingOf(
  { clock }: ServeDeps,
  { configs, lease }: Components,
  signal: AbortSignal,
): () => Promise<void> | undefined {
  const isOpen = (): boolean => configs.hasSynced() && lease.view.lastRenewObservedMs !== undefined;
  let opening: Promise<void> | undefined = holdsWithin(isOpen, { clock, limitMs: OPENING_MS, signal }).then(() => {
    opening = undefined;
  });
  return () => opening;
}

/** Whose pull secrets an admission may use. */
function scopeOf(pod: PodView): PullScope {
  return { namespace: pod.namespace, pullSecrets: pod.imagePullSecrets };
}
