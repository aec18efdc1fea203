// What builds node images in the playground: plays the Job controller and what runs in the pods of builds. Nothing is
// compiled. An image for the architecture of the pod's node is pushed under the tag of the Job, and its digest handed over.
//
//   Job ─▶ pod ─▶ scheduler and kubelet ─▶ runs ─▶ image pushed ─▶ ConfigMap with the digest ─▶ Job complete
import { BuildLabel, ImageLabel } from "../../image_builds/names.ts";
import { keyOf, type KubeObject, Resource } from "../../k8s/types.ts";
import { errorText, type Logger } from "../../log.ts";
import type { Cluster } from "../cluster.ts";
import { createObject } from "../create_object.ts";
import { deleteObject } from "../delete_object.ts";
import { listAt, objectAt, textAt, textsAt, timestamp } from "../json_value.ts";
import { kindNamed } from "../kinds.ts";
import type { Registry } from "../registry.ts";
import type { StoreChange } from "../store.ts";

/** An image that was built. */
export interface PlayedBuild {
  /** Of the node. */
  readonly architecture: string;
  readonly node: string;
  readonly digest: string;
}

/** The builder. Disposing it ends what is under way. */
export interface ImageBuilder extends AsyncDisposable {
  /** Images in the order in which they were pushed. */
  played(): readonly PlayedBuild[];
}

/** What it works with. */
export interface ImageBuilderOptions {
  readonly registry: Pick<Registry, "host" | "push">;
  /** How long a build takes (ms). */
  readonly buildMs: number;
  /** Logs what it cannot do. */
  readonly log: Logger;
}

const JOB_NAME = "batch.kubernetes.io/job-name";
const JOB_UID = "batch.kubernetes.io/controller-uid";

/** Follows the Jobs of image builds until disposed. */
export function openImageBuilder(cluster: Cluster, options: ImageBuilderOptions): ImageBuilder {
  const played: PlayedBuild[] = [];
  const closing = new AbortController();
  const underWay = new Set<Promise<void>>();
  const handled = new Set<string>();
  const begin = (object: KubeObject, work: () => Promise<void>): void => {
    const run = work().catch((error: unknown) => {
      options.log.warn("playground cannot build an image", { object: keyOf(object), error: errorText(error) });
    }).finally(() => underWay.delete(run));
    underWay.add(run);
  };
  const unsubscribe = cluster.store.subscribe((change) => {
    const { object, kind } = change;
    if (isBuildJob(change)) {
      if (kind === "ADDED") begin(object, () => startPod(cluster, object));
      if (kind === "DELETED") begin(object, () => removePods(cluster, object));
      return;
    }
    const { uid = "" } = object.metadata;
    if (isRunningPod(cluster, change) && !handled.has(uid)) {
      handled.add(uid);
      begin(object, async () => {
        await cluster.clock.sleep(options.buildMs, closing.signal);
        if (!closing.signal.aborted) played.push(await build(cluster, object, options));
      });
    }
  });
  return {
    played: () => [...played],
    [Symbol.asyncDispose]: async () => {
      unsubscribe();
      closing.abort();
      await Promise.all(underWay);
    },
  };
}

function isBuildJob({ type, object }: StoreChange): boolean {
  return type.plural === Resource.jobs.plural && object.metadata.labels?.[BuildLabel.build] !== undefined;
}

function isRunningPod(cluster: Cluster, { type, object }: StoreChange): boolean {
  if (type.plural !== Resource.pods.plural || object.metadata.labels?.[JOB_NAME] === undefined) return false;
  return textAt(cluster.store.get(Resource.pods, keyOf(object)), "status", "phase") === "Running";
}

/** As the Job controller does. */
async function startPod(cluster: Cluster, job: KubeObject): Promise<void> {
  const { name, namespace, uid = "" } = job.metadata;
  setJobStatus(cluster, job, { active: 1, startTime: timestamp(cluster.clock.nowMs()) });
  const template = objectAt(job, "spec", "template");
  const owner = { apiVersion: "batch/v1", kind: "Job", name, uid, controller: true, blockOwnerDeletion: true };
  const labels = { ...textsAt(template, "metadata", "labels"), [JOB_NAME]: name, [JOB_UID]: uid };
  const metadata = { generateName: `${name}-`, labels, ownerReferences: [owner] };
  await createObject(cluster, kindNamed("Pod"), { namespace, body: { metadata, spec: objectAt(template, "spec") } });
}

/** As the garbage collector does. */
async function removePods(cluster: Cluster, { metadata: { uid, namespace } }: KubeObject): Promise<void> {
  const owned = cluster.store.list(Resource.pods).filter((pod) => pod.metadata.labels?.[JOB_UID] === uid);
  for (const { metadata: { name } } of owned) await deleteObject(cluster, kindNamed("Pod"), { namespace, name });
}

function setJobStatus(cluster: Cluster, { metadata }: KubeObject, status: unknown): void {
  const current = cluster.store.get(Resource.jobs, keyOf({ metadata }));
  if (current?.metadata.uid === metadata.uid && current !== undefined) {
    cluster.store.put(Resource.jobs, { ...current, status });
  }
}

/** As a builder does, and the kubelet and the Job controller after it. */
async function build(
  cluster: Cluster,
  seen: KubeObject,
  { registry }: Pick<ImageBuilderOptions, "registry">,
): Promise<PlayedBuild> {
  const pod = cluster.store.get(Resource.pods, keyOf(seen)) ?? seen;
  const node = textAt(pod, "spec", "nodeName") ?? "";
  const architecture = textAt(cluster.store.get(Resource.nodes, node), "status", "nodeInfo", "architecture") ?? "";
  const env = environmentOf(pod);
  const target = (env.get("TAG") ?? "").replace(`${registry.host}/`, "");
  const colon = target.lastIndexOf(":");
  const digest = await registry.push({
    repository: target.slice(0, colon),
    tag: target.slice(colon + 1),
    architectures: [architecture],
    form: "oci-manifest",
    labels: { [ImageLabel.buildKey]: env.get("BUILD_KEY") ?? "", [ImageLabel.arch]: architecture },
  });
  await handOver(cluster, pod, { env, digest });
  const nowText = timestamp(cluster.clock.nowMs());
  const current = cluster.store.get(Resource.pods, keyOf(pod)) ?? pod;
  cluster.store.put(Resource.pods, { ...current, status: { ...objectAt(current, "status"), phase: "Succeeded" } });
  const name = pod.metadata.labels?.[JOB_NAME] ?? "";
  const job = cluster.store.get(Resource.jobs, `${pod.metadata.namespace ?? ""}/${name}`);
  if (job !== undefined) {
    const conditions = [{ type: "Complete", status: "True", lastTransitionTime: nowText }];
    const { startTime } = objectAt(job, "status");
    setJobStatus(cluster, job, { startTime, succeeded: 1, completionTime: nowText, conditions });
  }
  return { architecture, node, digest };
}

async function handOver(
  cluster: Cluster,
  pod: KubeObject,
  { env, digest }: { readonly env: ReadonlyMap<string, string>; readonly digest: string },
): Promise<void> {
  const pairs = (env.get("DIGEST_CONFIGMAP_LABELS") ?? "").split(" ").map((pair) => pair.split("="));
  const labels = Object.fromEntries(pairs.map(([label = "", value = ""]) => [label, value]));
  const { namespace, labels: podLabels } = pod.metadata;
  const name = env.get("DIGEST_CONFIGMAP_NAME") ?? "";
  const data = {
    digest,
    arch: env.get("ARCH") ?? "",
    buildKey: env.get("BUILD_KEY") ?? "",
    jobUID: podLabels?.[JOB_UID] ?? "",
  };
  const kind = kindNamed("ConfigMap");
  if (cluster.store.get(kind, `${namespace ?? ""}/${name}`) !== undefined) {
    await deleteObject(cluster, kind, { namespace, name });
  }
  await createObject(cluster, kind, { namespace, body: { metadata: { name, labels }, data } });
}

/** The variables of the container that builds. */
function environmentOf(pod: KubeObject): ReadonlyMap<string, string> {
  return new Map(
    listAt(pod, "spec", "initContainers", 0, "env").map((
      one,
    ) => [textAt(one, "name") ?? "", textAt(one, "value") ?? ""]),
  );
}
