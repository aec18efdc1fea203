// Alerts as Prometheus has them, by instant queries. Each rejects with UpstreamError when Prometheus does not answer.
import * as z from "zod";
import {
  criticalAlertsQuery,
  type IgnoredAlerts,
  type Interval,
  pagingAlertsQuery,
  withoutOwnAlerts,
} from "../../decide/health/alert_queries.ts";
import type { Upstream } from "../http/upstream.ts";

const Answer = z.object({
  status: z.literal("success"),
  data: z.object({
    resultType: z.literal("vector"),
    result: z.array(z.object({
      metric: z.record(z.string(), z.string()),
      value: z.tuple([z.number(), z.string()]),
    })),
  }),
});

export async function firingCriticals(
  prometheus: Upstream,
  ignored: IgnoredAlerts,
  signal: AbortSignal,
): Promise<readonly string[]> {
  return withoutOwnAlerts(await alertNames(prometheus, criticalAlertsQuery(ignored), signal));
}

export async function pagingBetween(
  prometheus: Upstream,
  { nowMs, ...interval }: Interval & { readonly nowMs: number },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const query = pagingAlertsQuery(interval, nowMs);
  return query === undefined ? [] : await alertNames(prometheus, query, signal);
}

async function alertNames(prometheus: Upstream, query: string, signal: AbortSignal): Promise<readonly string[]> {
  const request = { method: "GET", path: "/api/v1/query", query: { query } } as const;
  const { data: { result } } = await prometheus.json(request, Answer, signal);
  const firing = result.filter(({ value: [, value] }) => Number(value) > 0);
  return [...new Set(firing.map(({ metric }) => metric.alertname ?? ""))].toSorted();
}
