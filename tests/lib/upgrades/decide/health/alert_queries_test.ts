import assert from "node:assert/strict";
import {
  criticalAlertsQuery,
  pagingAlertsQuery,
  withoutOwnAlerts,
} from "../../../../../lib/upgrades/decide/health/alert_queries.ts";

const BASE = 'alertstate="firing",severity="critical",namespace=~"^openshift.*|^kube-.*|^default$"';

Deno.test("M-220 criticalAlertsQuery() asks for critical alerts of the platform that fire", () => {
  assert.equal(criticalAlertsQuery({ ignoredCriticals: [], ignoredNamespaces: [] }), `ALERTS{${BASE}}`);
});

Deno.test("M-241 M-242 criticalAlertsQuery() leaves out ignored namespaces, then ignored alerts", () => {
  const ignored = { ignoredCriticals: ["A", "B"], ignoredNamespaces: ["openshift-logging", "n"] };
  const clauses = 'namespace!="openshift-logging",namespace!="n",alertname!="A",alertname!="B"';
  assert.equal(criticalAlertsQuery(ignored), `ALERTS{${BASE},${clauses}}`);
});

Deno.test("criticalAlertsQuery() keeps a name of the configuration one value", () => {
  const query = criticalAlertsQuery({ ignoredCriticals: ['a"} or vector(1) #\\'], ignoredNamespaces: [] });
  assert.equal(query, `ALERTS{${BASE},alertname!="a\\"} or vector(1) #\\\\"}`);
});

Deno.test("M-037 pagingAlertsQuery() looks back over the upgrade from its end", () => {
  const query = pagingAlertsQuery({ startMs: 1_000_000, endMs: 4_600_500 }, 4_720_900) ?? "";
  const begin = 'sum by (alertname) (max_over_time(ALERTS{alertstate="firing",severity="critical",alertname=~"';
  assert.ok(query.startsWith(begin), query);
  assert.ok(query.endsWith('ArchwayUpgradeNodeDrainSlow"}[3601s] offset 120s))'), query);
  assert.ok(pagingAlertsQuery({ startMs: 0, endMs: 1_000 }, 1_000)?.endsWith("[1s]))"));
});

Deno.test("N-030 pagingAlertsQuery() asks nothing of an interval that ends before it begins", () => {
  assert.equal(pagingAlertsQuery({ startMs: 2_000, endMs: 1_000 }, 3_000), undefined);
  assert.ok(pagingAlertsQuery({ startMs: 1_000, endMs: 2_000 }, 500)?.endsWith("[1s]))"), "the clock went back");
});

Deno.test("withoutOwnAlerts() keeps a failing health check from failing because of its own alert", () => {
  assert.deepEqual(withoutOwnAlerts(["EtcdDown", "ArchwayUpgradeHealthChecksFail"]), ["EtcdDown"]);
});
