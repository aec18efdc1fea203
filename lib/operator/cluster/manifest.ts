// Renders the objects that the operator applies from the texts of manifests.
import { parse } from "yaml";
import * as z from "zod";
import type { KubeObject, OwnerReference } from "../../k8s/types.ts";
import { API_GROUP, CLUSTER_CONFIG_NAME } from "../../names.ts";
import type { OperandConfig } from "../decide/config_view.ts";

const OBJECT = z.looseObject({ metadata: z.looseObject({ name: z.string() }) });

interface ManifestSettings {
  readonly namespace: string;
  readonly fill: (key: string, value: unknown) => unknown;
}

/** The object of a YAML text, owned by the config. */
export function renderManifest(text: string, config: OperandConfig, settings?: ManifestSettings): KubeObject {
  const { metadata, ...object } = OBJECT.parse(JSON.parse(JSON.stringify(parse(text)), settings?.fill));
  const namespaced = settings === undefined ? {} : { namespace: settings.namespace };
  return { ...object, metadata: { ...metadata, ...namespaced, ownerReferences: [renderOwnerReference(config)] } };
}

/** The owner reference to the cluster config: the garbage collector cleans up when finalizers were stripped by hand. */
function renderOwnerReference(config: OperandConfig): OwnerReference {
  return {
    apiVersion: `${API_GROUP}/v1beta1`,
    kind: "ClusterPodPlacementConfig",
    name: CLUSTER_CONFIG_NAME,
    uid: config.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}
