// The settings of image builds in the configuration file, with their defaults; docs/image-builds.md explains them.
import * as z from "zod";
import { Duration } from "../vocabulary/duration.ts";

const text = z.string({ error: "is not a text" }).min(1);
const command = z.array(z.string().min(1), { error: "is not a list of texts" }).min(1);
const choice = z.boolean({ error: "is not true or false" }).default(false);
const repository = z.string({ error: "is not a text" })
  .regex(/^[^\s/@]+(?:\/[^\s/@:]+)+$/, "is not REGISTRY/REPOSITORY, without a tag");
const count = z.int({ error: "is not a whole number" }).min(0, "is below zero");

/** `imageBuilds` of the file. Durations are in ms. */
export const ImageBuildsSchema = z.strictObject({
  /** Image and program of the build; empty: the image of the machine config operator, and our script for `buildah`. */
  builderImage: text.default(""),
  builderCommand: command.default([]),
  /** Image and program that reports the digest; empty: chosen by the version of OpenShift. */
  digestImage: text.default(""),
  digestCommand: command.default([]),
  namespace: text.default("openshift-machine-config-operator"),
  serviceAccount: text.default("machine-os-builder"),
  requests: z.record(z.string(), z.string(), { error: "is not a map of texts" }).default({}),
  /** `registry/repository` that Jobs push to if architectures are joined; empty: the repository of the push spec. */
  stagingRepository: repository.or(z.literal("")).default(""),
  jobDeadline: Duration.default(90 * 60_000),
  schedulingTimeout: Duration.default(15 * 60_000),
  retainArchitectures: Duration.default(60 * 60_000),
  retainImages: count.default(2),
  maxParallel: count.default(0),
  alwaysIndex: choice,
  tolerateDedicated: choice.default(true),
  cancelSiblings: choice,
  autoResume: choice,
});

export type BuildSettings = z.output<typeof ImageBuildsSchema>;
