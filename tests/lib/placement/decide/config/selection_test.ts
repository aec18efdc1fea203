import assert from "node:assert/strict";
import {
  fallbackArchitecture,
  isScoringWanted,
  selectConfigs,
} from "../../../../../lib/placement/decide/config/selection.ts";
import type { NamespaceConfig } from "../../../../../lib/placement/decide/config/config.ts";
import { AMD64, ARM64, make, ppc, type Row, rows } from "../make.ts";

type Labels = Readonly<Record<string, string>> | undefined;

function selected(labels: Labels, all: readonly NamespaceConfig[]): readonly string[] {
  const pod = make.view(make.pod({}, labels === undefined ? {} : { labels }));
  return selectConfigs(pod, make.configs(undefined, ...all)).namespace.map(({ name }) => name);
}

function selects(
  id: string,
  [labels, selectors]: readonly [Labels, readonly unknown[]],
  expected: readonly number[],
): Row {
  const all = selectors.map((selector, index) => ppc(`ppc-${index + 1}`, { selector }));
  const title = `selectConfigs() selects [${expected}] of ${JSON.stringify(selectors)} for ${JSON.stringify(labels)}`;
  return [id, title, () => assert.deepEqual(selected(labels, all), expected.map((number) => `ppc-${number}`))];
}

const is = (matchLabels: Record<string, string>): unknown => ({ matchLabels });
const when = (key: string, operator: string, ...values: readonly string[]): unknown => ({
  matchExpressions: [{ key, operator, ...(values.length === 0 ? {} : { values }) }],
});

function wants(id: string, all: readonly NamespaceConfig[], expected: boolean): Row {
  const title = `isScoringWanted() is ${expected} for ${JSON.stringify(all.map(({ scoring }) => scoring.enabled))}`;
  return [id, title, () => {
    assert.equal(isScoringWanted(selectConfigs(make.view(make.pod()), make.configs(undefined, ...all))), expected);
  }];
}

const ON = ppc("on", { enabled: true });
const OFF = ppc("off", { enabled: false });

rows([
  selects("PM-84", [{ app: "test" }, []], []),
  selects("PM-85", [{ app: "test", env: "prod" }, [is({ app: "test" })]], [1]),
  selects("PM-86", [{ app: "test" }, [is({ app: "other" })]], []),
  selects("PM-87", [{ app: "test", tier: "backend" }, [
    is({ app: "test" }),
    is({ app: "other" }),
    is({ tier: "backend" }),
  ]], [1, 3]),
  selects("PM-88", [{ app: "test" }, [is({ app: "test" }), is({ "invalid~key": "x" })]], [1]),
  selects("PM-89", [{ app: "test" }, [null]], [1]),
  selects("PM-90", [undefined, [{}]], [1]),
  selects("PM-91", [{ app: "test" }, [when("app", "In", "test", "prod")]], [1]),
  wants("PM-92", [], false),
  wants("PM-93", [ON], true),
  wants("PM-94", [OFF], false),
  wants("PM-95", [ppc("none")], false),
  wants("PM-96", [OFF, OFF], false),
  wants("PM-97", [OFF, ON], true),
  wants("PM-98", [ON, ON], true),
  selects("PM-99", [undefined, [when("app", "Exists")]], []),
  selects("PM-100", [{ env: "prod" }, [when("env", "NotIn", "dev", "staging")]], [1]),
  selects("PM-101", [{ app: "test" }, [when("debug", "DoesNotExist")]], [1]),
  selects("PM-102", [{ app: "myapp", env: "prod", version: "v2" }, [
    { matchLabels: { app: "myapp" }, matchExpressions: [{ key: "env", operator: "In", values: ["prod", "staging"] }] },
    when("version", "NotIn", "v1"),
    is({ app: "otherapp" }),
  ]], [1, 2]),
  selects("PM-103", [{ app: "test" }, [is({ "invalid~key1": "x" }), is({ "another-invalid@key": "x" })]], []),
]);

Deno.test("DV-66 selectConfigs() orders equal priorities by age, then by name", () => {
  const all = [
    ppc("young", { priority: 5, created: "2026-03-01T00:00:00Z" }),
    ppc("b", { priority: 5 }),
    ppc("a", { priority: 5 }),
    ppc("low", { priority: 1 }),
    ppc("high", { priority: 9 }),
  ];
  assert.deepEqual(selected(undefined, all), ["high", "a", "b", "young", "low"]);
});

Deno.test("selectConfigs() takes only configs of the pod's namespace", () => {
  const foreign = { ...ppc("foreign"), namespace: "elsewhere" };
  assert.deepEqual(selected(undefined, [foreign, ppc("ours")]), ["ours"]);
});

Deno.test("fallbackArchitecture() is that of the most important namespace config that names one, else the cluster's", () => {
  const low = ppc("low", { priority: 1, fallback: AMD64 });
  const high = ppc("high", { priority: 9 });
  const deaf = ppc("deaf", { priority: 99, fallback: "s390x", selector: is({ no: "pod" }) });
  const chosen = (...all: Parameters<typeof make.configs>): string | undefined =>
    fallbackArchitecture(selectConfigs(make.view(make.pod()), make.configs(...all)));
  const cluster = make.clusterConfig({ fallback: ARM64 });
  assert.equal(chosen(cluster, low, high, deaf), AMD64);
  assert.equal(chosen(cluster, high), ARM64);
  assert.equal(chosen(undefined, high), undefined);
});
