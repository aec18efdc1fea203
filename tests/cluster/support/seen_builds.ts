// MachineOSBuilds as tests look at them. Pure.
import { conditionOf, isTrue, listAt, read } from "./cluster_access.ts";

export interface SeenBuild {
  readonly name: string;
  readonly uid: string;
  /** Type of the condition that is True and counts: `Succeeded`, `Failed`, `Interrupted`, `Building`, `Prepared` or ``. */
  readonly state: string;
  readonly message: string;
  readonly archStatus: string;
  readonly digest: string;
}

export function seenBuilds(list: unknown, config: string): readonly SeenBuild[] {
  return listAt(list, "items").filter((item) => read(item, "spec", "machineOSConfig", "name") === config)
    .toSorted((left, right) => createdOf(left) < createdOf(right) ? -1 : 1).map(seenBuild);
}

const STATES = ["Succeeded", "Failed", "Interrupted", "Building", "Prepared"];

function seenBuild(item: unknown): SeenBuild {
  const state = STATES.find((type) => isTrue(item, type)) ?? "";
  const condition = conditionOf(item, state);
  return {
    name: String(read(item, "metadata", "name")),
    uid: String(read(item, "metadata", "uid")),
    state,
    message: String(read(condition, "message") ?? ""),
    archStatus: String(read(item, "metadata", "annotations", "archway.dev/arch-status") ?? ""),
    digest: String(read(item, "status", "digestedImagePushSpec") ?? ""),
  };
}

function createdOf(item: unknown): string {
  return String(read(item, "metadata", "creationTimestamp"));
}
