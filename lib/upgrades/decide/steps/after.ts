// The steps after all nodes were upgraded.
import { decideHealthAfter } from "../health_decision.ts";
import { notificationEffects } from "../notifications/notify.ts";
import type { Step, StepWords } from "../types/steps.ts";
import { done, once, withReading } from "./results.ts";

export const CHECK_HEALTH_AFTER: Step = once({
  id: "ClusterHealthyAfterUpgrade",
  stage: "After",
  title: "Check the cluster's health",
  waitsFor: "as before the upgrade",
  remedy: "as before the upgrade",
  reads: () => ["healthAfter"],
  decide: (observed) => withReading(observed, "healthAfter", (results) => decideHealthAfter({ ...observed, results })),
});

/** In FedRAMP environments, makes the file integrity operator initialise its database of files again. */
export const POST_UPGRADE: Step = once({
  id: "PostUpgradeTasksCompleted",
  stage: "After",
  title: "Tidy up",
  waitsFor: "with `environment.fedramp`: the FileIntegrity is annotated",
  remedy: "the rights, the API server",
  reads: () => [],
  decide: ({ config }) => done(config.environment.fedramp ? [{ kind: "annotateFileIntegrity" }] : []),
});

export const COMPLETED: StepWords = {
  id: "CompletedNotificationSent",
  stage: "After",
  title: "Tell that it is complete",
  waitsFor: "the notification; migration: the look at workloads as well",
  remedy: "as `StartedNotificationSent`",
};

export const SEND_COMPLETED: Step = once({
  ...COMPLETED,
  reads: () => [],
  decide: (observed) => done(notificationEffects("StateCompleted", observed)),
});
