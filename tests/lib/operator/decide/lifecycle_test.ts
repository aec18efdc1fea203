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

function leaving(overrides: Partial<OperandFacts> = {}, finalizers: readonly string[] = [podPlacement]): OperandFacts {
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

function gone(overrides: Partial<OperandFacts>): OperandFacts {
  return makeFacts({ config: undefined, webhook: "absent", ...overrides });
}

const WITH_NAMESPACE_CONFIGS = [podPlacement, noPodPlacementConfig];
const WITH_MONITOR = [podPlacement, enoexecEvents];

/** A config that leaves while its plugin was on. */
function leavingMonitored(monitor: Partial<MonitorFacts>, webhook: OperandFacts["webhook"] = "absent"): OperandFacts {
  return leaving({ webhook, monitor: makeMonitor(monitor) }, WITH_MONITOR);
}

/** The plugin is on. */
function on(monitor: Partial<MonitorFacts>, finalizers = WITH_MONITOR, monitorsExecFormat = true): OperandFacts {
  const config = makeOperandConfig({ monitorsExecFormat, finalizers });
  return makeFacts({ config, monitor: makeMonitor({ hasImage: true, ...monitor }) });
}

/** The plugin is off, and the daemons are away unless it is said otherwise. */
function off(monitor: Partial<MonitorFacts>, finalizers = WITH_MONITOR): OperandFacts {
  return on({ daemonSet: "absent", ...monitor }, finalizers, false);
}

/** The step that each state leads to, by {@link wordOf}. */
const TABLE: Readonly<Record<string, readonly (readonly [title: string, facts: OperandFacts])[]>> = {
  "apply enoexec-events": [["117 adds the enoexec finalizer before the DaemonSet", on({}, [podPlacement])]],
  "apply ownDeployment": [
    [
      "117 adds it to Archway's own Deployment before the DaemonSet",
      on({ daemonSet: "absent", ownDeployment: "withoutFinalizer" }),
    ],
  ],
  "apply monitor": [
    ["119 makes the DaemonSet at once, whatever pull secrets its account has", on({ daemonSet: "absent" })],
    ["sets a DaemonSet right that somebody changed", on({ daemonSet: "drifted" })],
    ["goes on without a Deployment that is not ours to hold", on({ daemonSet: "absent", ownDeployment: "foreign" })],
  ],
  "apply no-pod-placement-config": [
    ["128 adds the local-config finalizer when namespace configs exist", makeFacts({ hasNamespaceConfigs: true })],
  ],
  "apply pod-placement": [
    ["88 adds the finalizer first", makeFacts({ config: makeOperandConfig({ finalizers: [] }), webhook: "absent" })],
  ],
  "apply uninstallFinalizers": [
    ["holds its account before the webhook exists", makeFacts({ installation: "withoutFinalizer", webhook: "absent" })],
  ],
  "apply webhook": [
    ["creates the webhook when it is missing", makeFacts({ webhook: "absent" })],
    ["85 repairs the webhook when it drifted", makeFacts({ webhook: "drifted" })],
  ],
  done: [
    ["93 has nothing to do when all is well", makeFacts()],
    ["leaves the enoexec finalizer alone while the plugin is on", on({ hasImage: false })],
    ["120 leaves a DaemonSet that is as it should be", on({ daemonSet: "current" })],
    ["makes no DaemonSet while no image is named", on({ daemonSet: "absent", hasImage: false })],
    ["goes on without a DaemonSet that it may not make", on({ daemonSet: "refused" })],
    ["waits until a DaemonSet that is being deleted is gone", on({ daemonSet: "deleting" })],
    ["has nothing to do for a leaving config that holds none of ours", leaving({}, ["other/finalizer"])],
    ["holds nothing that the manifests did not install", makeFacts({ installation: "foreign" })],
    ["has nothing to do once it has left", makeFacts({ installation: "left", webhook: "absent" })],
    ["rests when there is no config and nothing is left", gone({ installation: "withoutFinalizer" })],
  ],
  "remove enoexec-events": [
    ["drops the enoexec finalizer of the MTO when the plugin is off", off({ hasImage: false, daemonSet: "unread" })],
    ["goes on although a DaemonSet does not go", off({ daemonSet: "deleting", leavingForMs: MONITOR_DRAIN_MS })],
    [
      "goes without events that something holds",
      off({ daemonSet: "unread", pendingEvents: 1, leavingForMs: MONITOR_DRAIN_MS, isForced: true }),
    ],
    ["118 122 drops the enoexec finalizer when no event is left", off({})],
    ["leaves a Deployment alone that it does not hold", off({ ownDeployment: "withoutFinalizer" })],
    ["drops the enoexec finalizer of the MTO from a leaving config", leavingMonitored({})],
  ],
  "remove events": [
    ["118 121 removes errored events and waits for no handler", off({ handledEvents: 2, pendingEvents: 1 })],
    ["removes events that nobody works off", off({ pendingEvents: 1, leavingForMs: MONITOR_DRAIN_MS })],
  ],
  "remove gates": [
    ["lifts gates by force when they are too old", leaving({ gatedPods: 1, leavingForMs: 60_000 })],
    ["never gives up before it tried force", leaving({ gatedPods: 1, leavingForMs: 9e9 })],
    ["lifts gates by force when the config vanished long ago", gone({ gatedPods: 2, leavingForMs: 60_001 })],
    ["lifts gates at once when it is uninstalled, for want of time", uninstalling({ gatedPods: 2, leavingForMs: 0 })],
  ],
  "remove ownDeployment": [
    [
      "232 lets a Deployment go that somebody deletes while the plugin is on",
      on({ daemonSet: "current", ownDeployment: "deleting" }),
    ],
    [
      "118 lets the Deployment of the handler go before the finalizer of the config",
      off({ ownDeployment: "withFinalizer" }),
    ],
    [
      "lets the Deployment go that is deleted on the way out, once no event is left",
      off({ ownDeployment: "deleting" }),
    ],
    [
      "lets the Deployment go of a config without the finalizer",
      off({ ownDeployment: "withFinalizer" }, [podPlacement]),
    ],
    [
      "lets the Deployment go when there is no config, before the rights",
      gone({ installation: "withFinalizer", monitor: makeMonitor({ ownDeployment: "withFinalizer" }) }),
    ],
    [
      "lets the Deployment go when it is uninstalled, before the rights",
      uninstalling({ config: undefined, monitor: makeMonitor({ ownDeployment: "withFinalizer" }) }),
    ],
  ],
  "remove monitor": [
    ["193 removes the DaemonSet first when the plugin is off", off({ daemonSet: "current" })],
    [
      "204 takes the monitor away before the webhook of a leaving config",
      leavingMonitored({ daemonSet: "current" }, "current"),
    ],
    [
      "takes the DaemonSet away when it is uninstalled",
      uninstalling({
        config: makeOperandConfig({ finalizers: [enoexecEvents] }),
        monitor: makeMonitor({ daemonSet: "current" }),
      }),
    ],
  ],
  "remove no-pod-placement-config": [
    [
      "129 drops the local-config finalizer when the last one went",
      makeFacts({ config: makeOperandConfig({ finalizers: WITH_NAMESPACE_CONFIGS }) }),
    ],
    ["126 drops the local-config finalizer of a leaving config", leaving({}, WITH_NAMESPACE_CONFIGS)],
  ],
  "remove pod-placement": [
    [
      "goes without the last gates when they cannot be lifted",
      leaving({
        gatedPods: 1,
        leavingForMs: 60_000 * ABANDON_AFTER.gateAges,
        forced: { attempts: ABANDON_AFTER.attempts, agoMs: 5_000 },
      }),
    ],
    ["goes with the taints when they cannot be taken off", leaving({ taints: "carried", leavingForMs: UNTAINT_MS })],
    ["90 drops the last finalizer when nothing is held", leaving()],
    [
      "drops all of its finalizers when it is uninstalled, whatever namespace configs there are",
      uninstalling({ hasNamespaceConfigs: true }),
    ],
  ],
  "remove taints": [
    ["takes the taints off itself when it is uninstalled, before its finalizers", uninstalling({ taints: "carried" })],
  ],
  "remove uninstallFinalizers": [
    ["lets its account go when there is no config and nothing is left", gone({ installation: "withFinalizer" })],
    ["lets its account go last when uninstalled", uninstalling({ config: makeOperandConfig({ finalizers: [] }) })],
  ],
  "remove webhook": [
    ["removes the webhook when no replica serves for long", makeFacts({ unservedForMs: UNSERVED_GRACE_MS })],
    ["221 removes the webhook before it looks at gates", leaving({ webhook: "current", gatedPods: 3 })],
    ["takes the webhook away before it waits for the taints", leaving({ taints: "carried", webhook: "current" })],
    ["removes the webhook when the config vanished", makeFacts({ config: undefined, webhook: "drifted" })],
    ["takes the webhook away first when it is uninstalled", uninstalling({ webhook: "current", gatedPods: 2 })],
  ],
  "wait DaemonSetLeaving": [
    ["203 waits for the daemons before it looks at events", off({ daemonSet: "deleting", handledEvents: 1 })],
    ["waits as long as it may", off({ daemonSet: "deleting", leavingForMs: MONITOR_DRAIN_MS - 1 })],
  ],
  "wait EventsPending": [
    ["118 123 waits for events without the error label", off({ pendingEvents: 1 })],
    [
      "204 keeps the webhook of a leaving config while an event is pending",
      leavingMonitored({ pendingEvents: 1 }, "current"),
    ],
    [
      "118 204 keeps the Deployment of the handler while an event is pending",
      leavingMonitored({ ownDeployment: "withFinalizer", pendingEvents: 1 }),
    ],
  ],
  "wait NamespaceConfigsExist": [
    [
      "125 waits when the config leaves while namespace configs exist",
      leaving({ hasNamespaceConfigs: true, webhook: "current" }, WITH_NAMESPACE_CONFIGS),
    ],
  ],
  "wait NoReplicaServes": [
    ["makes no webhook when no replica serves", makeFacts({ webhook: "absent", unservedForMs: 1 })],
    ["keeps the webhook for a moment without replicas", makeFacts({ unservedForMs: UNSERVED_GRACE_MS - 1 })],
  ],
  "wait NodesStillTainted": [
    ["waits until no node carries an architecture taint, webhook and gates being away", leaving({ taints: "carried" })],
    ["keeps its account while nodes carry taints and the config is gone", gone({ taints: "carried" })],
  ],
  "wait PodsStillGated": [
    ["91 waits for gated pods", leaving({ gatedPods: 1 })],
    ["pauses between attempts", leaving({ gatedPods: 1, leavingForMs: 61_000, forced: { attempts: 1, agoMs: 10 } })],
    ["waits for gated pods when the config vanished", gone({ gatedPods: 2 })],
  ],
};

for (const [expected, cases] of Object.entries(TABLE)) {
  for (const [title, facts] of cases) {
    const [, rows = "", says = ""] = /^((?:[A-Z]?\d[\d.]* )*)(.*)$/.exec(title) ?? [];
    Deno.test(`${rows}decideOperandStep() ${says}`, () =>
      assert.equal(wordOf(decideOperandStep(facts).step), expected));
  }
}

const finalizer = fc.constantFrom<OperandFinalizer>(podPlacement, noPodPlacementConfig, enoexecEvents);
const anyFacts: fc.Arbitrary<OperandFacts> = fc.record({
  config: fc.option(
    fc.record({
      finalizers: fc.uniqueArray(fc.oneof(finalizer, fc.constant("other/x"))),
      deletingSinceMs: fc.option(fc.constant(1), { nil: undefined }),
      monitorsExecFormat: fc.boolean(),
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
  installation: fc.constantFrom("foreign", "withoutFinalizer", "withFinalizer", "uninstalling"),
  monitor: fc.record({
    daemonSet: fc.constantFrom("absent", "current", "drifted", "deleting", "refused", "unread"),
    ownDeployment: fc.constantFrom("foreign", "withoutFinalizer", "withFinalizer", "deleting"),
    hasImage: fc.boolean(),
    handledEvents: fc.nat(2),
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
  return installation === "uninstalling" ? "left" : "withoutFinalizer";
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
    return { ...facts, installation: step.kind === "apply" ? "withFinalizer" : letGo(facts) };
  }
  // Force that never succeeds: the worst case for leaving.
  if (step.target === "gates") return { ...facts, forced: { attempts: facts.forced.attempts + 1, agoMs: 0 } };
  if (step.target === "taints") return { ...facts, taints: "none" };
  if (step.target === "ownDeployment") {
    return { ...facts, monitor: { ...facts.monitor, ownDeployment: followOwnDeployment(facts, step) } };
  }
  if (step.target === "monitor" || step.target === "events") return { ...facts, monitor: followMonitor(facts, step) };
  if (config === undefined) return facts;
  const others = config.finalizers.filter((name) => name !== step.finalizer);
  return { ...facts, config: { ...config, finalizers: step.kind === "apply" ? [...others, step.finalizer] : others } };
}

function followOwnDeployment(
  { monitor: { ownDeployment } }: OperandFacts,
  step: Extract<OperandStep, { readonly target: "ownDeployment" }>,
): OperandFacts["monitor"]["ownDeployment"] {
  if (step.kind === "apply") return "withFinalizer";
  return ownDeployment === "deleting" ? "foreign" : "withoutFinalizer";
}

/** A DaemonSet that never goes, and events that something holds: the worst case. */
function followMonitor(
  { monitor, installation }: OperandFacts,
  step: Extract<OperandStep, { readonly target: "monitor" | "events" }>,
): OperandFacts["monitor"] {
  if (step.target === "events") {
    return step.which === "all" ? { ...monitor, isForced: true } : { ...monitor, handledEvents: 0 };
  }
  if (step.kind === "apply") return { ...monitor, daemonSet: "current" };
  return { ...monitor, daemonSet: installation === "uninstalling" ? "absent" : "deleting" };
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
    assert.ok(["foreign", "withoutFinalizer"].includes(facts.monitor.ownDeployment), "its Deployment is let go");
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
    assert.equal(facts.config?.finalizers.includes(enoexecEvents), start.config.monitorsExecFormat);
    assert.ok(
      ["foreign", start.config.monitorsExecFormat ? "withFinalizer" : "withoutFinalizer"].includes(
        facts.monitor.ownDeployment,
      ),
    );
    assert.equal(facts.config?.finalizers.includes(noPodPlacementConfig), facts.hasNamespaceConfigs);
  }));
});
