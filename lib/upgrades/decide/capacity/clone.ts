// The clone of a MachineSet for the time of an upgrade: one machine of the same template, distinguished by its labels.
import { MACHINE_SET_LABEL } from "../../../cluster/machines.ts";
import { type JsonObject, objectAt } from "../../../json.ts";
import { apiVersionOf, type KubeObject, Resource } from "../../../k8s/types.ts";
import { MachineName } from "../../names.ts";

/** The name of the clone that is spare capacity: automation of others uses it. */
export function twinName(source: string): string {
  return `${source}-upgrade`;
}

function smokeName(template: string): string {
  return `${template}-smoke`;
}

export function cloneForCapacity(source: KubeObject): KubeObject {
  return clone(source, { name: twinName(source.metadata.name), label: MachineName.upgradeLabel });
}

export function cloneForSmoke(template: KubeObject): KubeObject {
  return clone(template, { name: smokeName(template.metadata.name), label: MachineName.smokeLabel });
}

/**
 * Selector and template name the clone and not its source, whose own count its machines would change otherwise. The pool
 * label is left out of the clone's own labels: what manages a pool removes MachineSets that it did not make.
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
