// The front door: which request goes where. Two tables: the TLS webhooks and the plain admin listener. Mounted by main.
//
// | webhook             | failure stance                                                        |
// |---------------------|-----------------------------------------------------------------------|
// | gate a pod          | open: admitted untouched, whatever happens                            |
// | check a config      | closed: a config that cannot be checked is refused, with the reason   |
// | convert a config    | always answers, with a failed Status where it cannot convert          |
import { type Context, Hono } from "hono";
import { WebhookPath } from "../lib/names.ts";
import type { Gauges, Metrics } from "../lib/metrics.ts";
import { type CheckDeps, reviewClusterConfig, reviewNamespaceConfig } from "./check_config.ts";
import { convertReview } from "./conversion.ts";
import { gatePod, type GatePodDeps } from "./gate_pod.ts";
import { exposition, liveness, readiness, type ReadinessChecks } from "./health.ts";
import { readJson } from "./admission.ts";

type Handler = (context: Context) => Response | Promise<Response>;

/** What the TLS listener needs. */
export interface WebhookDeps {
  readonly gate: GatePodDeps;
  readonly check: CheckDeps;
}

/** What the admin listener needs. */
export interface AdminDeps {
  readonly metrics: Metrics;
  readonly gauges: () => Gauges;
  readonly ready: ReadinessChecks;
  /** Further pages by path: the dashboard, the state of registries. */
  readonly pages: Readonly<Record<string, Handler>>;
}

/** The webhooks, as the API server calls them. */
export function webhookApp(parts: WebhookDeps): Hono {
  const table: readonly (readonly [string, Handler])[] = [
    [WebhookPath.gatePod, gatePod(parts.gate)],
    [WebhookPath.validateClusterConfig, answering((body) => reviewClusterConfig(body, parts.check))],
    [WebhookPath.validateNamespaceConfig, answering((body) => reviewNamespaceConfig(body, parts.check))],
    [WebhookPath.convert, answering((body) => Promise.resolve(convertReview(body)))],
  ];
  const app = new Hono();
  for (const [path, handler] of table) app.post(path, handler);
  return app;
}

/** Health, metrics and pages for people. */
export function adminApp({ metrics, gauges, ready, pages }: AdminDeps): Hono {
  const app = new Hono();
  app.get("/healthz", liveness());
  app.get("/readyz", readiness(ready));
  app.get("/metrics", exposition(metrics, gauges));
  for (const [path, handler] of Object.entries(pages)) app.get(path, handler);
  return app;
}

/** Reads a JSON body and sends the answer; 400 when there is none to give, 413 when the body is too large. */
function answering(answer: (body: unknown) => Promise<Readonly<Record<string, unknown>> | undefined>): Handler {
  return async (context) => {
    const read = await readJson(context);
    if (read.kind === "unreadable") {
      return context.json({ error: `Cannot read the review: ${read.reason}.` }, read.status);
    }
    const answered = await answer(read.body);
    return answered === undefined
      ? context.json({ error: "Cannot read the review: not a review." }, 400)
      : context.json(answered);
  };
}
