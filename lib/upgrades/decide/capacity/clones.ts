// Clones of MachineSets with one replica: as spare capacity, and for a first node of another architecture.
import { apiVersionOf, type KubeObject, Resource } from "../../../k8s/types.ts";
import { type JsonObject, objectAt } from "../../../json.ts";
import { MACHINE_SET_LABEL } from "../../../vocabulary/machines.ts";
import { MachineName } from "../../names.ts";

/** The MUO's name of a clone, on which other automation relies. */
export function cloneName(source: string): string {
  return `${source}-upgrade`;
}

export function cloneForCapacity(source: KubeObject): KubeObject {
  return clone(source, { name: cloneName(source.metadata.name), label: MachineName.upgradeLabel });
}

export function cloneForSmoke(template: KubeObject): KubeObject {
  return clone(template, { name: `${template.metadata.name}-smoke`, label: MachineName.smokeLabel });
}

/**
 * A clone selects by its own name, or its source would count its machines. It lacks the label by which Hive would
 * remove it.
 */
function clone(source: KubeObject, { name, label }: { readonly name: string; readonly label: string }): KubeObject {
  const own = { [MACHINE_SET_LABEL]: name, [label]: "true" };
  const spec = objectAt(source, "spec") ?? {};
  const [selector, template] = [objectAt(spec, "selector") ?? {}, objectAt(spec, "template") ?? {}];
  const metadata = objectAt(template, "metadata") ?? {};
  const labelled = (labels: JsonObject | undefined): JsonObject => ({ ...labels, ...own });
  return {
    apiVersion: apiVersionOf(Resource.machineSets),
    kind: Resource.machineSets.kind,
    metadata: { name, namespace: MachineName.namespace, labels: { [label]: "true" } },
    spec: {
      ...spec,
      replicas: 1,
      selector: { ...selector, matchLabels: labelled(objectAt(selector, "matchLabels")) },
      template: { ...template, metadata: { ...metadata, labels: labelled(objectAt(metadata, "labels")) } },
    },
  };
}
