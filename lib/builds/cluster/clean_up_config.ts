// What is left of a MachineOSConfig that is gone. Builds, Jobs and what belongs to them have owners, and the garbage collector
// takes them. The digests that pods handed over have none; nor have the records of builds, which name images in a registry.
import type { Clock } from "../../clock.ts";
import { forgottenRecords } from "../decide/publish/collect.ts";
import { BuildLabel } from "../decide/names.ts";
import { type KubeApi, readOptional } from "../../k8s/api.ts";
import { isConflict, isNotFound } from "../../k8s/errors.ts";
import { Resource } from "../../k8s/types.ts";
import type { BuildRegistries, RegistrySecrets } from "./answer_questions.ts";
import { deleteImages, type DeletionResult } from "./delete_images.ts";
import { digestsElsewhere } from "./read_facts.ts";
import type { BuildWatches, WatchedMap } from "./watches.ts";

export interface CleanUpConfigDeps {
  readonly api: KubeApi;
  readonly watches: BuildWatches;
  readonly namespace: string;
  readonly openRegistries: (secrets: RegistrySecrets) => BuildRegistries;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onImage: (reference: string, result: DeletionResult) => void;
}

/** `later`: a registry does not answer. Where nodes still run an image, their change is what is waited for. */
export type CleanUp = "done" | "later";

export async function cleanUpConfig(config: string, deps: CleanUpConfigDeps): Promise<CleanUp> {
  const { watches } = deps;
  const left = [...watches.maps.values()].filter(({ child: { labels, owners } }) =>
    labels[BuildLabel.config] === config && owners.length === 0
  );
  if (left.length === 0 || !await isGone(config, deps)) return "done";
  for (const { child, record } of left) {
    if (record === undefined) await deleteMap(child, deps);
  }
  // Their going is seen: what they leave is complete then.
  const isGoing = [...watches.builds.values()].some((build) => build.config === config) ||
    [...watches.jobs.values()].some(({ meta }) => meta.labels[BuildLabel.config] === config);
  return isGoing ? "done" : await cleanUpImages(config, left, deps);
}

export function leftBehind({ configs, maps }: Pick<BuildWatches, "configs" | "maps">): ReadonlySet<string> {
  const names = [...maps.values()].map(({ child: { labels } }) => labels[BuildLabel.config] ?? "");
  return new Set(names.filter((name) => name !== "" && configs.get(name) === undefined));
}

/** A watch leaves out what it cannot read: nothing is deleted for that. */
async function isGone(config: string, { api, watches, signal }: CleanUpConfigDeps): Promise<boolean> {
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
  const elsewhere = digestsElsewhere(config, maps);
  let isOpen = false;
  for (const { record, deletions } of forgottenRecords({ config, records, nodes: [...nodes.values()], elsewhere })) {
    const child = left.find((one) => one.record === record)?.child;
    if (child === undefined || !await isThere(child, deps)) continue;
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
    if (isUnknown) isOpen = true;
    else await deleteMap(child, deps);
  }
  return isOpen ? "later" : "done";
}

/** The watch may show one that an earlier pass has taken away: what was reported with it is not reported again. */
async function isThere(
  { name, uid }: WatchedMap["child"],
  { api, namespace, signal }: CleanUpConfigDeps,
): Promise<boolean> {
  const found = await readOptional(api, { type: Resource.configMaps, namespace, name, signal });
  return found?.metadata.uid === uid;
}

async function deleteMap({ name, uid }: WatchedMap["child"], deps: CleanUpConfigDeps): Promise<void> {
  const { api, namespace, signal } = deps;
  try {
    await api.delete(Resource.configMaps, { namespace, name }, { uid, signal });
  } catch (error) {
    // Gone, or another one by now.
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}
