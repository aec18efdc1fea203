// The name that the machine config operator gives a build: MD5 over YAML of the pool's configuration, the MachineOSConfig's
// spec and the images. Pools of one architecture keep it, so that nothing changes where this project takes over.
import { createHash } from "node:crypto";
import type { MachineConfigPool } from "../../../cluster/machines.ts";
import { type JsonObject, memberOf, objectAt, textAt } from "../../../json.ts";
import type { MachineOSConfig, RenderedConfig } from "../observed.ts";
import { McoAnnotation } from "../names.ts";
import { renderYaml } from "./go_yaml.ts";

/** Of the operator, in hex: it is the same in every cluster. */
const SALT = "107ccee48b38afaf4fe586769d9ad36e195d2ffdac6a2507ae0da0b96e115734" +
  "db830cceda8d7487bcb5c097e93e7ea54053b3770fa8d0c5926b3ae385bcee1a" +
  "211aebca20ad1fea2990944f06ce1716";

export interface ClassicNameInput {
  readonly config: Pick<MachineOSConfig, "meta" | "spec">;
  readonly pool: Pick<MachineConfigPool, "configuration">;
  readonly rendered: Pick<RenderedConfig, "meta" | "osImageURL" | "extensionsImage">;
}

/** `<MachineOSConfig>-<32 hex digits>`. */
export function classicName({ config, pool, rendered }: ClassicNameInput): string {
  const images = {
    BaseOSContainerImage: rendered.osImageURL,
    BaseOSExtensionsContainerImage: rendered.extensionsImage,
    OSImageURL: "",
    ReleaseVersion: rendered.meta.annotations[McoAnnotation.releaseVersion] ?? "",
  };
  const hash = createHash("md5").update(SALT, "hex");
  for (const part of [pool.configuration, knownSpec(config.spec), images]) hash.update(renderYaml(part));
  return `${config.meta.name}-${hash.digest("hex")}`;
}

/** The spec with the members that the operator has; it writes an absent list of containerfiles as null. */
function knownSpec(spec: JsonObject): JsonObject {
  const pull = objectAt(spec, "baseImagePullSecret");
  const files = memberOf(spec, "containerFile");
  return {
    machineConfigPool: { name: textAt(objectAt(spec, "machineConfigPool"), "name") },
    imageBuilder: { imageBuilderType: textAt(objectAt(spec, "imageBuilder"), "imageBuilderType") },
    ...(pull === undefined ? {} : { baseImagePullSecret: { name: textAt(pull, "name") } }),
    renderedImagePushSecret: { name: textAt(objectAt(spec, "renderedImagePushSecret"), "name") },
    renderedImagePushSpec: textAt(spec, "renderedImagePushSpec"),
    containerFile: Array.isArray(files)
      ? files.map((file) => ({
        containerfileArch: textAt(file, "containerfileArch") || "NoArch",
        content: textAt(file, "content"),
      }))
      : null,
  };
}
