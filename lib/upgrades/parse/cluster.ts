// Reads the objects of OpenShift that an upgrade is about.
import { isObject, type JsonObject, listAt, memberOf, objectAt, textAt } from "../../json.ts";
import type { KubeObject } from "../../k8s/types.ts";
import { parseTime } from "../time.ts";
import type {
  ClusterCondition,
  ClusterOperator,
  ClusterVersion,
  MachineConfigPool,
  OfferedRelease,
  ReleaseHistory,
} from "../types/cluster.ts";

/** Reads a ClusterVersion. */
export function parseClusterVersion({ metadata, spec, status }: KubeObject): ClusterVersion {
  const asked = objectAt(spec, "desiredUpdate");
  return {
    resourceVersion: metadata.resourceVersion ?? "",
    clusterId: textAt(spec, "clusterID"),
    channel: textAt(spec, "channel"),
    upstream: textAt(spec, "upstream"),
    desiredUpdate: asked === undefined ? undefined : parseRelease(asked),
    desired: parseRelease(objectAt(status, "desired")),
    availableUpdates: objectsAt(status, "availableUpdates").map(parseOffer),
    conditionalUpdates: objectsAt(status, "conditionalUpdates").map((update) =>
      parseOffer(objectAt(update, "release"))
    ),
    history: objectsAt(status, "history").map(parseReleaseHistory),
    conditions: objectsAt(status, "conditions").map(parseClusterCondition),
  };
}

/** Reads a ClusterOperator. */
export function parseClusterOperator({ metadata, status }: KubeObject): ClusterOperator {
  const conditions = objectsAt(status, "conditions").map(parseClusterCondition);
  const image = objectsAt(status, "versions").find((version) => textAt(version, "name") === "operator-image");
  return {
    name: metadata.name,
    isDegraded: isTrue(conditions, "Degraded"),
    isAvailable: !conditions.some(({ type, status }) => type === "Available" && status === "False"),
    operatorImage: textAt(image, "version"),
  };
}

/** Reads a MachineConfigPool. */
export function parseMachineConfigPool({ metadata, spec, status }: KubeObject): MachineConfigPool {
  const conditions = objectsAt(status, "conditions").map(parseClusterCondition);
  return {
    name: metadata.name,
    isPaused: memberOf(spec, "paused") === true,
    isDegraded: isTrue(conditions, "Degraded"),
    degradedMessage: degradedMessageOf(conditions),
    isUpdated: isTrue(conditions, "Updated"),
    machineCount: countAt(status, "machineCount"),
    updatedMachineCount: countAt(status, "updatedMachineCount"),
    renderedConfig: textAt(objectAt(status, "configuration"), "name"),
  };
}

/** The condition `Degraded` summarizes others, and has no message of its own as a rule. */
const DEGRADED = ["NodeDegraded", "RenderDegraded", "Degraded"];

function degradedMessageOf(conditions: readonly ClusterCondition[]): string {
  const found = DEGRADED.map((type) => conditions.find((one) => one.type === type && one.status === "True"));
  return found.find((condition) => condition !== undefined && condition.message !== "")?.message ?? "";
}

/** Whether a condition of this type is True. */
export function isTrue(conditions: readonly ClusterCondition[], type: string): boolean {
  return conditions.some((condition) => condition.type === type && condition.status === "True");
}

function parseRelease(release: unknown): ClusterVersion["desired"] {
  return {
    version: textAt(release, "version"),
    image: textAt(release, "image"),
    architecture: textAt(release, "architecture"),
  };
}

function parseOffer(release: unknown): OfferedRelease {
  return { version: textAt(release, "version"), image: textAt(release, "image") };
}

function parseReleaseHistory(entry: JsonObject): ReleaseHistory {
  return {
    version: textAt(entry, "version"),
    image: textAt(entry, "image"),
    state: textAt(entry, "state") === "Completed" ? "Completed" : "Partial",
    startedMs: parseTime(textAt(entry, "startedTime")),
    completedMs: parseTime(textAt(entry, "completionTime")),
  };
}

function parseClusterCondition(condition: JsonObject): ClusterCondition {
  return {
    type: textAt(condition, "type"),
    status: textAt(condition, "status"),
    reason: textAt(condition, "reason"),
    message: textAt(condition, "message"),
    lastTransitionMs: parseTime(textAt(condition, "lastTransitionTime")),
  };
}

function objectsAt(object: unknown, name: string): readonly JsonObject[] {
  return (listAt(object, name) ?? []).filter(isObject);
}

function countAt(object: unknown, name: string): number {
  const member = memberOf(object, name);
  return typeof member === "number" ? member : 0;
}
