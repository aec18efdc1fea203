// The objects that create and configure the nodes of OpenShift: MachineConfigPools, MachineSets and Machines.
import { entryOf, type JsonObject, memberOf, numberAt, objectAt, textAt, textMapAt } from "../json.ts";
import { type Condition, findCondition, isTrue, parseConditions } from "./condition.ts";
import { CLUSTER_SELECTOR_BOUNDS, type Labels, type LabelSelector, parseSelector } from "./label_selector.ts";
import { type KubeObject, type Meta, parseMeta } from "./meta.ts";

export interface MachineConfigPool extends Meta {
  /** `spec.nodeSelector`. One that is absent or empty, `everything` here, selects no node of a pool. */
  readonly nodeSelector: LabelSelector;
  readonly isPaused: boolean;
  /** The rendered MachineConfig that its nodes are to have; empty when it has none yet. */
  readonly rendered: string;
  /** `spec.configuration` as it is: the rendered MachineConfig's name, and references to its sources. */
  readonly configuration: JsonObject;
  /** The rendered MachineConfig that its nodes have, whose name changes with its content; empty when it has none yet. */
  readonly currentRendered: string;
  readonly machineCount: number;
  readonly updatedMachineCount: number;
  readonly isUpdated: boolean;
  readonly isDegraded: boolean;
  /** Why it is degraded, with the node; empty where it is not, or does not say. */
  readonly degradedMessage: string;
  readonly conditions: readonly Condition[];
}

export function parseMachineConfigPool(object: KubeObject): MachineConfigPool {
  const [spec, status] = [objectAt(object, "spec"), objectAt(object, "status")];
  const configuration = objectAt(spec, "configuration") ?? {};
  const conditions = parseConditions(status);
  return {
    ...parseMeta(object),
    nodeSelector: parseSelector(memberOf(spec, "nodeSelector"), CLUSTER_SELECTOR_BOUNDS),
    isPaused: memberOf(spec, "paused") === true,
    rendered: textAt(configuration, "name"),
    configuration,
    currentRendered: textAt(objectAt(status, "configuration"), "name"),
    machineCount: numberAt(status, "machineCount"),
    updatedMachineCount: numberAt(status, "updatedMachineCount"),
    isUpdated: isTrue(conditions, "Updated") && !isBehind(object),
    isDegraded: DEGRADED.some((type) => isTrue(conditions, type)),
    degradedMessage: degradedMessageOf(conditions),
    conditions,
  };
}

/** Whether its controller has not observed the present spec yet: until then its status is of an earlier one. */
function isBehind({ metadata: { generation = 0 }, status }: KubeObject): boolean {
  const observed = memberOf(status, "observedGeneration");
  return typeof observed === "number" && observed < generation;
}

/** `Degraded` summarizes the others, has no message of its own as a rule, and stays false when a later image cannot be built. */
const DEGRADED = ["NodeDegraded", "RenderDegraded", "ImageBuildDegraded", "Degraded"];

function degradedMessageOf(conditions: readonly Condition[]): string {
  const messages = DEGRADED.filter((type) => isTrue(conditions, type))
    .map((type) => findCondition(conditions, type)?.message ?? "");
  return messages.find((message) => message !== "") ?? "";
}

export interface MachineSet extends Meta {
  /** Whether it has replicas, or an autoscaler may give it some. */
  readonly makesMachines: boolean;
  /** Machines that exist, and those of them whose nodes are ready. */
  readonly replicas: number;
  readonly readyReplicas: number;
  readonly announced: Labels;
  readonly nodeLabels: Labels;
}

const MACHINE_ROLE = "machine.openshift.io/cluster-api-machine-role";
const CAPACITY_LABELS = "capacity.cluster-autoscaler.kubernetes.io/labels";
const AUTOSCALED = "machine.openshift.io/cluster-api-autoscaler-node-group-max-size";

export function parseMachineSet(object: KubeObject): MachineSet {
  const meta = parseMeta(object);
  const [spec, status] = [objectAt(object, "spec"), objectAt(object, "status")];
  const template = objectAt(spec, "template");
  const role = entryOf(textMapAt(objectAt(template, "metadata"), "labels"), MACHINE_ROLE);
  const announced = parseLabelPairs(entryOf(meta.annotations, CAPACITY_LABELS) ?? "");
  return {
    ...meta,
    makesMachines: memberOf(spec, "replicas") !== 0 || Object.hasOwn(meta.annotations, AUTOSCALED),
    replicas: numberAt(status, "replicas"),
    readyReplicas: numberAt(status, "readyReplicas"),
    announced,
    nodeLabels: {
      // A machine's kubelet gives its node the label of the role.
      ...role === undefined ? {} : { [`node-role.kubernetes.io/${role}`]: "" },
      ...announced,
      ...textMapAt(objectAt(objectAt(template, "spec"), "metadata"), "labels"),
    },
  };
}

function parseLabelPairs(text: string): Labels {
  const pairs = text.split(",").map((pair) => pair.trim().split("="));
  return Object.fromEntries(pairs.flatMap(([key = "", value = ""]) => key === "" ? [] : [[key, value]]));
}

export const MACHINE_SET_LABEL = "machine.openshift.io/cluster-api-machineset";

export interface Machine {
  readonly name: string;
  readonly machineSet: string;
  readonly phase: string;
  readonly nodeName: string | undefined;
}

export function parseMachine({ metadata, status }: KubeObject): Machine {
  return {
    name: metadata.name,
    machineSet: entryOf(metadata.labels, MACHINE_SET_LABEL) ?? "",
    phase: textAt(status, "phase"),
    nodeName: textAt(objectAt(status, "nodeRef"), "name") || undefined,
  };
}
