// The operating system images of pools, compared with those before a migration. Rendered MachineConfigs name the
// images. They are large and never change: the process reads each of them once, and a few per reconcile.
import { LRUCache } from "lru-cache";
import { objectAt, textAt } from "../../json.ts";
import { type ReadApi, readOptional } from "../../k8s/api.ts";
import { Resource } from "../../k8s/types.ts";
import type { ImageComparison } from "../decide/release/convergence.ts";
import type { OsImageState } from "../decide/types/cluster.ts";
import { IMAGE_OVERRIDDEN_ANNOTATION } from "../names.ts";

/** MachineConfigs that one reconcile reads at most, beside its other requests. */
export const CONFIGS_A_RECONCILE = 4;
/** Images that are kept: two a pool, in a cluster of many pools. */
const KEPT = 1_000;
const GONE = "";
/** Stands for an image that a user's MachineConfig sets: no release changes it. */
const OVERRIDDEN = "overridden";

export class OsImages {
  readonly #api: ReadApi;
  readonly #urls = new LRUCache<string, string>({ max: KEPT });

  constructor(api: ReadApi) {
    this.#api = api;
  }

  /** Compares what was read before, then reads some of the rest for the next reconcile. Rejects when a read fails. */
  async compare(pools: readonly ImageComparison[], signal: AbortSignal): Promise<ReadonlyMap<string, OsImageState>> {
    const found = new Map(pools.map((comparison) => [comparison.pool, this.#compare(comparison)] as const));
    const names = new Set(pools.flatMap(({ config, before }) => [config, before]));
    const unread = [...names].filter((name) => !this.#urls.has(name));
    for (const name of unread.slice(0, CONFIGS_A_RECONCILE)) this.#urls.set(name, await this.#read(name, signal));
    return found;
  }

  /** Where the MachineConfig from before was deleted, the pool has moved to another one: that counts as changed. */
  #compare({ pool, config, before }: ImageComparison): OsImageState {
    const [now, then] = [this.#urls.get(config), this.#urls.get(before)];
    if (now === undefined || then === undefined) return "unread";
    if (now === GONE) throw new Error(`Cannot read the image of pool "${pool}": MachineConfig "${config}" names none.`);
    return now === OVERRIDDEN ? "overridden" : now === then ? "asBefore" : "changed";
  }

  async #read(name: string, signal: AbortSignal): Promise<string> {
    const config = await readOptional(this.#api, { type: Resource.machineConfigs, name, signal });
    const isOverridden = Object.hasOwn(config?.metadata.annotations ?? {}, IMAGE_OVERRIDDEN_ANNOTATION);
    return isOverridden ? OVERRIDDEN : textAt(objectAt(config, "spec"), "osImageURL");
  }
}
