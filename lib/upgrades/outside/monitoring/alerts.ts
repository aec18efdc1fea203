// Alerts by Prometheus's instant queries, and Alertmanager's silences. Each call rejects with UpstreamError if it gets
// no answer.
import * as z from "zod";
import {
  criticalAlertsQuery,
  type Interval,
  pagingAlertsQuery,
  withoutOwnAlerts,
} from "../../decide/health/alert_queries.ts";
import { renderExactTime } from "../../../vocabulary/time.ts";
import type { Upstream } from "../http/upstream.ts";
import { Silence } from "../../decide/types/cluster.ts";
import type { SilenceSpec } from "../../decide/types/effects.ts";
import type { OperatorConfig } from "../../decide/types/operator_config.ts";
import { SILENCE_AUTHOR } from "../../decide/silences.ts";
import { UpstreamError } from "../http/upstream_error.ts";

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
  ignored: OperatorConfig["healthCheck"],
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

const PATH = "/api/v2/silences";
const Created = z.object({ silenceID: z.string().min(1) });

export async function listSilences(alertmanager: Upstream, signal: AbortSignal): Promise<readonly Silence[]> {
  const all = await alertmanager.json({ method: "GET", path: PATH }, z.array(Silence), signal);
  return all.filter(({ createdBy }) => createdBy === SILENCE_AUTHOR);
}

/** Creates a silence that starts now. Not idempotent: callers list the silences first. */
export async function createSilence(
  alertmanager: Upstream,
  { comment, matchers, endsAtMs, nowMs }: SilenceSpec & { readonly nowMs: number },
  signal: AbortSignal,
): Promise<void> {
  const body = {
    matchers: matchers.map(({ name, pattern }) => ({ name, value: pattern, isRegex: true, isEqual: true })),
    startsAt: renderExactTime(nowMs),
    endsAt: renderExactTime(endsAtMs),
    createdBy: SILENCE_AUTHOR,
    comment,
  };
  await alertmanager.json({ method: "POST", path: PATH, body }, Created, signal);
}

export async function endSilence(alertmanager: Upstream, id: string, signal: AbortSignal): Promise<void> {
  try {
    await alertmanager.send({ method: "DELETE", path: `/api/v2/silence/${id}` }, signal);
  } catch (error) {
    if (error instanceof UpstreamError && error.status === 404) return;
    // Alertmanager answers 500 for a silence that has expired already.
    const isRefused = error instanceof UpstreamError && error.status >= 400;
    const isOpen = ({ id: one, state }: Silence): boolean => one === id && state !== "expired";
    if (!isRefused || (await listSilences(alertmanager, signal)).some(isOpen)) throw error;
  }
}
