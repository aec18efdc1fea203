// The steps at the end.
import { decideHealthAfter } from "../health_decision.ts";
import { notify } from "../notifications/notify.ts";
import type { Step } from "../types/steps.ts";
import { done, once, wait, withReading } from "./results.ts";

export const CHECK_HEALTH_AFTER: Step = once({
  id: "ClusterHealthyAfterUpgrade",
  reads: () => ["healthAfter"],
  decide: (observed) =>
    withReading(observed, "healthAfter", (results) => {
      const { isBlocked, message, effects } = decideHealthAfter({ ...observed, results });
      return isBlocked ? wait(message, effects) : done(effects);
    }),
});

/** In regulated environments: has the file integrity operator take its database of files anew. */
export const POST_UPGRADE: Step = once({
  id: "PostUpgradeTasksCompleted",
  reads: () => [],
  decide: ({ config }) =>
    done(
      config.environment.fedramp
        ? [{ kind: "annotateFileIntegrity", annotations: { "file-integrity.openshift.io/re-init": "" } }]
        : [],
    ),
});

export const SEND_COMPLETED: Step = once({
  id: "CompletedNotificationSent",
  reads: () => [],
  decide: (observed) => done(notify("StateCompleted", observed)),
});
