// The objects that create and configure the nodes of OpenShift: MachineConfigPools, MachineSets and Machines.
import * as z from "zod";
import { entryOf, memberOf, numberAt, objectAt, textAt, textMapAt } from "../json.ts";
import { type Condition, findCondition, isTrue, parseConditions } from "./condition.ts";
import { CLUSTER_SELECTOR_BOUNDS, type Labels, parseSelector } from "./label_selector.ts";
import { type KubeObject, parseMeta } from "./meta.ts";
import { kubeObject } from "./schema.ts";

const MachineConfigPoolSchema = kubeObject.transform(({ metadata, spec, status }) => {
  const meta = parseMeta({ metadata });
  const configuration = objectAt(spec, "configuration") ?? {};
  const conditions = parseConditions(status);
  const observed = memberOf(status, "observedGeneration");
  // Until its controller has observed the present spec, a pool's status belongs to an earlier spec.
  const isBehind = typeof observed === "number" && observed < meta.generation;
  return {
    ...meta,
    /** `spec.nodeSelector`. An absent or empty selector is parsed as `everything`, but a pool with it has no nodes. */
    nodeSelector: parseSelector(memberOf(spec, "nodeSelector"), CLUSTER_SELECTOR_BOUNDS),
    isPaused: memberOf(spec, "paused") === true,
    /** The rendered MachineConfig that its nodes are to have; empty when it has none yet. */
    rendered: textAt(configuration, "name"),
    /** `spec.configuration` as it is: the rendered MachineConfig's name, and references to its sources. */
    configuration,
    /**
     * The rendered MachineConfig that its nodes have, whose name changes with its content; empty when it has none yet.
     */
    currentRendered: textAt(objectAt(status, "configuration"), "name"),
    machineCount: numberAt(status, "machineCount"),
    updatedMachineCount: numberAt(status, "updatedMachineCount"),
    isUpdated: isTrue(conditions, "Updated") && !isBehind,
    isDegraded: DEGRADED.some((type) => isTrue(conditions, type)),
    /** Why the pool is degraded, with the node; empty when it is not degraded, or gives no reason. */
    degradedMessage: degradedMessageOf(conditions),
    conditions,
  };
});

export type MachineConfigPool = Readonly<z.output<typeof MachineConfigPoolSchema>>;

export function parseMachineConfigPool(object: KubeObject): MachineConfigPool {
  return MachineConfigPoolSchema.parse(object);
}

/**
 * `Degraded` summarizes the others, has no message of its own as a rule, and stays false when a later image cannot be
 * built.
 */
const DEGRADED = ["NodeDegraded", "RenderDegraded", "ImageBuildDegraded", "Degraded"];

function degradedMessageOf(conditions: readonly Condition[]): string {
  const messages = DEGRADED.filter((type) => isTrue(conditions, type))
    .map((type) => findCondition(conditions, type)?.message ?? "");
  return messages.find((message) => message !== "") ?? "";
}

const MACHINE_ROLE = "machine.openshift.io/cluster-api-machine-role";
const CAPACITY_LABELS = "capacity.cluster-autoscaler.kubernetes.io/labels";
const AUTOSCALED = "machine.openshift.io/cluster-api-autoscaler-node-group-max-size";

const MachineSetSchema = kubeObject.transform(({ metadata, spec, status }) => {
  const meta = parseMeta({ metadata });
  const template = objectAt(spec, "template");
  const role = entryOf(textMapAt(objectAt(template, "metadata"), "labels"), MACHINE_ROLE);
  const announced = parseLabelPairs(entryOf(meta.annotations, CAPACITY_LABELS) ?? "");
  const nodeLabels: Labels = {
    // A machine's kubelet gives its node the label of the role.
    ...role === undefined ? {} : { [`node-role.kubernetes.io/${role}`]: "" },
    ...announced,
    ...textMapAt(objectAt(objectAt(template, "spec"), "metadata"), "labels"),
  };
  return {
    ...meta,
    /** Whether it has replicas, or an autoscaler may give it some. */
    makesMachines: memberOf(spec, "replicas") !== 0 || Object.hasOwn(meta.annotations, AUTOSCALED),
    /** Machines that exist, and those of them whose nodes are ready. */
    replicas: numberAt(status, "replicas"),
    readyReplicas: numberAt(status, "readyReplicas"),
    announced,
    nodeLabels,
  };
});

export type MachineSet = Readonly<z.output<typeof MachineSetSchema>>;

export function parseMachineSet(object: KubeObject): MachineSet {
  return MachineSetSchema.parse(object);
}

function parseLabelPairs(text: string): Labels {
  const pairs = text.split(",").map((pair) => pair.trim().split("="));
  return Object.fromEntries(pairs.flatMap(([key = "", value = ""]) => key === "" ? [] : [[key, value]]));
}

export const MACHINE_SET_LABEL = "machine.openshift.io/cluster-api-machineset";

const MachineSchema = kubeObject.transform(({ metadata, status }) => ({
  name: metadata.name,
  machineSet: entryOf(metadata.labels, MACHINE_SET_LABEL) ?? "",
  phase: textAt(status, "phase"),
  nodeName: textAt(objectAt(status, "nodeRef"), "name") || undefined,
}));

export type Machine = Readonly<z.output<typeof MachineSchema>>;

export function parseMachine(object: KubeObject): Machine {
  return MachineSchema.parse(object);
}
