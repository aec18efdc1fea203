// Parses MachineOSConfigs and MachineOSBuilds. The API server has validated them, so nothing is checked again.
import { parseMeta } from "../../../vocabulary/meta.ts";
import { parseConditions } from "../../../vocabulary/condition.ts";
import { listAt, numberAt, objectAt, textAt } from "../../../json.ts";
import type { KubeObject } from "../../../k8s/types.ts";
import type { ContainerFile, MachineOSBuild, MachineOSConfig } from "../observed.ts";
import { CONTAINERFILE_ARCHITECTURES } from "../names.ts";

export function parseMachineOSConfig(object: KubeObject): MachineOSConfig {
  const [spec, status] = [objectAt(object, "spec") ?? {}, objectAt(object, "status")];
  return {
    meta: parseMeta(object),
    pool: nameAt(spec, "machineConfigPool"),
    pullSecret: nameAt(spec, "baseImagePullSecret") || undefined,
    pushSecret: nameAt(spec, "renderedImagePushSecret"),
    pushSpec: textAt(spec, "renderedImagePushSpec"),
    containerFiles: (listAt(spec, "containerFile") ?? []).map((file): ContainerFile => ({
      arch: CONTAINERFILE_ARCHITECTURES[textAt(file, "containerfileArch")] ?? "NoArch",
      content: textAt(file, "content"),
    })),
    spec,
    status: {
      conditions: parseConditions(status),
      observedGeneration: numberAt(status, "observedGeneration"),
      pullSpec: textAt(status, "currentImagePullSpec") || undefined,
      build: nameAt(status, "machineOSBuild") || undefined,
    },
  };
}

export function parseMachineOSBuild(object: KubeObject): MachineOSBuild {
  const [spec, status] = [objectAt(object, "spec"), objectAt(object, "status")];
  return {
    meta: parseMeta(object),
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
  };
}

function nameAt(value: unknown, member: string): string {
  return textAt(objectAt(value, member), "name");
}
