// Deletes images by their tags, but leaves a tag alone that another client has moved since it was recorded.
import { problemOf } from "../../publishing/assemble/problem.ts";
import type { Repositories } from "../../oci/repositories.ts";
import { type DeleteBy, deleteBy, namesRegistryService } from "../decide/publish/delete_by.ts";
import { ignoring, type KubeApi, type ReadApi, readOptional } from "../../k8s/api.ts";
import { listAt, objectAt, textAt } from "../../json.ts";
import { ApiError, isForbidden, isGoneOrReplaced, isNotFound } from "../../k8s/api_error.ts";
import { Resource } from "../../k8s/types.ts";
import type { RegistryDeletion } from "../decide/effects.ts";
import { forgottenRecords } from "../decide/publish/deletions.ts";
import { BuildLabel } from "../decide/names.ts";
import type { BuildRegistries, RegistrySecrets } from "./answer_questions.ts";
import type { CreateJobDeps } from "./create_job.ts";
import { digestsOfOtherConfigs } from "./read_facts.ts";
import type { BuildWatches, WatchedMap } from "./watches.ts";

/** `moved`: the tag names another image by now. `unsupported`, `denied`: the registry keeps the image. */
export type DeletionResult =
  | { readonly kind: "moved" | "unsupported" | "denied" }
  | TagDeletion;

interface DeleteImagesDeps {
  readonly api: KubeApi;
  readonly repositories: Repositories;
  readonly signal: AbortSignal;
  readonly onResult: (reference: string, result: DeletionResult) => void;
}

export async function deleteImages(deletions: readonly RegistryDeletion[], deps: DeleteImagesDeps): Promise<void> {
  const isKnown = deletions.every(({ reference }) => namesRegistryService(reference));
  const hosts = isKnown ? [] : await readRegistryHosts(deps.api, deps.signal);
  for (const deletion of deletions) {
    const by = deleteBy(deletion.reference, hosts);
    deps.onResult(deletion.reference, await deleteImage(deletion, by, deps));
  }
}

async function deleteImage(
  { reference, digest }: RegistryDeletion,
  by: DeleteBy,
  { api, repositories, signal }: DeleteImagesDeps,
): Promise<DeletionResult> {
  if (by.kind === "nothing") return { kind: "unsupported" };
  try {
    const image = repositories.targetOf(reference);
    const target = await repositories.target(image);
    const named = await target.readDigest(image.identifier);
    if (named === undefined) return { kind: "absent" };
    if (named !== digest) return { kind: "moved" };
    return by.kind === "manifest"
      ? { kind: await target.deleteManifest(digest) }
      : await deleteImageStreamTag(by, { api, signal });
  } catch (error) {
    const problem = problemOf(error, signal);
    if (["Unauthorized", "PushDenied"].includes(problem.reason)) return { kind: "denied" };
    return { kind: "unknown", message: problem.message };
  }
}

/** `forbidden`: Archway's ServiceAccount may not delete ImageStreamTags in that namespace. */
type TagDeletion =
  | { readonly kind: "deleted" | "absent" }
  | { readonly kind: "forbidden"; readonly namespace: string }
  | { readonly kind: "unknown"; readonly message: string };

/** Host names of OpenShift's own registry besides that of its Service; empty on other clusters. */
async function readRegistryHosts(api: ReadApi, signal: AbortSignal): Promise<readonly string[]> {
  // When forbidden, a route counts as another registry: an account that may only push cannot delete manifests there.
  const config = await ignoring(
    isForbidden,
    readOptional(api, { type: Resource.imageConfigs, name: "cluster", signal }),
  );
  const status = objectAt(config, "status");
  const routes = listAt(status, "externalRegistryHostnames") ?? [];
  return [textAt(status, "internalRegistryHostname"), ...routes].filter((host) => typeof host === "string");
}

async function deleteImageStreamTag(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { api, signal }: { readonly api: KubeApi; readonly signal: AbortSignal },
): Promise<TagDeletion> {
  try {
    await api.delete(Resource.imageStreamTags, { namespace, name }, { signal });
    return { kind: "deleted" };
  } catch (error) {
    if (signal.aborted || !(error instanceof ApiError)) throw error;
    if (isNotFound(error)) return { kind: "absent" };
    return isForbidden(error) ? { kind: "forbidden", namespace } : { kind: "unknown", message: error.message };
  }
}

interface CleanUpConfigDeps extends CreateJobDeps {
  readonly watches: BuildWatches;
  readonly openRegistries: (secrets: RegistrySecrets) => BuildRegistries;
  readonly onImage: (reference: string, result: DeletionResult) => void;
}

/** `later`: a registry gave no answer. An image that nodes run needs no retry: a change of those nodes triggers one. */
type CleanUp = "done" | "later";

/** Deletes images and ConfigMaps that a deleted MachineOSConfig has left. */
export async function cleanUpConfig(config: string, deps: CleanUpConfigDeps): Promise<CleanUp> {
  const { watches } = deps;
  const left = [...watches.maps.values()].filter(({ child: { labels, owners } }) =>
    labels[BuildLabel.config] === config && owners.length === 0
  );
  if (left.length === 0 || !await isConfigDeleted(config, deps)) return "done";
  for (const { child, record } of left) {
    if (record === undefined) await deleteMap(child, deps);
  }
  // The deletion of builds and Jobs triggers the next clean-up; only then is it known what they leave.
  const isPending = [...watches.builds.values()].some((build) => build.config === config) ||
    [...watches.jobs.values()].some(({ meta }) => meta.labels[BuildLabel.config] === config);
  return isPending ? "done" : await cleanUpImages(config, left, deps);
}

export function deletedConfigsWithMaps({ configs, maps }: Pick<BuildWatches, "configs" | "maps">): ReadonlySet<string> {
  const names = [...maps.values()].map(({ child: { labels } }) => labels[BuildLabel.config] ?? "");
  return new Set(names.filter((name) => name !== "" && configs.get(name) === undefined));
}

/** Asks the API server, since the watch also leaves out objects that it cannot parse. */
async function isConfigDeleted(config: string, { api, watches, signal }: CleanUpConfigDeps): Promise<boolean> {
  if (watches.configs.state() === "missing") return false;
  const { items } = await api.list(Resource.machineOsConfigs, { fieldSelector: `metadata.name=${config}` }, signal);
  return items.length === 0;
}

async function cleanUpImages(
  config: string,
  left: readonly WatchedMap[],
  deps: CleanUpConfigDeps,
): Promise<CleanUp> {
  const { api, watches: { nodes, maps }, namespace, signal, openRegistries, onImage } = deps;
  const records = left.flatMap(({ record }) => record ?? []);
  const digestsElsewhere = digestsOfOtherConfigs(config, maps);
  let mustRetry = false;
  for (
    const { record, deletions } of forgottenRecords({
      config,
      records,
      nodes: [...nodes.values()],
      digestsElsewhere,
    })
  ) {
    const child = left.find((one) => one.record === record)?.child;
    if (child === undefined || !await stillExists(child, deps)) continue;
    const name = record.pushSecret;
    const push = name === "" ? undefined : await readOptional(api, { type: Resource.secrets, namespace, name, signal });
    const { push: repositories } = openRegistries({ push, pull: undefined });
    let isUnknown = false;
    await deleteImages(deletions, {
      api,
      repositories,
      signal,
      onResult: (reference, result) => {
        isUnknown ||= result.kind === "unknown";
        onImage(reference, result);
      },
    });
    if (isUnknown) mustRetry = true;
    else await deleteMap(child, deps);
  }
  return mustRetry ? "later" : "done";
}

/** The watch may still show a record that an earlier pass deleted; its images must not be reported twice. */
async function stillExists(
  { name, uid }: WatchedMap["child"],
  { api, namespace, signal }: CleanUpConfigDeps,
): Promise<boolean> {
  const found = await readOptional(api, { type: Resource.configMaps, namespace, name, signal });
  return found?.metadata.uid === uid;
}

async function deleteMap({ name, uid }: WatchedMap["child"], deps: CleanUpConfigDeps): Promise<void> {
  const { api, namespace, signal } = deps;
  await ignoring(isGoneOrReplaced, api.delete(Resource.configMaps, { namespace, name }, { uid, signal }));
}
