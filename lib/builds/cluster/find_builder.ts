// The image that builds run where the configuration names none: that of the machine config operator itself.
import { BUILDER_IMAGES_MAP } from "../decide/names.ts";
import { parseObject, textAt, textMapAt } from "../../json.ts";
import { type ReadApi, readOptional } from "../../k8s/api.ts";
import { Resource } from "../../k8s/types.ts";

/** Reads it; empty where nothing names one. Throws ApiError when the API server does not answer. */
export async function findBuilder(api: ReadApi, namespace: string, signal: AbortSignal): Promise<string> {
  const map = await readOptional(api, { type: Resource.configMaps, namespace, name: BUILDER_IMAGES_MAP, signal });
  return textAt(parseObject(textMapAt(map, "data")?.["images.json"] ?? ""), "machineConfigOperator");
}
