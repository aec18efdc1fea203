// A MachineOSConfig and a MachineOSBuild as their definitions have them, all problems of one together.
import * as z from "zod";
import { listAt, memberOf, objectAt, textAt } from "../../json.ts";
import type { KubeObject } from "../../k8s/types.ts";
import { asParsed, type Parsed } from "../../parsed.ts";
import type { ContainerFile, MachineOSBuild, MachineOSConfig } from "../observed.ts";
import { ARCH_OF_ENUM } from "../names.ts";
import { parseConditions, parseMeta } from "./meta.ts";
import { problemsOf } from "./problems.ts";

/** Longest push spec. */
const MAX_PUSH_SPEC = 447;
const MAX_CONTENT = 4_096;
const MAX_NAME = 253;

const name = z.string().min(1).max(MAX_NAME).regex(
  /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/,
  "must be lower-case words of a DNS name",
);

/** `host[:port]/path:tag`, or that of a Service. */
const PUSH_SPEC =
  /^([a-zA-Z0-9-]+\.)+[a-zA-Z0-9-]+(:[0-9]{2,5})?(\/[a-zA-Z0-9-_]{1,61})*\/[a-zA-Z0-9-_.]+:[a-zA-Z0-9._-]+$/;
const SERVICE_PUSH_SPEC = /^[^.]+\.[^.]+\.svc:\d+\/[^/]+\/[^/]+:[^/]+$/;

const pushSpec = z.string().min(1).max(MAX_PUSH_SPEC).refine(
  (text) => PUSH_SPEC.test(text) || SERVICE_PUSH_SPEC.test(text),
  "must be host[:port]/path:tag",
);

const containerFile = z.object({
  containerfileArch: z.enum(["ARM64", "AMD64", "PPC64LE", "S390X", "NoArch"]).default("NoArch"),
  content: z.string().max(MAX_CONTENT),
});

const configSpec = z.object({
  machineConfigPool: z.object({ name }),
  imageBuilder: z.object({ imageBuilderType: z.literal("Job") }),
  baseImagePullSecret: z.object({ name }).nullish(),
  renderedImagePushSecret: z.object({ name }),
  renderedImagePushSpec: pushSpec,
  containerFile: z.array(containerFile).max(4).nullish().refine(
    (files) => new Set(files?.map(({ containerfileArch }) => containerfileArch)).size === (files?.length ?? 0),
    "must name an architecture once",
  ),
});

const buildSpec = z.object({
  machineConfig: z.object({ name }),
  machineOSConfig: z.object({ name }),
  renderedImagePushSpec: pushSpec,
});

/** Reads a MachineOSConfig. */
export function parseMachineOSConfig(object: KubeObject): Parsed<MachineOSConfig> {
  const spec = configSpec.safeParse(object.spec);
  const meta = parseMeta(object);
  if (!spec.success) return problemsOf(`MachineOSConfig "${meta.name}"`, spec.error);
  const { machineConfigPool, baseImagePullSecret, renderedImagePushSecret, renderedImagePushSpec, containerFile } =
    spec.data;
  const status = objectAt(object, "status");
  const generation = memberOf(status, "observedGeneration");
  return asParsed({
    meta,
    pool: machineConfigPool.name,
    pullSecret: baseImagePullSecret?.name,
    pushSecret: renderedImagePushSecret.name,
    pushSpec: renderedImagePushSpec,
    containerFiles: (containerFile ?? []).map(({ containerfileArch, content }): ContainerFile => ({
      arch: ARCH_OF_ENUM[containerfileArch] ?? "NoArch",
      content,
    })),
    spec: objectAt(object, "spec") ?? {},
    status: {
      conditions: parseConditions(status),
      observedGeneration: typeof generation === "number" ? generation : 0,
      pullSpec: textAt(status, "currentImagePullSpec") || undefined,
      build: textAt(objectAt(status, "machineOSBuild"), "name") || undefined,
    },
  });
}

/** Reads a MachineOSBuild. */
export function parseMachineOSBuild(object: KubeObject): Parsed<MachineOSBuild> {
  const spec = buildSpec.safeParse(object.spec);
  const meta = parseMeta(object);
  if (!spec.success) return problemsOf(`MachineOSBuild "${meta.name}"`, spec.error);
  const status = objectAt(object, "status");
  return asParsed({
    meta,
    config: spec.data.machineOSConfig.name,
    rendered: spec.data.machineConfig.name,
    pushSpec: spec.data.renderedImagePushSpec,
    status: {
      conditions: parseConditions(status),
      job: textAt(objectAt(objectAt(status, "builder"), "job"), "name") || undefined,
      relatedObjects: (listAt(status, "relatedObjects") ?? []).map((one) => ({
        resource: textAt(one, "resource"),
        name: textAt(one, "name"),
      })),
      buildStart: textAt(status, "buildStart") || undefined,
      buildEnd: textAt(status, "buildEnd") || undefined,
      digestedPushSpec: textAt(status, "digestedImagePushSpec") || undefined,
    },
  });
}
