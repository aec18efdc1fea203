// The objects that the operator applies as a manifest has them.
import { parse } from "yaml";
import * as z from "zod";
import type { KubeObject } from "../../k8s/types.ts";
import type { OperandConfig } from "./config_view.ts";
import { renderOwnerReference } from "./webhooks.ts";

const OBJECT = z.looseObject({ metadata: z.looseObject({ name: z.string() }) });

export interface ManifestSettings {
  readonly namespace: string;
  /** What becomes of each value. */
  readonly fill: (key: string, value: unknown) => unknown;
}

/** The object of a YAML text in that namespace, owned by the config: the garbage collector deletes it with the config. */
export function renderManifest(text: string, config: OperandConfig, { namespace, fill }: ManifestSettings): KubeObject {
  const object = OBJECT.parse(JSON.parse(JSON.stringify(parse(text)), fill));
  return { ...object, metadata: { ...object.metadata, namespace, ownerReferences: [renderOwnerReference(config)] } };
}
