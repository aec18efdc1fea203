// The settings of image builds in the configuration file; docs/image-builds.md has what holds without each.
import * as z from "zod";
import { parseDuration } from "../duration.ts";

const DURATION = "is not a duration like 30s, 5m or 1h30m";

const text = z.string({ error: "is not a text" }).min(1).optional();
const command = z.array(z.string().min(1), { error: "is not a list of texts" }).min(1).optional();
const choice = z.boolean({ error: "is not true or false" }).optional();
const duration = z.string({ error: DURATION }).transform((value, context): number => {
  const ms = parseDuration(value);
  if (ms !== undefined && ms > 0) return ms;
  context.addIssue({ code: "custom", message: DURATION });
  return z.NEVER;
}).optional();

/** `imageBuilds` of the file; what is not named holds as it is without the file. Durations are in ms. */
export const ImageBuildsSchema = z.strictObject({
  builderImage: text,
  builderCommand: command,
  digestImage: text,
  digestCommand: command,
  namespace: text,
  serviceAccount: text,
  requests: z.record(z.string(), z.string(), { error: "is not a map of texts" }).optional(),
  jobDeadline: duration,
  schedulingTimeout: duration,
  retainArchitectures: duration,
  retainImages: z.int({ error: "is not a whole number" }).min(0, "is below zero").optional(),
  maxParallel: z.int({ error: "is not a whole number" }).min(0, "is below zero").optional(),
  alwaysIndex: choice,
  tolerateDedicated: choice,
  cancelSiblings: choice,
  autoResume: choice,
});
