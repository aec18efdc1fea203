// Drain help: which pods of a cordoned node are helped away, when, and when a drain has failed. Rows M-302 and M-303 (nothing
// is looked at unless workers are being upgraded), and faults of reads and writes, are the shell's: tests/controllers/upgrades.
import assert from "node:assert/strict";
import { parseDisruptionBudget } from "../../../../../lib/vocabulary/disruption_budget.ts";
import type { Node } from "../../../../../lib/vocabulary/node.ts";
import type { KubeObject } from "../../../../../lib/k8s/types.ts";
import {
  actionsOf,
  adviseDrain,
  allStrategies,
  hasDrainFailed,
  needsPods,
} from "../../../../../lib/upgrades/decide/drain/advise.ts";
import { BudgetGatherer, parseDrainPod } from "../../../../../lib/upgrades/decide/drain/parse.ts";
import type {
  DrainAdvice,
  DrainBudgets,
  DrainPod,
  DrainSettings,
  Strategy,
} from "../../../../../lib/upgrades/decide/drain/types.ts";
import { minutes, minutesAgo, node, NOW_MS } from "../make.ts";

const SETTINGS: DrainSettings = {
  mode: "DeleteAndStripFinalizers",
  timeoutMs: minutes(45),
  expectedMs: minutes(8),
  protectedTimeoutMs: minutes(60),
  ignoredNamespaces: [],
};

interface PodSpec extends Partial<KubeObject["metadata"]> {
  readonly node?: string;
  readonly owner?: string;
  /** Whether that owner is its controller. Default true. */
  readonly isControlled?: boolean;
  readonly terminating?: boolean;
}

function pod(name: string, spec: PodSpec = {}): KubeObject {
  const { node = "n", owner = "ReplicaSet", isControlled = true, terminating = false, ...metadata } = spec;
  return {
    metadata: {
      ...{ namespace: "shop", name, uid: `uid-${name}`, labels: {}, ...metadata },
      ownerReferences: [{ apiVersion: "apps/v1", kind: owner, name: "o", uid: "o", controller: isControlled }],
      ...terminating ? { deletionTimestamp: minutesAgo(1) } : {},
    },
    spec: { nodeName: node },
  };
}

function budget(name: string, selector: unknown, namespace = "shop"): KubeObject {
  return { metadata: { namespace, name }, spec: selector === undefined ? {} : { selector } };
}

function gathered(budgets: readonly KubeObject[], maxBytes?: number): DrainBudgets {
  const gatherer = new BudgetGatherer(maxBytes);
  for (const one of budgets) gatherer.add(parseDisruptionBudget(one));
  return gatherer.budgets();
}

function judged(
  pods: readonly KubeObject[],
  { node = "n", budgets = gathered([]), ignoredNamespaces = SETTINGS.ignoredNamespaces } = {},
): readonly DrainPod[] {
  return pods.flatMap((one) => parseDrainPod(one, { node, budgets, ignoredNamespaces }) ?? []);
}

function advise(
  drained: Node,
  { pods = [], budgets = [], settings = {} }: {
    readonly pods?: readonly KubeObject[];
    readonly budgets?: readonly KubeObject[];
    readonly settings?: Partial<DrainSettings>;
  },
): DrainAdvice {
  const { ignoredNamespaces } = { ...SETTINGS, ...settings };
  const own = judged(pods, { node: drained.name, budgets: gathered(budgets), ignoredNamespaces });
  return adviseDrain(drained, { ...SETTINGS, ...settings }, { pods: own, nowMs: NOW_MS });
}

/** `DELETE a, PDB-DELETE b`: what is done. */
function done(advice: DrainAdvice, which: "actions" | "withheld" = "actions"): string {
  if (advice.kind !== "draining") return advice.kind;
  return advice[which].map(({ strategy, pod }) => `${strategy} ${pod.name}`).join(", ");
}

const AFTER_ALL = node("n", { cordonedMinutes: 69 });
const AFTER_TIMEOUT = node("n", { cordonedMinutes: 46 });
const EARLY = node("n", { cordonedMinutes: 44 });

Deno.test("M-300 M-306 M-301 adviseDrain() leaves control plane nodes and uncordoned nodes alone, and others not", () => {
  const labels = { "node-role.kubernetes.io/master": "" };
  assert.equal(advise(node("n", { cordonedMinutes: 99, labels }), {}).kind, "none");
  assert.equal(advise(node("n"), {}).kind, "none");
  assert.equal(advise(EARLY, {}).kind, "draining");
});

Deno.test("M-312 adviseDrain() says so when the time of the cordon is unknown", () => {
  assert.deepEqual(advise(node("n", { cordonedMinutes: "unknown" }), {}), { kind: "unknownStart", node: "n" });
});

Deno.test("needsPods() holds once something may be due on a node that is being drained, and never before", () => {
  assert.equal(needsPods(EARLY, SETTINGS, NOW_MS), false);
  assert.equal(needsPods(AFTER_TIMEOUT, SETTINGS, NOW_MS), true);
  assert.equal(needsPods(node("n"), SETTINGS, NOW_MS), false);
  assert.equal(needsPods(node("n", { cordonedMinutes: "unknown" }), SETTINGS, NOW_MS), false);
  const sooner = { ...SETTINGS, protectedTimeoutMs: minutes(5) };
  assert.equal(needsPods(node("n", { cordonedMinutes: 12 }), sooner, NOW_MS), false);
  assert.equal(needsPods(node("n", { cordonedMinutes: 13 }), sooner, NOW_MS), true);
});

Deno.test("M-310 M-311 M-322 M-324 M-325 adviseDrain() does what is due and nothing else", () => {
  const pods = [
    pod("plain"),
    pod("stripped", { finalizers: ["a/b"] }),
    pod("going", { terminating: true }),
    pod("held", { terminating: true, finalizers: ["a/b"] }),
    pod("protected", { labels: { app: "db" } }),
    pod("kept", { labels: { app: "db" }, finalizers: ["a/b"] }),
    pod("leaving", { labels: { app: "db" }, terminating: true }),
  ];
  const budgets = [budget("db", { matchLabels: { app: "db" } })];
  assert.equal(done(advise(EARLY, { pods, budgets })), "");
  const plain = [
    "DELETE plain, DELETE stripped",
    "DEFAULT-FINALIZER stripped, DEFAULT-FINALIZER held",
    "POD-STUCK-TERMINATING going",
  ].join(", ");
  assert.equal(done(advise(AFTER_TIMEOUT, { pods, budgets })), plain);
  const all = `${plain}, PDB-DELETE protected, PDB-DELETE kept, PDB-FINALIZER kept`;
  assert.equal(done(advise(AFTER_ALL, { pods, budgets })), all);
});

Deno.test("N-023 adviseDrain() has the shorter time first, also where budgets are given less than others", () => {
  const pods = [pod("plain"), pod("protected", { labels: { app: "db" } })];
  const budgets = [budget("db", { matchLabels: { app: "db" } })];
  const settings = { protectedTimeoutMs: minutes(5) };
  assert.equal(done(advise(AFTER_TIMEOUT, { pods, budgets, settings })), "PDB-DELETE protected, DELETE plain");
  assert.equal(done(advise(node("n", { cordonedMinutes: 14 }), { pods, budgets, settings })), "PDB-DELETE protected");
});

Deno.test("M-318 M-327 adviseDrain() touches pods of this node that come back nowhere else: no DaemonSets, no static pods", () => {
  const pods = [
    pod("here"),
    pod("elsewhere", { node: "other" }),
    pod("daemon", { owner: "DaemonSet" }),
    pod("static", { owner: "Node", annotations: { "kubernetes.io/config.mirror": "0123" } }),
  ];
  assert.equal(done(advise(AFTER_ALL, { pods })), "DELETE here");
});

Deno.test("adviseDrain() touches a pod that names a DaemonSet or a node as an owner without being theirs", () => {
  const pods = [pod("a", { owner: "DaemonSet", isControlled: false }), pod("b", { owner: "Node" })];
  assert.equal(done(advise(AFTER_ALL, { pods })), "DELETE a, DELETE b");
});

type BudgetRow = readonly [name: string, isProtected: boolean, selector: unknown, namespace?: string];

const BUDGETS: readonly BudgetRow[] = [
  ["M-319 no selector", false, undefined],
  ["M-320 labels match", true, { matchLabels: { app: "db" } }],
  ["M-320 labels do not match", false, { matchLabels: { app: "web" } }],
  ["one of two labels matches", false, { matchLabels: { app: "db", tier: "gold" } }],
  ["N-020 equal labels in another namespace", false, { matchLabels: { app: "db" } }, "other"],
  ["N-021 only matchExpressions", true, { matchExpressions: [{ key: "app", operator: "In", values: ["db", "kv"] }] }],
  ["matchExpressions that exclude it", false, {
    matchLabels: { app: "db" },
    matchExpressions: [{ key: "canary", operator: "Exists" }],
  }],
  ["an empty selector: the whole namespace", true, {}],
  ["a selector that is larger than what is read: the whole namespace", true, {
    matchExpressions: [{ key: "app", operator: "In", values: Array.from({ length: 65 }, (_, at) => `w${at}`) }],
  }],
];

for (const [name, isProtected, selector, namespace] of BUDGETS) {
  Deno.test(`${name}: a budget protects a pod by namespace and its whole selector`, () => {
    const pods = [pod("p", { labels: { app: "db" } })];
    const budgets = [budget("b", selector, namespace)];
    const early = done(advise(AFTER_TIMEOUT, { pods, budgets }));
    assert.equal(early, isProtected ? "" : "DELETE p");
    assert.equal(done(advise(AFTER_ALL, { pods, budgets })), isProtected ? "PDB-DELETE p" : "DELETE p");
  });
}

Deno.test("M-321 M-326 adviseDrain() leaves pods of ignored namespaces alone, by patterns that are searched for", () => {
  const pods = [pod("a"), pod("b", { namespace: "my-db-1" }), pod("c", { namespace: "kept" })];
  const after = (...patterns: readonly RegExp[]): string =>
    done(advise(AFTER_ALL, { pods, settings: { ignoredNamespaces: patterns } }));
  assert.equal(after(), "DELETE a, DELETE b, DELETE c");
  assert.equal(after(/nothing/), "DELETE a, DELETE b, DELETE c");
  assert.equal(after(/kept/), "DELETE a, DELETE b");
  assert.equal(after(/db-\d/, /^kept$/), "DELETE a");
});

Deno.test("N-022 drain.mode: Observe changes nothing and says what it withholds, Delete strips nothing", () => {
  const pods = [pod("a", { finalizers: ["a/b"] })];
  const observed = advise(AFTER_ALL, { pods, settings: { mode: "Observe" } });
  assert.equal(done(observed), "");
  assert.equal(done(observed, "withheld"), "DELETE a, DEFAULT-FINALIZER a");
  const deleted = advise(AFTER_ALL, { pods, settings: { mode: "Delete" } });
  assert.equal(done(deleted), "DELETE a");
  assert.equal(done(deleted, "withheld"), "DEFAULT-FINALIZER a");
});

Deno.test("M-304 M-305 M-314 M-307 a drain fails under Observe once its time is over, unless the node is being deleted", () => {
  const failed = (drained: Node): boolean => {
    const advice = advise(drained, { pods: [pod("a")], settings: { mode: "Observe" } });
    return advice.kind === "draining" && advice.hasFailed;
  };
  assert.equal(failed(EARLY), false);
  assert.equal(failed(AFTER_TIMEOUT), true);
  assert.equal(failed(node("n", { cordonedMinutes: 46, leaving: true })), false);
});

function failedBy(
  dueAfterMinutes: readonly number[],
  { timeout, elapsed, targets = false }: {
    readonly timeout: number;
    readonly elapsed: number;
    readonly targets?: boolean;
  },
): boolean {
  const strategies: readonly Strategy[] = dueAfterMinutes.map((due) => ({
    ...{ name: "DELETE", dueAfterMs: minutes(due), action: "delete" },
    ...{ isTarget: () => targets, actsOn: () => true },
  }));
  const pods = judged([pod("a")]);
  const settings = { timeoutMs: minutes(timeout), expectedMs: minutes(8) };
  return hasDrainFailed(strategies, { pods, elapsedMs: minutes(elapsed), settings });
}

Deno.test("M-315 M-316 M-317 a drain has failed when the last strategy has had its time, not while one is still to come", () => {
  assert.equal(failedBy([], { timeout: 45, elapsed: 44 }), false, "M-314");
  assert.equal(failedBy([], { timeout: 45, elapsed: 46 }), true, "M-314");
  assert.equal(failedBy([60, 30], { timeout: 45, elapsed: 69 }), true);
  assert.equal(failedBy([60, 30], { timeout: 45, elapsed: 67 }), false);
  assert.equal(failedBy([5, 10], { timeout: 15, elapsed: 31 }), true);
  assert.equal(failedBy([60], { timeout: 45, elapsed: 50, targets: true }), false);
  assert.equal(failedBy([60], { timeout: 45, elapsed: 50 }), true, "a strategy without pods is not waited for");
});

Deno.test("M-309 M-323 no strategies, no actions; a strategy has targets while pods are left", () => {
  const pods = judged([pod("a")]);
  assert.deepEqual(actionsOf([], { pods, elapsedMs: minutes(999) }), []);
  const [first] = allStrategies(SETTINGS);
  assert.deepEqual([first?.name, pods.map((one) => first?.isTarget(one))], ["DELETE", [true]]);
});

function manyBudgets(namespace: string, count: number): readonly KubeObject[] {
  return Array.from({ length: count }, (_, at) => budget(`${at}`, { matchLabels: { app: `${at}` } }, namespace));
}

Deno.test("budgets keep so many bytes altogether: namespaces with the most count as protected whole, others as before", () => {
  const counts = { aaa: 200, shop: 2, zzz: 200, zzzz: 2 };
  const budgets = Object.entries(counts).flatMap(([namespace, count]) => manyBudgets(namespace, count));
  const all = gathered(budgets, 4_000);
  const kept = JSON.stringify([...all]).length;
  assert.ok(kept < 4_500, `${kept} bytes`);
  const isProtected = (namespace: string, app: string): boolean | undefined =>
    judged([pod("p", { namespace, labels: { app } })], { budgets: all })[0]?.isProtected;
  for (const [namespace, elsewhere] of [["aaa", true], ["shop", false], ["zzz", true], ["zzzz", false]] as const) {
    assert.deepEqual([isProtected(namespace, "1"), isProtected(namespace, "other")], [true, elsewhere], namespace);
  }
});

Deno.test("budgets are kept to the byte where they fit, and those that select all pods stand for the others of a namespace", () => {
  const fitting = gathered(manyBudgets("shop", 1_000));
  assert.equal(fitting.get("shop")?.length, 1_000);
  const whole = gathered([...manyBudgets("shop", 2), budget("all", {}), ...manyBudgets("shop", 2)]);
  assert.deepEqual([...whole], [["shop", [{ kind: "everything" }]]]);
  assert.equal(gathered([budget("none", undefined)]).size, 0);
});
