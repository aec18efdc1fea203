// Alerts as Prometheus has them, by instant queries.
import * as z from "zod";
import type { Clock } from "../../../clock.ts";
import {
  criticalAlertsQuery,
  type IgnoredAlerts,
  type Interval,
  pagingAlertsQuery,
  withoutOwnAlerts,
} from "../../decide/health/alert_queries.ts";
import { readJson } from "../http/read_json.ts";
import type { Upstream } from "../http/upstream.ts";

/** Reads alerts. Each call rejects with UpstreamError when Prometheus does not answer. */
export interface AlertReader {
  /** Names of the critical alerts of the platform that fire now, sorted, each once. */
  firingCriticals(ignored: IgnoredAlerts, signal: AbortSignal): Promise<readonly string[]>;
  /** Names of the alerts about upgrades that fired in the interval, sorted. */
  pagingBetween(interval: Interval, signal: AbortSignal): Promise<readonly string[]>;
}

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

export function openAlertReader(
  { upstream, clock }: { readonly upstream: Upstream; readonly clock: Pick<Clock, "nowMs"> },
): AlertReader {
  const alertNames = async (query: string, signal: AbortSignal): Promise<readonly string[]> => {
    const answer = await upstream.send({ method: "GET", path: "/api/v1/query", query: { query } }, signal);
    const { result } = readJson(answer, Answer).data;
    const names = result.filter(({ value: [, value] }) => Number(value) > 0).map(({ metric }) =>
      metric.alertname ?? ""
    );
    return [...new Set(names)].toSorted();
  };
  return {
    firingCriticals: async (ignored, signal) =>
      withoutOwnAlerts(await alertNames(criticalAlertsQuery(ignored), signal)),
    pagingBetween: async (interval, signal) => {
      const query = pagingAlertsQuery(interval, clock.nowMs());
      return query === undefined ? [] : await alertNames(query, signal);
    },
  };
}
