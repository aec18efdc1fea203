// The limits of a soak, and how its result is reported. Pure.
import type { SoakReport } from "./soak.ts";

export interface Goal {
  readonly measure: string;
  readonly value: string;
  readonly target: string;
  readonly isMet: boolean;
}

/** Memory may differ by so much between the beginning and the end of the second half and still be flat. */
const FLAT_MB = 15;
/**
 * So may descriptors. In a short life a burst at its end leaves up to 32 idle connections to the API server, which close
 * after 90 s: only a long one tells a pool from a leak.
 */
const FLAT_DESCRIPTORS = { longLife: 10, shortLife: 40 } as const;
const LONG_LIFE_MINUTES = 10;

/** Of the replicas; a machine that keeps even an idle process waiting for longer says nothing of them. */
const EVENT_LOOP_P99_MS = 50;

/** The goals of a soak. Pods that the webhook missed are allowed up to the calls that the API server let pass. */
export function judgeSoak(report: SoakReport): readonly Goal[] {
  const { fates, failures } = report.load;
  const goals: Goal[] = [
    count("pods stuck", fates.stuck, 0),
    count("pods misplaced", fates.misplaced, 0),
    count("creations refused", failures.length, 0),
    count("pods admitted without the webhook", fates.missed, report.failedWebhookCalls),
  ];
  for (const { name, lifeMinutes, rssMb, descriptors, eventLoopP99Ms } of report.replicas) {
    const flat = lifeMinutes >= LONG_LIFE_MINUTES ? FLAT_DESCRIPTORS.longLife : FLAT_DESCRIPTORS.shortLife;
    goals.push({
      measure: `${name}: memory, first, last, peak`,
      value: `${rssMb.first.toFixed(0)}, ${rssMb.last.toFixed(0)}, ${rssMb.peak.toFixed(0)} MB`,
      target: `grows ≤ ${FLAT_MB} MB (grew ${rssMb.growth.toFixed(1)})`,
      isMet: rssMb.growth <= FLAT_MB,
    }, {
      measure: `${name}: descriptors, first, last, peak`,
      value: `${descriptors.first}, ${descriptors.last}, ${descriptors.peak}`,
      target: `grow ≤ ${flat} (grew ${descriptors.growth})`,
      isMet: descriptors.growth <= flat,
    }, {
      measure: `${name}: event-loop delay p99`,
      value: `≤ ${eventLoopP99Ms} ms`,
      target: `≤ ${EVENT_LOOP_P99_MS} ms, or as an idle process beside it (≤ ${report.idleEventLoopP99Ms} ms)`,
      isMet: eventLoopP99Ms <= Math.max(EVENT_LOOP_P99_MS, report.idleEventLoopP99Ms),
    });
  }
  return goals;
}

function count(measure: string, value: number, most: number): Goal {
  return { measure, value: String(value), target: most === 0 ? "0" : `≤ ${most}`, isMet: value <= most };
}

export function renderSoak(
  report: SoakReport,
  { goals, machine }: { readonly goals: readonly Goal[]; readonly machine: string },
): string {
  const { load, disturbances } = report;
  const done = Object.entries(disturbances).map(([kind, times]) => `${times} × ${kind}`).join(", ");
  return [
    "# Soak",
    "",
    `Written by \`deno task soak --minutes ${report.minutes} --seed ${report.seed}\`. ${machine}`,
    "",
    `${load.created} pods came and went on two replicas; ${done}. Worst gate age ` +
    `${(load.worstGateMs / 1_000).toFixed(1)} s, ${load.fates["given up"]} given up on with a Warning.`,
    "Memory and descriptors are of the second half of each replica's last life.",
    "",
    "| Measure | Value | Target | Met |",
    "| --- | --- | --- | --- |",
    ...goals.map(({ measure, value, target, isMet }) =>
      `| ${measure} | ${value} | ${target} | ${isMet ? "yes" : "no"} |`
    ),
    "",
  ].join("\n");
}
