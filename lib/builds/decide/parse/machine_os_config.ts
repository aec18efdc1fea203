// MachineOSConfigs and MachineOSBuilds. The API server has validated them, so nothing is checked again.
import * as z from "zod";
import { parseMeta } from "../../../vocabulary/meta.ts";
import { parseConditions } from "../../../vocabulary/condition.ts";
import { kubeObject } from "../../../vocabulary/schema.ts";
import { listAt, numberAt, objectAt, textAt } from "../../../json.ts";
import type { KubeObject } from "../../../k8s/types.ts";
import type { ContainerFile } from "../observed.ts";
import { CONTAINERFILE_ARCHITECTURES } from "../names.ts";

const MachineOSConfigSchema = kubeObject.transform(({ metadata, spec, status }) => ({
  meta: parseMeta({ metadata }),
  pool: nameAt(spec, "machineConfigPool"),
  /** Absent: the copy of the cluster's pull secret. */
  pullSecret: nameAt(spec, "baseImagePullSecret") || undefined,
  pushSecret: nameAt(spec, "renderedImagePushSecret"),
  pushSpec: textAt(spec, "renderedImagePushSpec"),
  containerFiles: (listAt(spec, "containerFile") ?? []).map((file): ContainerFile => ({
    arch: CONTAINERFILE_ARCHITECTURES[textAt(file, "containerfileArch")] ?? "NoArch",
    content: textAt(file, "content"),
  })),
  /** The whole spec: the machine config operator's name of a build is a hash over it. */
  spec,
  status: {
    conditions: parseConditions(status),
    observedGeneration: numberAt(status, "observedGeneration"),
    /** `registry/repository@sha256:…`: what nodes run. */
    pullSpec: textAt(status, "currentImagePullSpec") || undefined,
    build: nameAt(status, "machineOSBuild") || undefined,
  },
}));

const MachineOSBuildSchema = kubeObject.transform(({ metadata, spec, status }) => ({
  meta: parseMeta({ metadata }),
  config: nameAt(spec, "machineOSConfig"),
  rendered: nameAt(spec, "machineConfig"),
  pushSpec: textAt(spec, "renderedImagePushSpec"),
  status: {
    conditions: parseConditions(status),
    job: nameAt(objectAt(status, "builder"), "job") || undefined,
    relatedObjects: (listAt(status, "relatedObjects") ?? []).map((one) => textAt(one, "name")),
    buildStart: textAt(status, "buildStart") || undefined,
    buildEnd: textAt(status, "buildEnd") || undefined,
    digestedPushSpec: textAt(status, "digestedImagePushSpec") || undefined,
  },
}));

export type MachineOSConfig = Readonly<z.output<typeof MachineOSConfigSchema>>;
export type MachineOSBuild = Readonly<z.output<typeof MachineOSBuildSchema>>;

export function parseMachineOSConfig(object: KubeObject): MachineOSConfig {
  return MachineOSConfigSchema.parse(object);
}

export function parseMachineOSBuild(object: KubeObject): MachineOSBuild {
  return MachineOSBuildSchema.parse(object);
}

function nameAt(value: unknown, member: string): string {
  return textAt(objectAt(value, member), "name");
}
