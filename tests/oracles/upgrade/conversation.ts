// What is recorded of a whole upgrade by the Managed Upgrade Operator, and of the same by Archway.
import { createHash } from "node:crypto";
import { z } from "zod";

const MatcherSchema = z.object({ name: z.string(), value: z.string(), isRegex: z.boolean() });

const SilenceSchema = z.object({
  createdBy: z.string(),
  comment: z.string(),
  matchers: z.array(MatcherSchema),
  /** As it was made: from its begin to its end. */
  minutes: z.number(),
  /** Whether it was ended before that. */
  isEnded: z.boolean(),
});

const StepSchema = z.object({ type: z.string(), status: z.string(), reason: z.string(), message: z.string() });

const NotificationSchema = z.object({ path: z.string(), body: z.record(z.string(), z.unknown()) });

const MetricSchema = z.object({
  name: z.string(),
  labels: z.record(z.string(), z.string()),
  /** `time` for a time that lies within the upgrade. */
  value: z.union([z.number(), z.literal("time")]),
});

const ConversationSchema = z.object({
  /** The specification of the plan that was made of OCM's policy. */
  plan: z.record(z.string(), z.unknown()),
  /** Phases in the order in which they were seen; one that is left at once may be missed. */
  phases: z.array(z.string()),
  /** Members of the entry of the history, at the end. */
  history: z.record(z.string(), z.unknown()),
  /** Conditions of that entry, as they are listed. */
  steps: z.array(StepSchema),
  /** Each specification of the ClusterVersion, in order. */
  clusterVersions: z.array(z.record(z.string(), z.unknown())),
  /** The temporary MachineSet: its labels and its specification. */
  machineSets: z.array(z.record(z.string(), z.unknown())),
  /** Requests that changed something of the cluster: verb, resource, name. */
  writes: z.array(z.string()),
  silences: z.array(SilenceSchema),
  notifications: z.array(NotificationSchema),
  /** Type and reason of the events about the plan. */
  events: z.array(z.string()),
  metrics: z.array(MetricSchema),
});

export const UpgradeRecordSchema = z.object({
  original: z.object({ repository: z.string(), commit: z.string() }),
  program: z.object({ path: z.string(), sha256: z.string() }),
  kubernetes: z.string(),
  recorded: z.string(),
  operator: ConversationSchema,
  archway: ConversationSchema,
});

export type Conversation = z.infer<typeof ConversationSchema>;
export type Silence = z.infer<typeof SilenceSchema>;
export type Metric = z.infer<typeof MetricSchema>;
export type UpgradeRecord = z.infer<typeof UpgradeRecordSchema>;

/** Of what asks: a record by another program is of no use. */
export async function hashOfProgram(): Promise<string> {
  const hash = createHash("sha256");
  for (const file of ["conversation.ts", "monitoring.ts", "observe.ts", "operator.ts", "record.ts"]) {
    hash.update(await Deno.readTextFile(new URL(file, import.meta.url)));
  }
  return hash.digest("hex");
}
