// The routes: which path has which handler, for the TLS listener of the webhooks and the plain admin listener.
//
// | webhook             | failure stance                                                        |
// |---------------------|-----------------------------------------------------------------------|
// | gate a pod          | open: admitted untouched, whatever happens                            |
// | check a config      | closed: a config that cannot be checked is refused, with the reason   |
// | convert a config    | always answers, with a failed Status where it cannot convert          |
import { type Context, Hono } from "hono";
import type { Registry } from "prom-client";
import { WebhookPath } from "../lib/names.ts";
import { type CheckDeps, reviewClusterConfig, reviewNamespaceConfig } from "./check_config.ts";
import { convertReview } from "./conversion.ts";
import { gatePod, type GatePodDeps } from "./gate_pod.ts";
import { exposition, liveness, readiness, type ReadinessChecks } from "./health.ts";
import { loopbackOnly } from "./loopback_only.ts";
import type { LoadLimit } from "../lib/server/load_limit.ts";
import { answering } from "./review_body.ts";

type Handler = (context: Context) => Response | Promise<Response>;

export type AdminPages = Readonly<Record<string, Handler>>;

interface WebhookDeps {
  readonly gate: GatePodDeps;
  readonly check: CheckDeps;
  /** The limit of all routes but the pod webhook, which has its own so that other reviews cannot crowd it out. */
  readonly otherLimit: LoadLimit;
}

export interface AdminDeps {
  readonly registry: Registry;
  /** Brings gauges up to date before they are read. */
  readonly beforeScrape: () => void | Promise<void>;
  readonly ready: readonly ReadinessChecks[];
  readonly pages: AdminPages;
}

export function webhookApp(deps: WebhookDeps): Hono {
  const { otherLimit: limit } = deps;
  const table: readonly (readonly [string, Handler])[] = [
    [WebhookPath.gatePod, gatePod(deps.gate)],
    [WebhookPath.validateClusterConfig, answering(limit, (body) => reviewClusterConfig(body, deps.check))],
    [WebhookPath.validateNamespaceConfig, answering(limit, (body) => reviewNamespaceConfig(body, deps.check))],
    [WebhookPath.convert, answering(limit, (body) => Promise.resolve(convertReview(body)))],
  ];
  const app = new Hono();
  for (const [path, handler] of table) app.post(path, handler);
  return app;
}

export function adminApp({ registry, beforeScrape, ready, pages }: AdminDeps): Hono {
  const app = new Hono();
  app.get("/healthz", liveness());
  app.get("/readyz", readiness(ready));
  app.get("/metrics", exposition(registry, beforeScrape));
  for (const [path, handler] of Object.entries(pages)) app.get(path, loopbackOnly(), handler);
  return app;
}
