// A whole upgrade by the Managed Upgrade Operator, against the same by Archway, as recorded and as its code decides today: see
// ../README.md.
import assert from "node:assert/strict";
import { Registry } from "prom-client";
import { z } from "zod";
import { cloneForCapacity } from "../../../lib/upgrades/decide/capacity/clones.ts";
import { ocmValueOf, SERVICE_LOG } from "../../../lib/upgrades/decide/notifications/ocm_states.ts";
import { upgraderFor } from "../../../lib/upgrades/decide/steps/upgraders.ts";
import type { Effect } from "../../../lib/upgrades/decide/types/effects.ts";
import {
  controlPlaneSilenceEffects,
  SILENCE_AUTHOR,
  workerSilenceEffects,
} from "../../../lib/upgrades/decide/silences.ts";
import { openUpgradeMetrics } from "../../../lib/upgrades/metrics.ts";
import { read } from "../../cluster/support/cluster_access.ts";
import { machineSet, TO } from "../../cluster/support/simulated_openshift.ts";
import {
  type Conversation,
  hashOfProgram,
  type Metric,
  type Silence,
  type UpgradeRecord,
  UpgradeRecordSchema,
} from "./conversation.ts";

const RECORD = new URL("../records/upgrade.json", import.meta.url);
const MACHINE_SET = z.looseObject({ metadata: z.looseObject({ name: z.string() }) });
const TIMES = ["startTime", "completeTime", "workerStartTime", "workerCompleteTime"];

async function readUpgrades(): Promise<UpgradeRecord> {
  return UpgradeRecordSchema.parse(JSON.parse(await Deno.readTextFile(RECORD)));
}

/** Without empty objects, which Go writes where a member is not set. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([key, member]) => [key, withoutEmpty(member)] as const);
  return Object.fromEntries(members.filter(([, member]) => JSON.stringify(member) !== "{}"));
}

/** What OCM does with it; the sentences are each program's own. */
function meaningOf({ path, body }: Conversation["notifications"][number]): unknown {
  const { value, severity, service_name, log_type, internal_only, cluster_id } = body;
  return { path, value, severity, service_name, log_type, internal_only, cluster_id };
}

function withoutTimes(history: Conversation["history"]): unknown {
  const { notifications: _, ...rest } = history;
  return Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, TIMES.includes(key) ? "time" : value]));
}

/** Without the one for the last node: the MUO looks once a minute, and did not see that moment. */
function comparable(silences: readonly Silence[]): unknown {
  return silences.filter(({ comment }) => !comment.includes("with remaining 1 nodes"));
}

/** Without those that the MUO alone keeps when nothing has failed. */
function comparableMetrics(metrics: readonly Metric[]): unknown {
  return metrics.filter(({ name }) => name !== "upgrade_notification_failed");
}

const SAME: readonly (readonly [what: string, part: (one: Conversation) => unknown])[] = [
  ["the plan that is made of an order", ({ plan: { upgradeAt: _, ...plan } }) => plan],
  ["the phases", ({ phases }) => phases],
  ["the entry of the history", ({ history }) => withoutTimes(history)],
  ["the conditions, with reasons and messages, in order", ({ steps }) => steps],
  ["what the ClusterVersion is asked for", (one) => one.clusterVersions.map(({ upstream: _, ...spec }) => spec)],
  ["the temporary MachineSet", ({ machineSets }) => withoutEmpty(machineSets)],
  ["the writes", ({ writes }) => writes],
  ["the silences", ({ silences }) => comparable(silences)],
  ["the notifications", ({ notifications }) => notifications.map(meaningOf)],
  ["names, labels and values of metrics", ({ metrics }) => comparableMetrics(metrics)],
];

Deno.test("the record of the whole upgrade is of this program", async () => {
  assert.equal((await readUpgrades()).program.sha256, await hashOfProgram(), "record.ts --record writes it anew");
});

for (const [what, part] of SAME) {
  Deno.test(`an upgrade by the MUO and one by Archway agree: ${what}`, async () => {
    const { operator, archway } = await readUpgrades();
    assert.deepEqual(part(archway), part(operator));
  });
}

Deno.test("both upgrades came to their end, with nothing left behind", async () => {
  const { operator, archway } = await readUpgrades();
  for (const { phases, silences, steps } of [operator, archway]) {
    assert.equal(phases.at(-1), "Upgraded");
    assert.ok(silences.length > 0 && silences.every(({ isEnded }) => isEnded));
    assert.ok(steps.length > 0 && steps.every(({ status }) => status === "True"));
  }
});

Deno.test("an upgrade of today takes the steps that the MUO took", async () => {
  const { operator } = await readUpgrades();
  const taken = operator.steps.map(({ type }) => type).toReversed();
  const ids = new Set(upgraderFor("type", "OSD").steps.map(({ id }) => id));
  assert.deepEqual([...ids].filter((id) => taken.includes(id)), taken);
});

function silenceOf(effect: Effect, nowMs: number): unknown {
  if (effect.kind !== "createSilence") return assert.fail(effect.kind);
  const { comment, matchers, endsAtMs } = effect.silence;
  const minutes = Math.round((endsAtMs - nowMs) / 60_000);
  const wanted = matchers.map(({ name, pattern }) => ({ name, value: pattern, isRegex: true }));
  return { createdBy: SILENCE_AUTHOR, comment, matchers: wanted, minutes, isEnded: true };
}

Deno.test("windows of today make the silences that the MUO made", async () => {
  const { operator } = await readUpgrades();
  const nowMs = 0;
  const endOf = (at: number): number => nowMs + (operator.silences[at]?.minutes ?? 0) * 60_000;
  const criticals = ["etcdMembersDown", "ClusterOperatorDown"];
  const effects = [
    ...controlPlaneSilenceEffects({ version: TO, criticals, endsAtMs: endOf(0) }, []),
    ...workerSilenceEffects({ version: TO, remaining: 2, endsAtMs: endOf(2), workerStartMs: nowMs }, []),
  ];
  assert.deepEqual(effects.map((effect) => silenceOf(effect, nowMs)), operator.silences);
});

Deno.test("a temporary MachineSet of today is the one that the MUO made", async () => {
  const { operator: { machineSets } } = await readUpgrades();
  const clone = cloneForCapacity(MACHINE_SET.parse(machineSet("workers-a")));
  const { name, labels } = clone.metadata;
  assert.deepEqual(withoutEmpty([{ name, labels, spec: read(clone, "spec") }]), withoutEmpty(machineSets));
});

Deno.test("states of a policy and service logs of today are those that the MUO sent", async () => {
  const { operator: { notifications } } = await readUpgrades();
  const values = notifications.map(({ body }) => body["value"]).filter((value) => value !== undefined);
  assert.deepEqual([ocmValueOf("StateStarted"), ocmValueOf("StateCompleted")], values);
  const logs = notifications.filter(({ path }) => path.startsWith("POST"));
  assert.equal(logs.length, 3);
  for (const { body } of logs) {
    assert.deepEqual([body["service_name"], body["log_type"], body["severity"]], Object.values(SERVICE_LOG));
  }
});

Deno.test("today's metrics have each name and each label that the MUO's have", async () => {
  const { operator: { metrics } } = await readUpgrades();
  const registry = new Registry();
  openUpgradeMetrics(registry);
  for (const { name, labels } of metrics) {
    const metric = registry.getSingleMetric(name) ?? assert.fail(name);
    assert.deepEqual([read(metric, "labelNames")].flat().map(String).toSorted(), Object.keys(labels).toSorted(), name);
  }
});
