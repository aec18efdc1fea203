// Applies an effect, guarded by the UID and resource version that the decision saw. A failure ends the reconcile.
import type { V1ConfigMap } from "@kubernetes/client-node";
import type { BuildEffect, ObjectTarget, PublishOutcome } from "../decide/effects.ts";
import { withPublishOutcome } from "../decide/status/publish_outcome.ts";
import { EMPTY_INDEX, parseStoredRecord, renderRecord } from "../decide/status/record.ts";
import type { BuildFacts, StoredRecord } from "../decide/facts.ts";
import { type JsonObject, objectAt } from "../../json.ts";
import { ignoring } from "../../k8s/api.ts";
import { isConflict, isNotFound } from "../../k8s/api_error.ts";
import { type KubeObject, Resource, type ResourceTarget, type ResourceType, type Wire } from "../../k8s/types.ts";
import { assertNever } from "../../parsed.ts";
import type { AnswerDeps } from "./answer_questions.ts";
import { createJob, type CreateJobDeps, refreshCopy } from "./create_job.ts";
import { deleteImages, type DeletionResult } from "./delete_images.ts";
import { type AssembleDeps, assembleIndex } from "../../publishing/assemble/assemble_index.ts";
import type { AssembleProblem } from "../../publishing/assemble/problem.ts";
import { CHILD_PROBLEMS } from "../../publishing/decide/child.ts";
import { ARCHITECTURES_MAP } from "../decide/names.ts";
import type { KnownArchitecture } from "../../arch.ts";
import { mismatchOf } from "../decide/reconcile/reuse.ts";
import type { BuildFailureReason } from "../decide/types.ts";

export type AppliedEffect =
  | { readonly kind: "job created"; readonly arch: string }
  | { readonly kind: "publishing ended"; readonly outcome: PublishOutcome; readonly ms: number }
  | { readonly kind: "deletion of an image"; readonly reference: string; readonly result: DeletionResult };

export interface ApplyDeps extends CreateJobDeps, AnswerDeps {
  readonly onDone: (done: AppliedEffect) => void;
  readonly records: Map<string, StoredRecord>;
}

const RESOURCES: Readonly<Record<ObjectTarget["resource"], ResourceType>> = {
  configs: Resource.machineOsConfigs,
  builds: Resource.machineOsBuilds,
  pools: Resource.machineConfigPools,
  jobs: Resource.jobs,
  configMaps: Resource.configMaps,
  secrets: Resource.secrets,
};

export async function applyEffect(effect: BuildEffect, facts: BuildFacts, deps: ApplyDeps): Promise<void> {
  const { api, signal } = deps;
  switch (effect.kind) {
    case "create build":
      // On a conflict, another client or an earlier try has created the build: the next reconcile reads it.
      return void await ignoring(isConflict, api.create(Resource.machineOsBuilds, effect.build, { signal }));
    case "patch":
      return await patch(effect.target, effect.patch, {}, deps);
    case "create job":
      await createJob(effect, deps);
      return deps.onDone({ kind: "job created", arch: effect.arch });
    case "refresh secret":
      return await refreshCopy(effect, deps);
    case "delete":
      return await deleteObject(effect, deps);
    case "write record":
      return await writeRecord(effect.object, effect.previousVersion, deps);
    case "patch status":
      return await patch(effect.target, { status: effect.patch }, { subresource: "status" }, deps);
    case "write architectures":
      return await writeArchitectures(effect.data, deps);
    case "publish":
      return await publishAndRecord(effect, facts, deps);
    case "delete images":
      return await deleteImages(effect.deletions, {
        api,
        repositories: deps.registries.push,
        signal,
        onResult: (reference, result) => deps.onDone({ kind: "deletion of an image", reference, result }),
      });
    default:
      return assertNever(effect);
  }
}

function targetOf({ resource, name }: ObjectTarget, namespace: string): ResourceTarget {
  return RESOURCES[resource].namespaced ? { namespace, name } : { name };
}

/** The API server refuses a merge patch whose UID or resource version differs from the object's. */
async function patch(
  { resource, name, uid, resourceVersion }: ObjectTarget,
  patch: JsonObject,
  part: Pick<ResourceTarget, "subresource">,
  { api, namespace, signal }: ApplyDeps,
): Promise<void> {
  const document = { ...patch, metadata: { ...objectAt(patch, "metadata"), uid, resourceVersion } };
  const target = { ...targetOf({ resource, name }, namespace), ...part };
  await api.patch(RESOURCES[resource], target, { body: { kind: "merge", document }, signal });
}

async function deleteObject(
  { target, propagation: propagationPolicy }: Extract<BuildEffect, { kind: "delete" }>,
  { api, namespace, signal }: ApplyDeps,
): Promise<void> {
  const { resource, uid, resourceVersion } = target;
  const options = { uid, resourceVersion, propagationPolicy, signal };
  await ignoring(isNotFound, api.delete(RESOURCES[resource], targetOf(target, namespace), options));
}

/** Throws a conflict if another record was written since: the next reconcile reads that record first. */
async function writeRecord(
  object: KubeObject,
  previousVersion: string | undefined,
  { api, namespace, signal, records }: ApplyDeps,
): Promise<void> {
  const { name } = object.metadata;
  const next = { ...object, metadata: { ...object.metadata, resourceVersion: previousVersion } };
  const written = previousVersion === undefined
    ? await api.create(Resource.configMaps, object, { namespace, signal })
    : await api.replace(Resource.configMaps, next, { namespace, name, signal });
  const stored = parseStoredRecord(written);
  if (stored !== undefined) records.set(stored.build, stored);
}

async function writeArchitectures(
  data: Readonly<Record<string, string>>,
  { api, namespace, signal }: ApplyDeps,
): Promise<void> {
  const name = ARCHITECTURES_MAP;
  try {
    const body = { kind: "merge", document: { data } } as const;
    await api.patch(Resource.configMaps, { namespace, name }, { body, signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data } satisfies Wire<V1ConfigMap>;
    await api.create(Resource.configMaps, object, { namespace, signal });
  }
}

async function publishAndRecord(
  effect: Extract<BuildEffect, { kind: "publish" }>,
  facts: BuildFacts,
  deps: ApplyDeps,
): Promise<void> {
  const startedMs = deps.clock.monotonicMs();
  const outcome = await publishImages(effect, { ...deps, repositories: deps.registries.push });
  deps.onDone({ kind: "publishing ended", outcome, ms: deps.clock.monotonicMs() - startedMs });
  const { tag, build: name } = effect;
  const build = facts.builds.find(({ meta }) => meta.name === name);
  if (build === undefined) return;
  const stored = deps.records.get(name) ?? facts.records.find((one) => one.build === name);
  const isOwn = stored?.buildUid === build.meta.uid;
  const attempt = { tag, nowMs: deps.clock.nowMs(), pushVersion: facts.secretVersions.push };
  const record = withPublishOutcome(isOwn ? stored.record : { archs: [], index: EMPTY_INDEX }, outcome, attempt);
  const object = renderRecord(record, { build, namespace: deps.namespace });
  await writeRecord(object, stored?.resourceVersion, deps);
}

/** Publishes an image or index; idempotent. Rejects with the signal's reason, or a fault that is not a registry's. */
export async function publishImages(
  { to, mode, children }: Pick<Extract<BuildEffect, { kind: "publish" }>, "to" | "mode" | "children">,
  deps: Omit<AssembleDeps, "onProgress">,
): Promise<PublishOutcome> {
  const childOf = (image: string | undefined) => children.find(({ reference }) => reference === image);
  const [result] = await assembleIndex({
    to: [to],
    images: children.map(({ reference }) => reference),
    mode: "publish",
    form: mode === "single" ? "image" : "index",
    judge: (child) => {
      const wanted = childOf(child.image);
      return wanted && mismatchOf(child, wanted, wanted);
    },
    tagOf: (image) => childOf(image)?.tag,
  }, { ...deps, onProgress: () => {} });
  if (result.kind === "failed") {
    const outcomes = result.problems.map((problem) => publishOutcomeOf(problem, childOf(problem.image)?.arch));
    // Lost images and transient problems go first: the next attempt meets a permanent problem again.
    return outcomes.find(({ kind }) => kind === "lost") ?? outcomes.find(({ kind }) => kind === "retry") ??
      outcomes[0] ?? { kind: "retry", message: "" };
  }
  return {
    kind: "published",
    reference: `${result.repository}@${result.index.digest}`,
    children: result.images.map(({ digest }) => digest),
    isNew: result.kind === "published",
  };
}

/** Messages of registries that refuse to move a tag. */
const IMMUTABLE = /immutab|already exists|cannot be (?:overwritten|moved|updated)|TAG_(?:INVALID|IMMUTABLE)/i;

/** Problems that no retry solves. All others are retried, and the next attempt names the image that is missing. */
const PERMANENT: Readonly<Record<string, BuildFailureReason>> = {
  Unauthorized: "PushDenied",
  PushDenied: "PushDenied",
  MediaTypeRefused: "IndexUnsupported",
  DigestMismatch: "DigestMismatch",
};

/** The outcome of an attempt that failed with this problem; `arch`: the architecture whose image it is about. */
export function publishOutcomeOf(
  { kind, reason, message, retryAfterMs }: AssembleProblem,
  arch: KnownArchitecture | undefined,
): PublishOutcome {
  if (kind === "transient") return { kind: "retry", message, retryAfterMs };
  if (arch !== undefined && reason === "ManifestUnknown") return { kind: "lost", arch, message };
  if (arch !== undefined && CHILD_PROBLEMS.some((one) => one === reason)) {
    return { kind: "failed", reason: "ArchMismatch", message, arch };
  }
  if (IMMUTABLE.test(message)) return { kind: "tag immutable", message };
  const failure = PERMANENT[reason];
  return failure === undefined ? { kind: "retry", message } : { kind: "failed", reason: failure, message };
}
