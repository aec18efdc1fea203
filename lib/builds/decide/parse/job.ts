// Parses Jobs of builds, and the ConfigMaps in which their pods store digests.
import * as z from "zod";
import { parseMeta } from "../../../vocabulary/meta.ts";
import { parseTime } from "../../../vocabulary/time.ts";
import { parseConditions } from "../../../vocabulary/condition.ts";
import { kubeObject } from "../../../vocabulary/schema.ts";
import { entryOf, listAt, memberOf, numberAt, objectAt, textMapAt } from "../../../json.ts";
import type { KubeObject } from "../../../k8s/types.ts";
import { SHA256_DIGEST } from "../../../oci/reference.ts";
import type { ChildObject, DigestObservation, StartingPod } from "../observed.ts";
import { ArchwayAnnotation } from "../names.ts";

const JobSchema = kubeObject.transform(({ metadata, status }) => {
  const meta = parseMeta({ metadata });
  const uncounted = objectAt(status, "uncountedTerminatedPods");
  return {
    meta,
    buildUid: (metadata.ownerReferences ?? []).find(({ kind, controller }) =>
      kind === "MachineOSBuild" && controller === true
    )?.uid ?? meta.owners.find(({ kind }) => kind === "MachineOSBuild")?.uid ?? "",
    buildKey: entryOf(meta.annotations, ArchwayAnnotation.buildKey) ?? "",
    active: numberAt(status, "active"),
    succeeded: numberAt(status, "succeeded"),
    failed: numberAt(status, "failed"),
    /** Pods that ended and are in neither `succeeded` nor `failed` yet. */
    uncounted: (listAt(uncounted, "succeeded")?.length ?? 0) + (listAt(uncounted, "failed")?.length ?? 0),
    startedMs: parseTime(memberOf(status, "startTime")),
    conditions: parseConditions(status),
  };
});

export type JobObservation = Readonly<z.output<typeof JobSchema>> & {
  /** The scheduler's message about a pod of the Job that fits no node. */
  readonly unschedulable?: string | undefined;
  /** A pod of the Job that is on a node and may not be able to start. */
  readonly starting?: StartingPod | undefined;
};

export function parseBuildJob(object: KubeObject): JobObservation {
  return JobSchema.parse(object);
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
