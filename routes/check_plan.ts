// The validating webhook of UpgradeConfigs, which fails closed. Without a ClusterVersion the plan is judged by itself.
import { Hono } from "hono";
import type { Clock } from "../lib/clock.ts";
import type { ReadApi } from "../lib/k8s/api.ts";
import type { LoadLimit } from "../lib/server/load_limit.ts";
import { PlanWebhook } from "../lib/upgrades/names.ts";
import { validatePlanWrite } from "../lib/upgrades/decide/admission/validate_write.ts";
import { readClusterVersion } from "../lib/upgrades/cluster/plan_input.ts";
import type { ClusterVersion } from "../lib/upgrades/decide/types/cluster.ts";
import { CachedValue } from "../lib/upgrades/outside/cached_value.ts";
import { parseWrite, validationReview } from "./admission.ts";
import { answering } from "./review_body.ts";

export interface PlanReviewDeps {
  readonly api: Pick<ReadApi, "get">;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly limit: LoadLimit;
  readonly signal: AbortSignal;
}

/** The ClusterVersion is read at most once in this time (ms), however many reviews come. */
const CLUSTER_VERSION_KEPT_MS = 1_000;

export function planReview(deps: PlanReviewDeps): Hono {
  const kept = { clock: deps.clock, keepMs: CLUSTER_VERSION_KEPT_MS };
  const clusterVersion = new CachedValue(kept, (signal) => readClusterVersion(deps.api, signal).catch(() => undefined));
  const app = new Hono();
  const readVersion = (): Promise<ClusterVersion | undefined> => clusterVersion.get(deps.signal);
  app.post(PlanWebhook.path, answering(deps.limit, (body) => reviewPlan(body, readVersion)));
  return app;
}

async function reviewPlan(
  body: unknown,
  clusterVersion: () => Promise<ClusterVersion | undefined>,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const read = parseWrite(body);
  if (read === undefined) return undefined;
  const { uid, write } = read;
  return validationReview(uid, validatePlanWrite(write, await clusterVersion()));
}
