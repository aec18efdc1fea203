// Reads the objects of OpenShift that an upgrade is about.
import { isTrue, parseConditions } from "../../../cluster/condition.ts";
import { isObject, type JsonObject, listAt, objectAt, textAt } from "../../../json.ts";
import type { KubeObject } from "../../../k8s/types.ts";
import { parseTime } from "../../../cluster/time.ts";
import type { ClusterOperator, ClusterVersion, OfferedRelease, ReleaseHistory } from "../types/cluster.ts";

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
    conditions: parseConditions(status),
  };
}

export function parseClusterOperator({ metadata, status }: KubeObject): ClusterOperator {
  const conditions = parseConditions(status);
  const image = objectsAt(status, "versions").find((version) => textAt(version, "name") === "operator-image");
  return {
    name: metadata.name,
    isDegraded: isTrue(conditions, "Degraded"),
    isAvailable: !conditions.some(({ type, status }) => type === "Available" && status === "False"),
    operatorImage: textAt(image, "version"),
  };
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

function objectsAt(object: unknown, name: string): readonly JsonObject[] {
  return (listAt(object, name) ?? []).filter(isObject);
}
