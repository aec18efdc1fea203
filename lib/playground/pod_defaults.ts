// The defaults that the API server sets in a pod, when pods are created and updated.
import type { KubeObject } from "../k8s/types.ts";
import { isObject, type JsonObject, listAt, objectAt, textAt, timestamp } from "./json_value.ts";

/** The pod with the defaults that matter to placement and to `kubectl`. Defaulting twice changes nothing. */
export function withPodDefaults(pod: KubeObject): KubeObject {
  const spec = objectAt(pod, "spec");
  const account = textAt(spec, "serviceAccountName") ?? textAt(spec, "serviceAccount") ?? "default";
  const initContainers = listAt(spec, "initContainers");
  return {
    ...pod,
    spec: {
      restartPolicy: "Always",
      dnsPolicy: "ClusterFirst",
      schedulerName: "default-scheduler",
      terminationGracePeriodSeconds: 30,
      enableServiceLinks: true,
      securityContext: {},
      ...spec,
      serviceAccountName: account,
      serviceAccount: account,
      containers: listAt(spec, "containers").map(withContainerDefaults),
      ...(initContainers.length === 0 ? {} : { initContainers: initContainers.map(withContainerDefaults) }),
    },
  };
}

function withContainerDefaults(container: unknown): unknown {
  if (!isObject(container)) return container;
  return {
    resources: {},
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    imagePullPolicy: defaultPullPolicy(textAt(container, "image") ?? ""),
    ...container,
  };
}

function defaultPullPolicy(image: string): string {
  const path = image.slice(image.lastIndexOf("/") + 1);
  return image.includes("@") || (path.includes(":") && !path.endsWith(":latest")) ? "IfNotPresent" : "Always";
}

/** The status of a pod that was just created: Pending, and held when it has scheduling gates. */
export function newPodStatus(pod: KubeObject, nowMs: number): JsonObject {
  const gated = listAt(pod, "spec", "schedulingGates").length > 0;
  const condition = {
    type: "PodScheduled",
    status: "False",
    reason: "SchedulingGated",
    message: "Scheduling is blocked due to non-empty scheduling gates",
    lastProbeTime: null,
    lastTransitionTime: timestamp(nowMs),
  };
  return { phase: "Pending", qosClass: "BestEffort", ...(gated ? { conditions: [condition] } : {}) };
}
