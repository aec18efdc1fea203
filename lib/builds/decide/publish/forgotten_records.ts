// What is left of a MachineOSConfig that is gone: the records of its builds name images, which go when no node runs them.
import type { RegistryDeletion } from "../effects.ts";
import type { BuildNode } from "../observed.ts";
import type { StoredRecord } from "../facts.ts";
import { digestsOf, imageDeletions, leavingOf, runningDigests } from "./collect.ts";

export interface ForgottenRecordsInput {
  readonly config: string;
  readonly records: readonly StoredRecord[];
  readonly nodes: readonly BuildNode[];
  /** Digests that builds of other MachineOSConfigs have. */
  readonly elsewhere: readonly string[];
}

export interface ForgottenRecord {
  readonly record: StoredRecord;
  readonly deletions: readonly RegistryDeletion[];
}

/** The records that can go now; the others are of images that a node runs or is to run. */
export function forgottenRecords(
  { config, records, nodes, elsewhere }: ForgottenRecordsInput,
): readonly ForgottenRecord[] {
  const running = runningDigests(nodes);
  const isRun = (record: StoredRecord): boolean => digestsOf(record).some((digest) => running.has(digest));
  const kept = records.filter(isRun);
  const gone = { config: { meta: { name: config }, status: {} }, builds: [], nodes, elsewhere };
  return records.filter((record) => !isRun(record)).map((record) => ({
    record,
    deletions: imageDeletions(leavingOf(record), { ...gone, records: [...kept, record] }),
  }));
}
