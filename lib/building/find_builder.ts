// The images that builds run where the configuration names none: those of the machine config operator itself.
import type { BuildSettings } from "../image_builds/settings.ts";
import { parseObject, textAt, textMapAt } from "../json.ts";
import type { ReadApi } from "../k8s/api.ts";
import { readOptional } from "../k8s/read_optional.ts";
import { Resource } from "../k8s/types.ts";

const IMAGES_MAP = "machine-config-operator-images";
const DIGEST_COMMAND: readonly string[] = ["machine-os-builder", "create-digest-configmap"];

/** Reads them. Throws ApiError, and an Error that says what to do where there are none. */
export async function findBuilder(
  api: ReadApi,
  namespace: string,
  signal: AbortSignal,
): Promise<Pick<BuildSettings, "builder" | "digestWriter">> {
  const map = await readOptional(api, { type: Resource.configMaps, namespace, name: IMAGES_MAP, signal });
  const image = textAt(parseObject(textMapAt(map, "data")?.["images.json"] ?? ""), "machineConfigOperator");
  if (image !== "") return { builder: { image, command: [] }, digestWriter: { image, command: DIGEST_COMMAND } };
  throw new Error(
    `Cannot build images: ConfigMap "${namespace}/${IMAGES_MAP}" names no image that builds. ` +
      "Name one by imageBuilds.builderImage in the file of --config.",
  );
}
