// Silences that a window opens and ends. Those there are were made by the operator, in this upgrade: see README.md.
import {
  controlPlaneSilenceEffects,
  endSilenceEffects,
  SILENCE_AUTHOR,
  workerSilenceEffects,
} from "../../../lib/upgrades/decide/silences.ts";
import type { Effect } from "../../../lib/upgrades/decide/types/effects.ts";
import type { Draw, Subject } from "../subject.ts";

const CALLS = ["controlPlane", "worker", "endControlPlane", "endWorker"] as const;

interface Given {
  readonly call: typeof CALLS[number];
  readonly version: string;
  readonly count: number;
  readonly criticals: readonly string[];
  readonly endsAt: string;
  readonly silences: readonly {
    readonly id: string;
    readonly comment: string;
    readonly createdBy: string;
    readonly endsAt: string;
    readonly status: { readonly state: "active" | "expired" };
  }[];
}

const END = "2026-03-01T12:00:00.000Z";
const EXPIRED = "2026-03-01T11:00:00.000Z";
const WORKER_START = "2026-03-01T10:00:00.000Z";

function drawGiven(draw: Draw): Given {
  const call = draw.pick(CALLS);
  const drawVersion = (): string => `4.${20 + draw.below(2)}.${draw.below(2)}`;
  const [version, count] = [drawVersion(), draw.below(3)];
  const comments = [
    () => `Silence for OSD control plane upgrade to version ${drawVersion()}`,
    () => `Silence for critical alerts during OSD control plane upgrade to version ${drawVersion()}`,
    () => `Silence for OSD worker node upgrade to version ${drawVersion()} with remaining ${draw.below(3)} nodes`,
    () => `Silence for OSD worker node upgrade to version ${version} with remaining ${count} nodes`,
  ] as const;
  // Of one window for workers at a time there is one.
  const active = ([0, 1, 2] as const).filter(() => draw.chance(0.5));
  const expired = call === "controlPlane" ? [] : ([2, 3] as const).filter(() => draw.chance(0.3));
  const ended = { endsAt: EXPIRED, status: { state: "expired" } } as const;
  return {
    ...{ call, version, count, endsAt: END },
    criticals: draw.pick([[], ["KubeAPIDown"], ["KubeAPIDown", "etcdMembersDown"]]),
    silences: [...active, ...expired].map((kind, at) => ({
      ...{ id: `silence-${at}`, comment: comments[kind](), createdBy: SILENCE_AUTHOR },
      ...at < active.length ? { endsAt: END, status: { state: "active" } } : ended,
    })),
  };
}

function effectsOf({ call, version, count, criticals, endsAt, silences }: Given): readonly Effect[] {
  const [there, endsAtMs] = [
    silences.map((one) => ({ ...one, state: one.status.state, endsAtMs: Date.parse(one.endsAt) })),
    Date.parse(endsAt),
  ];
  switch (call) {
    case "controlPlane":
      return controlPlaneSilenceEffects({ version, criticals, endsAtMs }, there);
    case "worker":
      return workerSilenceEffects(
        { version, remaining: count, endsAtMs, workerStartMs: Date.parse(WORKER_START) },
        there,
      );
    case "endControlPlane":
      return endSilenceEffects("controlPlane", there);
    case "endWorker":
      return endSilenceEffects("workers", there);
  }
}

export const SILENCES: Subject<Given> = {
  name: "silences",
  original: "managed-upgrade-operator",
  ask: "silences",
  count: 400,
  kept: 200,
  draw: drawGiven,
  ours(given): unknown {
    const effects = effectsOf(given);
    return {
      created: effects.flatMap((effect) =>
        effect.kind !== "createSilence" ? [] : [{
          comment: effect.silence.comment,
          createdBy: SILENCE_AUTHOR,
          endsAt: new Date(effect.silence.endsAtMs).toISOString(),
          startsAt: null,
          matchers: effect.silence.matchers.map(({ name, pattern }) => ({ name, value: pattern, isRegex: true })),
        }]
      ),
      ended: effects.flatMap((effect) => effect.kind === "endSilence" ? [effect.id] : []),
    };
  },
};
