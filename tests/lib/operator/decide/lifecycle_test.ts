import assert from "node:assert/strict";
import fc from "fast-check";
import { Finalizer } from "../../../../lib/names.ts";
import {
  ABANDON_AFTER,
  decideOperandStep,
  MONITOR_DRAIN_MS,
  OPERAND_RULES,
  type OperandRule,
  UNSERVED_GRACE_MS,
  UNTAINT_MS,
} from "../../../../lib/operator/decide/lifecycle.ts";
import type {
  MonitorFacts,
  OperandFacts,
  OperandFinalizer,
  OperandStep,
} from "../../../../lib/operator/decide/operand_step.ts";
import { makeFacts, makeMonitor, makeOperandConfig } from "./make.ts";

const { podPlacement, noPodPlacementConfig, enoexecEvents } = Finalizer;

function leaving(finalizers: readonly string[], overrides: Partial<OperandFacts> = {}): OperandFacts {
  const config = makeOperandConfig({ deletingSinceMs: 1, finalizers });
  return makeFacts({ config, webhook: "absent", leavingForMs: 1_000, ...overrides });
}

function uninstalling(overrides: Partial<OperandFacts> = {}): OperandFacts {
  return makeFacts({ installation: "uninstalling", webhook: "absent", ...overrides });
}

/** One word a step: `apply webhook`, `remove finalizers…/pod-placement`, `wait PodsStillGated`. */
function wordOf(step: OperandStep): string {
  if (step.kind === "done") return "done";
  if (step.kind === "wait") return `wait ${step.reason}`;
  return `${step.kind} ${step.target === "finalizer" ? step.finalizer.split("/")[1] : step.target}`;
}

/** A config that stays, with the plugin on or off, and the finalizers that it has. */
function monitored(
  plugin: "on" | "off",
  monitor: Partial<MonitorFacts>,
  finalizers: readonly string[] = [podPlacement, enoexecEvents],
): OperandFacts {
  const config = makeOperandConfig({ enoexecEnabled: plugin === "on", finalizers });
  return makeFacts({ config, monitor: makeMonitor({ hasImage: true, ...monitor }) });
}

function monitorRows(): typeof TABLE {
  const patientMs = MONITOR_DRAIN_MS - 1;
  const removal = "remove events";
  return [
    [
      "117 adds the enoexec finalizer before the DaemonSet",
      monitored("on", {}, [podPlacement]),
      "apply enoexec-events",
    ],
    [
      "117 adds it to Archway's own Deployment before the DaemonSet",
      monitored("on", { daemonSet: "absent", handler: "free" }),
      "apply handler",
    ],
    [
      "232 lets a Deployment go that somebody deletes while the plugin is on",
      monitored("on", { daemonSet: "current", handler: "leaving" }),
      "remove handler",
    ],
    [
      "119 makes the DaemonSet at once, whatever pull secrets its account has",
      monitored("on", { daemonSet: "absent" }),
      "apply monitor",
    ],
    ["120 leaves a DaemonSet that is as it should be", monitored("on", { daemonSet: "current" }), "done"],
    ["sets a DaemonSet right that somebody changed", monitored("on", { daemonSet: "drifted" }), "apply monitor"],
    ["makes no DaemonSet while no image is named", monitored("on", { daemonSet: "absent", hasImage: false }), "done"],
    ["goes on without a DaemonSet that it may not make", monitored("on", { daemonSet: "refused" }), "done"],
    ["waits until a DaemonSet that is being deleted is gone", monitored("on", { daemonSet: "leaving" }), "done"],
    [
      "193 removes the DaemonSet first when the plugin is off",
      monitored("off", { daemonSet: "current" }),
      "remove monitor",
    ],
    [
      "203 waits for the daemons before it looks at events",
      monitored("off", { daemonSet: "leaving", settledEvents: 1 }),
      "wait DaemonSetLeaving",
    ],
    [
      "118 121 removes errored events and waits for no handler",
      monitored("off", { daemonSet: "absent", settledEvents: 2, pendingEvents: 1 }),
      removal,
    ],
    [
      "118 123 waits for events without the error label",
      monitored("off", { daemonSet: "absent", pendingEvents: 1 }),
      "wait EventsPending",
    ],
    [
      "removes events that nobody works off",
      monitored("off", { daemonSet: "absent", pendingEvents: 1, leavingForMs: MONITOR_DRAIN_MS }),
      removal,
    ],
    [
      "waits as long as it may",
      monitored("off", { daemonSet: "leaving", leavingForMs: patientMs }),
      "wait DaemonSetLeaving",
    ],
    [
      "goes on although a DaemonSet does not go",
      monitored("off", { daemonSet: "leaving", leavingForMs: MONITOR_DRAIN_MS }),
      "remove enoexec-events",
    ],
    [
      "goes without events that something holds",
      monitored("off", { pendingEvents: 1, leavingForMs: MONITOR_DRAIN_MS, isForced: true }),
      "remove enoexec-events",
    ],
    [
      "118 122 drops the enoexec finalizer when no event is left",
      monitored("off", { daemonSet: "absent" }),
      "remove enoexec-events",
    ],
    [
      "204 takes the monitor away before the webhook of a leaving config",
      leaving([podPlacement, enoexecEvents], { webhook: "current", monitor: makeMonitor({ daemonSet: "current" }) }),
      "remove monitor",
    ],
    [
      "204 keeps the webhook of a leaving config while an event is pending",
      leaving([podPlacement, enoexecEvents], { webhook: "current", monitor: makeMonitor({ pendingEvents: 1 }) }),
      "wait EventsPending",
    ],
    [
      "118 204 keeps the Deployment of the handler while an event is pending",
      leaving([podPlacement, enoexecEvents], { monitor: makeMonitor({ handler: "held", pendingEvents: 1 }) }),
      "wait EventsPending",
    ],
    [
      "118 lets the Deployment of the handler go before the finalizer of the config",
      monitored("off", { daemonSet: "absent", handler: "held" }),
      "remove handler",
    ],
    [
      "lets the Deployment go that is deleted on the way out, once no event is left",
      monitored("off", { daemonSet: "absent", handler: "leaving" }),
      "remove handler",
    ],
    [
      "lets the Deployment go of a config without the finalizer",
      monitored("off", { daemonSet: "absent", handler: "held" }, [podPlacement]),
      "remove handler",
    ],
    [
      "leaves a Deployment alone that it does not hold",
      monitored("off", { daemonSet: "absent", handler: "free" }),
      "remove enoexec-events",
    ],
    [
      "goes on without a Deployment that is not ours to hold",
      monitored("on", { daemonSet: "absent", handler: "foreign" }),
      "apply monitor",
    ],
    [
      "lets the Deployment go when there is no config, before the rights",
      makeFacts({
        config: undefined,
        installation: "held",
        webhook: "absent",
        monitor: makeMonitor({ handler: "held" }),
      }),
      "remove handler",
    ],
    [
      "lets the Deployment go when it is uninstalled, before the rights",
      uninstalling({ config: undefined, monitor: makeMonitor({ handler: "held" }) }),
      "remove handler",
    ],
    [
      "takes the DaemonSet away when it is uninstalled",
      uninstalling({
        config: makeOperandConfig({ finalizers: [enoexecEvents] }),
        monitor: makeMonitor({ daemonSet: "current" }),
      }),
      "remove monitor",
    ],
  ];
}

const TABLE: readonly (readonly [title: string, facts: OperandFacts, expected: string])[] = [
  [
    "88 adds the finalizer first",
    makeFacts({ config: makeOperandConfig({ finalizers: [] }), webhook: "absent" }),
    "apply pod-placement",
  ],
  [
    "128 adds the local-config finalizer when namespace configs exist",
    makeFacts({ hasNamespaceConfigs: true }),
    "apply no-pod-placement-config",
  ],
  [
    "129 drops the local-config finalizer when the last one went",
    makeFacts({ config: makeOperandConfig({ finalizers: [podPlacement, noPodPlacementConfig] }) }),
    "remove no-pod-placement-config",
  ],
  ["creates the webhook when it is missing", makeFacts({ webhook: "absent" }), "apply webhook"],
  ["85 repairs the webhook when it drifted", makeFacts({ webhook: "drifted" }), "apply webhook"],
  ["93 has nothing to do when all is well", makeFacts(), "done"],
  [
    "makes no webhook when no replica serves",
    makeFacts({ webhook: "absent", unservedForMs: 1 }),
    "wait NoReplicaServes",
  ],
  [
    "keeps the webhook for a moment without replicas",
    makeFacts({ unservedForMs: UNSERVED_GRACE_MS - 1 }),
    "wait NoReplicaServes",
  ],
  [
    "removes the webhook when no replica serves for long",
    makeFacts({ unservedForMs: UNSERVED_GRACE_MS }),
    "remove webhook",
  ],
  [
    "drops the enoexec finalizer of the MTO when the plugin is off",
    makeFacts({ config: makeOperandConfig({ finalizers: [podPlacement, enoexecEvents] }) }),
    "remove enoexec-events",
  ],
  [
    "leaves the enoexec finalizer alone while the plugin is on",
    makeFacts({ config: makeOperandConfig({ finalizers: [podPlacement, enoexecEvents], enoexecEnabled: true }) }),
    "done",
  ],
  ...monitorRows(),
  [
    "125 waits when the config leaves while namespace configs exist",
    leaving([podPlacement, noPodPlacementConfig], { hasNamespaceConfigs: true, webhook: "current" }),
    "wait NamespaceConfigsExist",
  ],
  [
    "126 drops the local-config finalizer of a leaving config",
    leaving([podPlacement, noPodPlacementConfig]),
    "remove no-pod-placement-config",
  ],
  [
    "221 removes the webhook before it looks at gates",
    leaving([podPlacement], { webhook: "current", gatedPods: 3 }),
    "remove webhook",
  ],
  ["91 waits for gated pods", leaving([podPlacement], { gatedPods: 1 }), "wait PodsStillGated"],
  [
    "lifts gates by force when they are too old",
    leaving([podPlacement], { gatedPods: 1, leavingForMs: 60_000 }),
    "remove gates",
  ],
  [
    "pauses between attempts of force",
    leaving([podPlacement], { gatedPods: 1, leavingForMs: 61_000, forced: { attempts: 1, agoMs: 10 } }),
    "wait PodsStillGated",
  ],
  [
    "goes without the last gates when they cannot be lifted",
    leaving([podPlacement], {
      gatedPods: 1,
      leavingForMs: 60_000 * ABANDON_AFTER.gateAges,
      forced: { attempts: ABANDON_AFTER.attempts, agoMs: 5_000 },
    }),
    "remove pod-placement",
  ],
  [
    "never gives up before it tried force",
    leaving([podPlacement], { gatedPods: 1, leavingForMs: 9e9 }),
    "remove gates",
  ],
  [
    "drops the enoexec finalizer of the MTO from a leaving config",
    leaving([podPlacement, enoexecEvents]),
    "remove enoexec-events",
  ],
  [
    "waits until no node carries an architecture taint, webhook and gates being away",
    leaving([podPlacement], { taints: "carried" }),
    "wait NodesStillTainted",
  ],
  [
    "takes the webhook of a leaving config away before it waits for the taints",
    leaving([podPlacement], { taints: "carried", webhook: "current" }),
    "remove webhook",
  ],
  [
    "goes with the taints when they cannot be taken off",
    leaving([podPlacement], { taints: "carried", leavingForMs: UNTAINT_MS }),
    "remove pod-placement",
  ],
  [
    "keeps its account while nodes carry taints and the config is gone",
    makeFacts({ config: undefined, webhook: "absent", taints: "carried" }),
    "wait NodesStillTainted",
  ],
  [
    "takes the taints off itself when it is uninstalled, before its finalizers",
    uninstalling({ taints: "carried" }),
    "remove taints",
  ],
  ["90 drops the last finalizer when nothing is held", leaving([podPlacement]), "remove pod-placement"],
  ["has nothing to do for a leaving config that holds none of ours", leaving(["other/finalizer"]), "done"],
  [
    "removes the webhook when the config vanished",
    makeFacts({ config: undefined, webhook: "drifted" }),
    "remove webhook",
  ],
  [
    "waits for gated pods when the config vanished",
    makeFacts({ config: undefined, webhook: "absent", gatedPods: 2 }),
    "wait PodsStillGated",
  ],
  [
    "lifts gates by force when the config vanished long ago",
    makeFacts({ config: undefined, webhook: "absent", gatedPods: 2, leavingForMs: 60_001 }),
    "remove gates",
  ],
  [
    "holds its account before the webhook exists",
    makeFacts({ installation: "free", webhook: "absent" }),
    "apply uninstallFinalizers",
  ],
  ["holds nothing that the manifests did not install", makeFacts({ installation: "foreign" }), "done"],
  [
    "lets its account go when there is no config and nothing is left",
    makeFacts({ config: undefined, webhook: "absent", installation: "held" }),
    "remove uninstallFinalizers",
  ],
  [
    "takes the webhook away first when it is uninstalled",
    uninstalling({ webhook: "current", gatedPods: 2 }),
    "remove webhook",
  ],
  [
    "lifts gates at once when it is uninstalled: there is no time to wait",
    uninstalling({ gatedPods: 2, leavingForMs: 0 }),
    "remove gates",
  ],
  [
    "drops all of its finalizers when it is uninstalled, whatever namespace configs there are",
    uninstalling({ hasNamespaceConfigs: true }),
    "remove pod-placement",
  ],
  [
    "lets its account go last when it is uninstalled",
    uninstalling({ config: makeOperandConfig({ finalizers: [] }) }),
    "remove uninstallFinalizers",
  ],
  ["has nothing to do once it has left", makeFacts({ installation: "left", webhook: "absent" }), "done"],
  [
    "rests when there is no config and nothing is left",
    makeFacts({ config: undefined, webhook: "absent", installation: "free" }),
    "done",
  ],
];
for (const [title, facts, expected] of TABLE) {
  const [, rows = "", says = ""] = /^((?:[A-Z]?\d[\d.]* )*)(.*)$/.exec(title) ?? [];
  Deno.test(`${rows}decideOperandStep() ${says}`, () => assert.equal(wordOf(decideOperandStep(facts).step), expected));
}

const finalizer = fc.constantFrom<OperandFinalizer>(podPlacement, noPodPlacementConfig, enoexecEvents);
const anyFacts: fc.Arbitrary<OperandFacts> = fc.record({
  config: fc.option(
    fc.record({
      finalizers: fc.uniqueArray(fc.oneof(finalizer, fc.constant("other/x"))),
      deletingSinceMs: fc.option(fc.constant(1), { nil: undefined }),
      enoexecEnabled: fc.boolean(),
    }).map(makeOperandConfig),
    { nil: undefined },
  ),
  hasNamespaceConfigs: fc.boolean(),
  webhook: fc.constantFrom("absent", "current", "drifted"),
  unservedForMs: fc.constantFrom(0, 1, 40_000),
  gatedPods: fc.nat(3),
  leavingForMs: fc.nat(400_000),
  taints: fc.constantFrom("none", "carried"),
  maxGateAgeMs: fc.constant(60_000),
  forced: fc.record({ attempts: fc.nat(7), agoMs: fc.nat(3_000) }),
  installation: fc.constantFrom("foreign", "free", "held", "uninstalling"),
  monitor: fc.record({
    daemonSet: fc.constantFrom("absent", "current", "drifted", "leaving", "refused", "unread"),
    handler: fc.constantFrom("foreign", "free", "held", "leaving"),
    hasImage: fc.boolean(),
    settledEvents: fc.nat(2),
    pendingEvents: fc.nat(2),
    leavingForMs: fc.nat(90_000),
    isForced: fc.boolean(),
  }),
});

Deno.test("every rule of the operand's lifecycle decides in one case or another, and has a name of its own", () => {
  const decided = new Set<string>();
  fc.assert(
    fc.property(anyFacts, (facts) => {
      decided.add(decideOperandStep(facts).rule);
    }),
    { numRuns: 5_000, seed: 1 },
  );
  for (const rules of Object.values<readonly OperandRule[]>(OPERAND_RULES)) {
    const names = rules.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    assert.deepEqual(names.filter((name) => !decided.has(name)), []);
  }
});

function letGo({ installation }: OperandFacts): OperandFacts["installation"] {
  return installation === "uninstalling" ? "left" : "free";
}

/** The facts after a step was carried out, or after the wait it asked for. */
function follow(facts: OperandFacts, step: OperandStep): OperandFacts {
  const { config } = facts;
  if (step.kind === "done") return facts;
  if (step.kind === "wait") {
    const { forced } = facts;
    return {
      ...facts,
      leavingForMs: facts.leavingForMs + step.retryMs,
      unservedForMs: facts.unservedForMs === 0 ? 0 : facts.unservedForMs + step.retryMs,
      monitor: { ...facts.monitor, leavingForMs: facts.monitor.leavingForMs + step.retryMs },
      forced: { ...forced, agoMs: forced.agoMs + step.retryMs },
    };
  }
  if (step.target === "webhook") return { ...facts, webhook: step.kind === "apply" ? "current" : "absent" };
  if (step.target === "uninstallFinalizers") {
    return { ...facts, installation: step.kind === "apply" ? "held" : letGo(facts) };
  }
  // Force that never succeeds: the worst case for leaving.
  if (step.target === "gates") return { ...facts, forced: { attempts: facts.forced.attempts + 1, agoMs: 0 } };
  if (step.target === "taints") return { ...facts, taints: "none" };
  if (step.target === "handler") {
    return { ...facts, monitor: { ...facts.monitor, handler: followHandler(facts, step) } };
  }
  if (step.target === "monitor" || step.target === "events") return { ...facts, monitor: followMonitor(facts, step) };
  if (config === undefined) return facts;
  const others = config.finalizers.filter((name) => name !== step.finalizer);
  return { ...facts, config: { ...config, finalizers: step.kind === "apply" ? [...others, step.finalizer] : others } };
}

function followHandler(
  { monitor: { handler } }: OperandFacts,
  step: Extract<OperandStep, { readonly target: "handler" }>,
): OperandFacts["monitor"]["handler"] {
  if (step.kind === "apply") return "held";
  return handler === "leaving" ? "foreign" : "free";
}

/** A DaemonSet that never goes, and events that something holds: the worst case. */
function followMonitor(
  { monitor, installation }: OperandFacts,
  step: Extract<OperandStep, { readonly target: "monitor" | "events" }>,
): OperandFacts["monitor"] {
  if (step.target === "events") {
    return step.which === "all" ? { ...monitor, isForced: true } : { ...monitor, settledEvents: 0 };
  }
  if (step.kind === "apply") return { ...monitor, daemonSet: "current" };
  return { ...monitor, daemonSet: installation === "uninstalling" ? "absent" : "leaving" };
}

Deno.test("invariant 1: a leaving config always gets away, unless namespace configs hold it", () => {
  fc.assert(fc.property(anyFacts, (start) => {
    if (start.config === undefined || start.config.deletingSinceMs === undefined || start.hasNamespaceConfigs) return;
    let facts = start;
    for (let steps = 0; steps < 2_000; steps++) {
      const { step } = decideOperandStep(facts);
      if (step.kind === "done") break;
      if (step.kind === "remove" && step.target === "finalizer" && step.finalizer === podPlacement) {
        assert.equal(facts.webhook, "absent", "the webhook goes first");
      }
      facts = follow(facts, step);
    }
    assert.equal(decideOperandStep(facts).step.kind, "done");
    assert.ok(facts.config?.finalizers.every((name) => name === "other/x"));
    assert.ok(["foreign", "free"].includes(facts.monitor.handler), "its Deployment is let go");
  }));
});

Deno.test("property: a config that stays ends with its webhook while a replica serves", () => {
  fc.assert(fc.property(anyFacts, (start) => {
    if (start.config === undefined || start.config.deletingSinceMs !== undefined || start.unservedForMs > 0) return;
    if (start.installation === "uninstalling") return;
    let facts = start;
    for (let steps = 0; steps < 200; steps++) facts = follow(facts, decideOperandStep(facts).step);
    assert.equal(decideOperandStep(facts).step.kind, "done");
    assert.equal(facts.webhook, "current");
    assert.ok(facts.config?.finalizers.includes(podPlacement));
    assert.equal(facts.config?.finalizers.includes(enoexecEvents), start.config.enoexecEnabled);
    assert.ok(["foreign", start.config.enoexecEnabled ? "held" : "free"].includes(facts.monitor.handler));
    assert.equal(facts.config?.finalizers.includes(noPodPlacementConfig), facts.hasNamespaceConfigs);
  }));
});
