import assert from "node:assert/strict";
import { renderTime } from "../../../../../lib/vocabulary/time.ts";
import {
  describeState,
  notificationEffects,
  withNotified,
} from "../../../../../lib/upgrades/decide/notifications/notify.ts";
import type { HistoryEntry, NotificationState, StepCondition } from "../../../../../lib/upgrades/decide/types/plan.ts";
import {
  controlPlaneSilenceEffects,
  endSilenceEffects,
  isAnySilenceActive,
  workerSilenceEffects,
} from "../../../../../lib/upgrades/decide/silences.ts";
import type { Silence } from "../../../../../lib/upgrades/decide/types/cluster.ts";
import { makeHistory, makePlan, makeSilence, NOW_MS, START, TO, wordsOf } from "../make_plan.ts";

const PLAN = makePlan();

Deno.test("M-365 notificationEffects() gives nothing for what was sent", () => {
  const entry = makeHistory({ notifications: [{ state: "StateStarted", sentTime: renderTime(1) }] });
  assert.deepEqual(notificationEffects("StateStarted", { plan: PLAN, entry }), []);
});

Deno.test("M-366 N-017 notificationEffects() gives what was not sent, and withNotified() remembers it with its time, once", () => {
  const entry = makeHistory();
  const effects = notificationEffects("StateStarted", { plan: PLAN, entry });
  assert.deepEqual(wordsOf(effects), ["StateStarted"]);
  const sent = withNotified(entry, [...effects, ...effects], NOW_MS);
  assert.deepEqual(sent.notifications, [{ state: "StateStarted", sentTime: renderTime(NOW_MS) }]);
  assert.deepEqual(notificationEffects("StateStarted", { plan: PLAN, entry: sent }), []);
  assert.equal(withNotified(sent, effects, NOW_MS + 1), sent);
});

Deno.test("the id of a notification is the same for the same event, and another for any other", () => {
  const idOf = (state: NotificationState, entry: Partial<HistoryEntry> = {}): string => {
    const [effect] = notificationEffects(state, { plan: PLAN, entry: makeHistory(entry) });
    return effect?.kind === "notify" ? effect.notification.id : "";
  };
  assert.equal(idOf("StateStarted"), idOf("StateStarted", { startTime: renderTime(1) }));
  const ids = [
    idOf("StateStarted"),
    idOf("StateDelayed"),
    idOf("StateStarted", { version: "4.17.3" }),
    idOf("StateStarted", { architecture: "Multi" }),
  ];
  assert.equal(new Set(ids).size, ids.length);
});

function open(type: string, message = "why"): readonly StepCondition[] {
  return [{ type, status: "False", reason: "", message }, { type: "Earlier", status: "True", reason: "", message: "" }];
}

const REASONS: readonly (readonly [string, RegExp])[] = [
  ["ClusterHealthyBeforeUpgrade", /not healthy/],
  ["ExternalDependenciesAvailable", /does not answer/],
  ["ComputeCapacityReserved", /temporary workers/],
  ["UpgradeCommenced", /a step before it has not been completed/],
];

for (const [row, state] of [["M-368", "StateFailed"], ["M-369", "StateDelayed"]] as const) {
  Deno.test(`${row} ${state} says why by the step that is open`, () => {
    const textOf = (conditions: readonly StepCondition[]): string =>
      describeState(state, { entry: makeHistory({ conditions }), upgradeAt: START, findings: "" });
    for (const [type, expected] of REASONS) assert.match(textOf(open(type)), expected, type);
    assert.equal(/remove the API/.test(textOf(open("IsClusterUpgradable", "remove the API"))), state === "StateFailed");
    assert.match(textOf([]), /a step before it/);
    assert.equal(/retry/.test(textOf([])), state === "StateDelayed");
  });
}

Deno.test("every state has words with the version, those of a migration its payload", () => {
  const states = [
    ...["StateStarted", "StateCompleted", "StateScaleSkipped", "StateSkipped", "StatePreHealthCheckSL"],
    ...["StateHealthCheckSL", "StateControlPlaneStartedSL", "StateControlPlaneFinishedSL"],
    "StateWorkerPlaneFinishedSL",
    ...["StateMultiArchCapable", "StateMigrationStuck"],
  ] as const;
  for (const profile of ["type", "multiarch-migration"] as const) {
    const texts = states.map((state) =>
      describeState(state as NotificationState, { entry: makeHistory({ profile }), upgradeAt: START, findings: "X" })
    );
    for (const text of texts) assert.match(text, /4\.17\.2/);
    assert.equal(texts[0]?.includes("multi-architecture payload"), profile !== "type");
  }
});

const CRITICALS = { version: TO, criticals: ["A", "B"], endsAtMs: NOW_MS };

function silence(comment: string, overrides: Partial<Silence> = {}): Silence {
  return { ...makeSilence(comment), id: comment, endsAtMs: NOW_MS, ...overrides };
}

Deno.test("M-350 controlPlaneSilenceEffects() makes two silences, one when no critical alert is expected", () => {
  assert.deepEqual(
    controlPlaneSilenceEffects(CRITICALS, []).map((effect) =>
      effect.kind === "createSilence" ? effect.silence : effect
    ),
    [
      {
        comment: "Silence for OSD control plane upgrade to version 4.17.2",
        matchers: [
          { name: "severity", pattern: "(warning|info)" },
          { name: "namespace", pattern: "(^openshift.*|^kube.*|^redhat.*|^default$)" },
        ],
        endsAtMs: NOW_MS,
      },
      {
        comment: "Silence for critical alerts during OSD control plane upgrade to version 4.17.2",
        matchers: [{ name: "alertname", pattern: "(A|B)" }],
        endsAtMs: NOW_MS,
      },
    ],
  );
  assert.equal(controlPlaneSilenceEffects({ ...CRITICALS, criticals: [] }, []).length, 1);
});

Deno.test("N-019 a silence that has expired, or is another's, is made again; one that holds is not", () => {
  const comment = "Silence for OSD control plane upgrade to version 4.17.2";
  const made = (overrides: Partial<Silence>): number =>
    controlPlaneSilenceEffects({ ...CRITICALS, criticals: [] }, [silence(comment, overrides)]).length;
  assert.deepEqual([made({}), made({ state: "pending" })], [0, 0]);
  assert.deepEqual([made({ state: "expired" }), made({ createdBy: "me" })], [1, 1]);
});

const LEFT = "Silence for OSD worker node upgrade to version 4.17.2 with remaining";

Deno.test("M-352 M-353 M-354 workerSilenceEffects() makes a silence, keeps it, and replaces it when fewer nodes are left", () => {
  const words = (remaining: number, silences: readonly Silence[]): readonly string[] => {
    const window = { version: TO, remaining, endsAtMs: NOW_MS, workerStartMs: NOW_MS - 60_000 };
    return workerSilenceEffects(window, silences).map((effect) => {
      if (effect.kind === "createSilence") return effect.silence.comment;
      return effect.kind === "endSilence" ? `end ${effect.id}` : effect.kind;
    });
  };
  assert.deepEqual(words(3, []), [`${LEFT} 3 nodes`]);
  assert.deepEqual(words(3, [silence(`${LEFT} 3 nodes`)]), []);
  assert.deepEqual(words(2, [silence(`${LEFT} 3 nodes`)]), [`end ${LEFT} 3 nodes`, `${LEFT} 2 nodes`]);
});

Deno.test("M-352 workerSilenceEffects() lets one that ran out since the workers began stay out, and opens one of an earlier attempt anew", () => {
  const expired = silence(`${LEFT} 3 nodes`, { state: "expired" });
  const opened = (workerStartMs: number | undefined): number =>
    workerSilenceEffects({ version: TO, remaining: 3, endsAtMs: NOW_MS, workerStartMs }, [expired]).length;
  assert.deepEqual([opened(NOW_MS - 1), opened(NOW_MS), opened(undefined)], [0, 1, 1]);
  const foreign = { ...expired, createdBy: "me" };
  const window = { version: TO, remaining: 3, endsAtMs: NOW_MS, workerStartMs: NOW_MS - 1 };
  assert.equal(workerSilenceEffects(window, [foreign]).length, 1);
});

Deno.test("M-355 M-356 endSilenceEffects() ends the own silences that hold, of the part that is over", () => {
  const all = [
    silence("Silence for OSD control plane upgrade to version 4.17.2"),
    silence(`${LEFT} 3 nodes`),
    silence("Silence for OSD control plane upgrade to version 4.17.1", { state: "expired" }),
    silence("OSD control plane, by hand", { createdBy: "me" }),
    silence("something else"),
  ];
  assert.deepEqual(endSilenceEffects("controlPlane", []), []);
  assert.deepEqual(endSilenceEffects("controlPlane", all), [{ kind: "endSilence", id: all[0]?.id }]);
  assert.deepEqual(endSilenceEffects("workers", all), [{ kind: "endSilence", id: all[1]?.id }]);
  assert.equal(endSilenceEffects("all", all).length, 2);
  assert.deepEqual([isAnySilenceActive(all), isAnySilenceActive(all.slice(2, 4))], [true, false]);
});
