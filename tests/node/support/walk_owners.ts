// Owners of pods, as users create them: a pod of a walk that names a controller is made by a real one of that kind. Pure.
import { type JsonObject, listAtPath, objectAtPath, textAtPath } from "../../../playground/json_path.ts";

/** The label by which the pod of an owner is found; its value is the name that the walk gives the pod. */
export const POD_LABEL = "walk-pod";

export interface Owner {
  readonly path: (namespace: string) => string;
  readonly body: JsonObject;
}

interface Maker {
  readonly path: Owner["path"];
  readonly render: (template: JsonObject, labels: Readonly<Record<string, string>>) => Owner["body"];
}

const inGroup = (group: string, plural: string): Owner["path"] => (namespace) =>
  `/${group === "v1" ? "api" : "apis"}/${group}/namespaces/${namespace}/${plural}`;

const inApps = (kind: string, more: JsonObject = {}): Maker => ({
  path: inGroup("apps/v1", `${kind.toLowerCase()}s`),
  render: (template, matchLabels) => ({ kind, spec: { ...more, selector: { matchLabels }, template } }),
});

/** By the kind of the controller that the pod names. Those that are missing make their pods themselves. */
const OWNERS: Readonly<Record<string, Maker>> = {
  ReplicaSet: inApps("Deployment"),
  StatefulSet: inApps("StatefulSet", { serviceName: "none" }),
  DaemonSet: inApps("DaemonSet"),
  ReplicationController: {
    path: inGroup("v1", "replicationcontrollers"),
    render: (template, selector) => ({ kind: "ReplicationController", spec: { selector, template } }),
  },
  Job: {
    path: inGroup("batch/v1", "jobs"),
    render: (template) => ({ kind: "Job", spec: { template: ending(template) } }),
  },
};

/** The owner to create in place of a pod; undefined when the pod names none that a plain cluster has. */
export function ownerOf(pod: JsonObject): Owner | undefined {
  const metadata = objectAtPath(pod, "metadata");
  const [reference] = listAtPath(metadata, "ownerReferences");
  const owner = OWNERS[textAtPath(reference, "kind") ?? ""];
  if (owner === undefined) return undefined;
  const name = textAtPath(metadata, "name") ?? "";
  const own = { [POD_LABEL]: name };
  const template = {
    metadata: { labels: { ...objectAtPath(metadata, "labels"), ...own }, annotations: metadata["annotations"] },
    spec: pod["spec"],
  };
  const { path, render } = owner;
  const apiVersion = path("").replace(/^\/apis?\//, "").replace(/\/namespaces.*/, "");
  return { path, body: { apiVersion, metadata: { name }, ...render(template, own) } };
}

function ending(template: JsonObject): JsonObject {
  const spec = objectAtPath(template, "spec");
  const containers = listAtPath(spec, "containers").map((each) => ({ ...objectAtPath(each), args: ["hello"] }));
  return { ...template, spec: { ...spec, restartPolicy: "Never", containers } };
}
