// What is recorded of an upgrade whose pools the original's node controller plays, and of the same with the scripted pools.
import { createHash } from "node:crypto";
import { z } from "zod";
import { PROGRAM } from "./controllers.ts";

/** A pool as it was seen, without times. */
export const SeenPoolSchema = z.object({
  metadata: z.object({ name: z.string(), generation: z.number() }),
  spec: z.record(z.string(), z.unknown()),
  status: z.looseObject({ observedGeneration: z.number().optional() }),
});

const ConversationSchema = z.object({
  /** Each state once, in the order in which they were seen; of two that follow each other at once one may be missed. */
  pools: z.record(z.string(), z.array(SeenPoolSchema)),
  /** The most nodes of a pool that were cordoned at a time. */
  cordoned: z.record(z.string(), z.number()),
  asked: z.array(z.string()),
  silences: z.array(z.string()),
  notified: z.array(z.string()),
  /** Steps of the plan in the order in which they were completed. */
  steps: z.array(z.string()),
  phase: z.string(),
});

export const RolloutSchema = z.object({
  original: z.object({ repository: z.string(), commit: z.string() }),
  program: z.object({ path: z.string(), sha256: z.string() }),
  kubernetes: z.string(),
  recorded: z.string(),
  nodeController: ConversationSchema,
  script: ConversationSchema,
});

export type SeenPool = z.infer<typeof SeenPoolSchema>;
export type Conversation = z.infer<typeof ConversationSchema>;
export type Rollout = z.infer<typeof RolloutSchema>;

export const POOLS = { master: 2, worker: 6, infra: 2 } as const;

/** Of what plays and asks: a record by another program is of no use. */
export async function hashOfProgram(): Promise<string> {
  const hash = createHash("sha256");
  const script = "../../cluster/support/simulated_openshift.ts";
  for (const file of ["rollout.ts", "record.ts", "controllers.ts", PROGRAM, script]) {
    hash.update(await Deno.readTextFile(new URL(file, import.meta.url)));
  }
  return hash.digest("hex");
}
