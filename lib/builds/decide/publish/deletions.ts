// What can be deleted: surplus builds, and those of their images that no node, no pool and no other build uses.
import type { BuildEffect, RegistryDeletion } from "../effects.ts";
import type { BuildFacts, StoredRecord } from "../facts.ts";
import type { BuildNode } from "../observed.ts";
import type { MachineOSBuild, MachineOSConfig } from "../parse/machine_os_config.ts";
import { BuildLabel, recordName } from "../names.ts";
import { SHORT_KEY_LENGTH } from "../plan/build_keys.ts";
import { cutReference, digestOf } from "../../../oci/reference.ts";
import type { ArchitectureBuild, BuildRecord } from "../types.ts";
import { stateOfBuild } from "../status/aggregate.ts";

export interface DeletionInput extends Pick<BuildFacts, "builds" | "records" | "nodes" | "digestsElsewhere"> {
  readonly config: {
    readonly meta: Pick<MachineOSConfig["meta"], "name">;
    readonly status: Pick<MachineOSConfig["status"], "pullSpec">;
  };
  readonly retain: number;
  readonly current: string;
}

interface DeletedBuild {
  readonly meta: Pick<MachineOSBuild["meta"], "name" | "uid">;
  readonly pushSpec: string;
  readonly status: Pick<MachineOSBuild["status"], "digestedPushSpec">;
}

/** Succeeded builds beyond the `retain` newest, the oldest first. The current one is never among them. */
export function surplusBuilds({ builds, records, retain, current }: DeletionInput): readonly MachineOSBuild[] {
  const done = builds.filter((build) =>
    stateOfBuild(build) === "Succeeded" && !build.meta.isDeleting &&
    build.meta.labels[BuildLabel.preBuilt] !== "true" &&
    records.some(({ name, buildUid }) => name === recordName(build.meta.name) && buildUid === build.meta.uid)
  );
  const newestFirst = done.toSorted((left, right) =>
    Number(right.meta.name === current) - Number(left.meta.name === current) ||
    right.meta.createdMs - left.meta.createdMs || (left.meta.name < right.meta.name ? -1 : 1)
  );
  return newestFirst.slice(Math.max(1, retain)).reverse();
}

function liveDigests(
  { config, builds, records, nodes, digestsElsewhere }: Omit<DeletionInput, "retain" | "current">,
  deleted: Pick<DeletedBuild, "meta">,
): ReadonlySet<string> {
  const staying = builds.filter(({ meta }) => meta.uid !== deleted.meta.uid);
  const recorded = records.filter(({ buildUid }) => buildUid !== deleted.meta.uid).flatMap(digestsOf);
  return new Set([
    ...staying.map(({ status }) => digestOf(status.digestedPushSpec)),
    ...recorded,
    ...digestsElsewhere,
    ...runningDigests(nodes),
    digestOf(config.status.pullSpec),
  ].filter((digest) => digest !== ""));
}

/** Digests that a record names; some may be empty. */
export function digestsOf({ record: { archs, index } }: Pick<StoredRecord, "record">): readonly string[] {
  return [
    ...archs.map(({ digest = "" }) => digest),
    ...(index.kind === "published" ? [digestOf(index.reference), ...index.children] : []),
  ];
}

function runningDigests(nodes: readonly BuildNode[]): ReadonlySet<string> {
  const digests = nodes.flatMap(({ currentImage, desiredImage }) => [currentImage, desiredImage].map(digestOf));
  return new Set(digests.filter((digest) => digest !== ""));
}

function deletedBuildOf({ build: name, buildUid: uid, pushSpec, record: { index } }: StoredRecord): DeletedBuild {
  const digestedPushSpec = index.kind === "published" ? index.reference : undefined;
  return { meta: { name, uid }, pushSpec, status: { digestedPushSpec } };
}

export function imageDeletions(
  deleted: DeletedBuild,
  input: Omit<DeletionInput, "retain" | "current">,
): readonly RegistryDeletion[] {
  const record = input.records.find(({ buildUid }) => buildUid === deleted.meta.uid)?.record;
  const repository = cutReference(deleted.pushSpec).name;
  const whole = digestOf(deleted.status.digestedPushSpec);
  // An index in use keeps all its images: a node may run any of them, and the index is useless without one of them.
  const live = liveDigests(input, deleted);
  if (live.has(whole)) return [];
  const tag = record?.index.kind === "published" ? record.index.tag : deleted.meta.name;
  const index = whole === "" ? [] : [{ reference: `${repository}:${tag}`, digest: whole }];
  const children = (record?.archs ?? []).flatMap(
    (one): readonly RegistryDeletion[] => {
      const { digest = "", from, isStaged } = one;
      if (digest === "" || digest === whole || live.has(digest) || from !== undefined && isStaged !== true) return [];
      return [{ reference: `${from ?? repository}:${architectureTag(input.config.meta.name, one)}`, digest }];
    },
  );
  return [...index, ...children];
}

/** The tag of one architecture's image: the recorded one, else that of the plan. */
export function architectureTag(
  config: string,
  { arch, buildKey, tag }: Pick<ArchitectureBuild, "arch" | "buildKey" | "tag">,
): string {
  return tag ?? `${config}-${buildKey.slice(0, SHORT_KEY_LENGTH)}-${arch}`;
}

export function stagedDeletions(
  { archs }: BuildRecord,
  { config, digestsElsewhere }: { readonly config: string; readonly digestsElsewhere: readonly string[] },
): readonly RegistryDeletion[] {
  return archs.flatMap((one): readonly RegistryDeletion[] => {
    const { isStaged, digest = "", from = "" } = one;
    if (isStaged !== true || digestsElsewhere.includes(digest)) return [];
    return [{ reference: `${from}:${architectureTag(config, one)}`, digest }];
  });
}

/** Deletes one surplus build, or record of a deleted one, its images first. Only one: builds may share images. */
export function decideDeletion(input: DeletionInput): readonly BuildEffect[] {
  const [oldest] = surplusBuilds(input);
  if (oldest !== undefined) {
    const { name, uid } = oldest.meta;
    const target = { resource: "builds", name, uid } as const;
    return [...imageEffects(oldest, input), { kind: "delete", target, propagation: "Foreground" }];
  }
  // The record of an image that a node runs stays until the node runs another one.
  const running = runningDigests(input.nodes);
  const orphan = input.records.find((one) =>
    one.build !== input.current && !input.builds.some(({ meta }) => meta.uid === one.buildUid) &&
    !digestsOf(one).some((digest) => running.has(digest))
  );
  if (orphan === undefined) return [];
  const { name, resourceVersion } = orphan;
  const target = { resource: "configMaps", name, resourceVersion } as const;
  return [...imageEffects(deletedBuildOf(orphan), input), { kind: "delete", target, propagation: "Background" }];
}

function imageEffects(deleted: DeletedBuild, input: DeletionInput): readonly BuildEffect[] {
  const deletions = imageDeletions(deleted, input);
  return deletions.length === 0 ? [] : [{ kind: "delete images", deletions }];
}

export interface ForgottenRecordsInput extends Pick<BuildFacts, "records" | "nodes" | "digestsElsewhere"> {
  readonly config: string;
}

/** Records of a deleted MachineOSConfig whose images no node runs, each with what to delete. */
export function forgottenRecords(
  { config, records, nodes, digestsElsewhere }: ForgottenRecordsInput,
): readonly { readonly record: StoredRecord; readonly deletions: readonly RegistryDeletion[] }[] {
  const running = runningDigests(nodes);
  const isInUse = (record: StoredRecord): boolean => digestsOf(record).some((digest) => running.has(digest));
  const kept = records.filter(isInUse);
  const gone = {
    config: { meta: { name: config }, status: { pullSpec: undefined } },
    builds: [],
    nodes,
    digestsElsewhere,
  };
  return records.filter((record) => !isInUse(record)).map((record) => ({
    record,
    deletions: imageDeletions(deletedBuildOf(record), { ...gone, records: [...kept, record] }),
  }));
}
