// The pod that a workload would make: its template, read as a pod of the workload's namespace.
import { memberOf, objectAt, textAt } from "../json.ts";
import { parsePod } from "./pod_view.ts";
import type { PodView } from "./types.ts";

/** The template of a Deployment, StatefulSet, DaemonSet, Job or CronJob as a pod; undefined when there is none. */
export function podTemplateOf(workload: unknown): PodView | undefined {
  const spec = objectAt(workload, "spec");
  const template = objectAt(spec, "template") ?? objectAt(objectAt(objectAt(spec, "jobTemplate"), "spec"), "template");
  if (template === undefined) return undefined;
  const namespace = textAt(memberOf(workload, "metadata"), "namespace");
  return parsePod({ metadata: template.metadata, spec: template.spec }, { namespace });
}
