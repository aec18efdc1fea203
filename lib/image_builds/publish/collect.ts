// What can be deleted: builds beyond those that are kept for going back, and their images where nothing uses them any more.
// An image that a node runs or is to run, that is published, or that another build has, stays.
import type { Effect, RegistryDeletion } from "../effects.ts";
import type { BuildNode, MachineOSBuild, MachineOSConfig } from "../observed.ts";
import { digestOfReference, repositoryOf } from "../plan/repository.ts";
import { stateOfBuild } from "../status/conditions.ts";
import { BuildLabel, recordName } from "../words.ts";
import type { StoredRecord } from "../world.ts";
import { SHORT_KEY } from "../plan/build_keys.ts";

/** What collection looks at. */
export interface CollectInput {
  readonly config: Pick<MachineOSConfig, "meta" | "status">;
  readonly builds: readonly MachineOSBuild[];
  readonly records: readonly StoredRecord[];
  readonly nodes: readonly BuildNode[];
  /** Builds that are kept of each MachineOSConfig. */
  readonly retain: number;
  /** Name of the build that is in use. */
  readonly current: string;
}

/** The oldest builds beyond those that are kept: succeeded, not in use, and recorded by this project. */
export function surplusBuilds({ builds, records, retain, current }: CollectInput): readonly MachineOSBuild[] {
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

/** Digests that something uses: those of every build but `leaving`, of nodes, and what is published. */
export function liveDigests(
  { config, builds, records, nodes }: Omit<CollectInput, "retain" | "current">,
  leaving: Pick<MachineOSBuild, "meta">,
): ReadonlySet<string> {
  const staying = builds.filter(({ meta }) => meta.uid !== leaving.meta.uid);
  const recorded = records.filter(({ buildUid }) => buildUid !== leaving.meta.uid).flatMap(({ record }) => [
    ...record.archs.map(({ digest = "" }) => digest),
    ...(record.index.kind === "published" ? [digestOfReference(record.index.reference), ...record.index.children] : []),
  ]);
  return new Set([
    ...staying.map(({ status }) => digestOfReference(status.digestedPushSpec ?? "")),
    ...recorded,
    ...nodes.flatMap(({ currentImage, desiredImage }) => [currentImage, desiredImage].map(digestOfReference)),
    digestOfReference(config.status.pullSpec ?? ""),
  ].filter((digest) => digest !== ""));
}

/** What to delete from the registry with a build: the index first, then images of one architecture. */
export function imageDeletions(
  leaving: MachineOSBuild,
  input: Omit<CollectInput, "retain" | "current">,
): readonly RegistryDeletion[] {
  const record = input.records.find(({ buildUid }) => buildUid === leaving.meta.uid)?.record;
  const repository = repositoryOf(leaving.pushSpec);
  const whole = digestOfReference(leaving.status.digestedPushSpec ?? "");
  // Who is alive keeps its children as well: a node can run a child, and an index is worth nothing without one.
  const live = liveDigests(input, leaving);
  const tag = record?.index.kind === "published" ? record.index.tag : leaving.meta.name;
  const index: readonly RegistryDeletion[] = whole === "" || live.has(whole)
    ? []
    : [{ kind: "index", reference: `${repository}:${tag}`, digest: whole }];
  if (whole !== "" && live.has(whole)) return [];
  const children = (record?.archs ?? []).flatMap(
    ({ arch, buildKey, digest = "", tag, from }): readonly RegistryDeletion[] => {
      if (digest === "" || digest === whole || live.has(digest) || from !== undefined) return [];
      const own = tag ?? `${input.config.meta.name}-${buildKey.slice(0, SHORT_KEY)}-${arch}`;
      return [{ kind: "child", reference: `${repository}:${own}`, digest }];
    },
  );
  return [...index, ...children];
}

/** The effects that let surplus builds go: images first, so that a restart in between leaves none behind. */
export function collectEffects(input: CollectInput): readonly Effect[] {
  const [oldest] = surplusBuilds(input);
  if (oldest === undefined) return [];
  const deletions = imageDeletions(oldest, input);
  const { name, uid } = oldest.meta;
  return [
    ...(deletions.length === 0 ? [] : [{ kind: "collect", deletions } as const]),
    { kind: "delete", target: { resource: "builds", name, uid }, propagation: "Foreground" },
  ];
}
