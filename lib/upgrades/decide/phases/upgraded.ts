// Phase Upgraded: how it went is reported.
import type { Effect } from "../types/effects.ts";
import type { Part, ReconcileEnd } from "../types/steps.ts";
import { read } from "../steps/run.ts";
import { apply, failed, settled, type Turn } from "./turn.ts";

/** A notification that was not sent by now is not waited for any more. */
const NOTHING_WAITS: Effect = { kind: "clearMetric", metric: "upgrade_notification_failed" };

export function* reconcileUpgraded({ entry }: Turn): Part<ReconcileEnd> {
  const { alertsDuring } = yield* read(["alertsDuring"]);
  if (alertsDuring?.kind !== "observed") {
    yield* apply([NOTHING_WAITS]);
    return failed(`Cannot read the alerts during the upgrade: ${alertsDuring?.why ?? "no answer"}`);
  }
  const { version, precedingVersion } = entry;
  const failure = yield* apply([{
    kind: "setMetric",
    metric: "upgradeoperator_upgrade_result",
    labels: {
      preceding_version: precedingVersion,
      stream: streamOf(precedingVersion, version),
      version,
      alerts: alertsDuring.value.join(","),
    },
    value: alertsDuring.value.length === 0 ? 1 : 0,
  }, NOTHING_WAITS]);
  return failure === undefined ? settled() : failed(failure);
}

/** `y` when the minor version changed, `z` when it did not; the major one is not compared. */
export function streamOf(from: string, to: string): "y" | "z" | "unknown" {
  const [before, after] = [from, to].map((version) => /^\d+\.(\d+)\.\d+/.exec(version)?.[1]);
  if (before === undefined || after === undefined) return "unknown";
  return before === after ? "z" : "y";
}
