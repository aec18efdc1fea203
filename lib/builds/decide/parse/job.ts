// Parses Jobs of builds, and the ConfigMaps in which their pods store digests.
import { parseMeta } from "../../../vocabulary/meta.ts";
import { parseTime } from "../../../vocabulary/time.ts";
import { parseConditions } from "../../../vocabulary/condition.ts";
import { entryOf, listAt, memberOf, numberAt, objectAt, textMapAt } from "../../../json.ts";
import type { KubeObject } from "../../../k8s/types.ts";
import { SHA256_DIGEST } from "../../../oci/reference.ts";
import type { ChildObject, DigestObservation, JobObservation } from "../observed.ts";
import { ArchwayAnnotation } from "../names.ts";

export function parseBuildJob(object: KubeObject): JobObservation {
  const meta = parseMeta(object);
  const status = objectAt(object, "status");
  const uncounted = objectAt(status, "uncountedTerminatedPods");
  return {
    meta,
    buildUid:
      (object.metadata.ownerReferences ?? []).find(({ kind, controller }) =>
        kind === "MachineOSBuild" && controller === true
      )?.uid ?? meta.owners.find(({ kind }) => kind === "MachineOSBuild")?.uid ?? "",
    buildKey: entryOf(meta.annotations, ArchwayAnnotation.buildKey) ?? "",
    active: numberAt(status, "active"),
    succeeded: numberAt(status, "succeeded"),
    failed: numberAt(status, "failed"),
    uncounted: (listAt(uncounted, "succeeded")?.length ?? 0) + (listAt(uncounted, "failed")?.length ?? 0),
    startedMs: parseTime(memberOf(status, "startTime")),
    conditions: parseConditions(status),
  };
}

export function parseDigestMap(object: KubeObject): DigestObservation {
  const data = textMapAt(object, "data");
  const digest = (entryOf(data, "digest") ?? "").trim();
  return {
    meta: parseMeta(object),
    digest: SHA256_DIGEST.test(digest) ? digest : "",
    jobUid: entryOf(data, "jobUID") ?? "",
  };
}

export function parseChild(object: KubeObject, resource: ChildObject["resource"]): ChildObject {
  const { name, uid, resourceVersion, labels, owners } = parseMeta(object);
  return { resource, name, uid, resourceVersion, labels, owners };
}
