// The operating system images of pools, compared with those from before a migration. They are in rendered MachineConfigs, which
// are large and named by a hash. Each is read once in the life of the process, a few a reconcile, however many pools there are.
import { LRUCache } from "lru-cache";
import { objectAt, textAt } from "../../json.ts";
import { type ReadApi, readOptional } from "../../k8s/api.ts";
import { Resource } from "../../k8s/types.ts";
import type { ImageComparison } from "../decide/release/convergence.ts";
import type { OsImageState } from "../decide/types/cluster.ts";
import { OWN_IMAGE_ANNOTATION } from "../names.ts";

/** Read at most in one reconcile: plan, settings, ClusterVersion and pools come to it, and at times pools and nodes for drains. */
export const CONFIGS_A_RECONCILE = 4;
/** Images that are kept: two a pool, in a cluster of many pools. */
const KEPT = 1_000;
const GONE = "";
/** Of a MachineConfig of the user's: no release changes it. */
const OWN = "own";

export class OsImages {
  readonly #api: ReadApi;
  readonly #urls = new LRUCache<string, string>({ max: KEPT });

  constructor(api: ReadApi) {
    this.#api = api;
  }

  /** Compares by what is known, then reads some of what is not: the next reconcile decides. Rejects when one cannot be read. */
  async compare(pools: readonly ImageComparison[], signal: AbortSignal): Promise<ReadonlyMap<string, OsImageState>> {
    const found = new Map(pools.map((comparison) => [comparison.pool, this.#compare(comparison)] as const));
    const names = new Set(pools.flatMap(({ config, before }) => [config, before]));
    const unread = [...names].filter((name) => !this.#urls.has(name));
    for (const name of unread.slice(0, CONFIGS_A_RECONCILE)) this.#urls.set(name, await this.#read(name, signal));
    return found;
  }

  /** Where the MachineConfig from before was deleted since, the pool has another one: there is nothing to hold it against. */
  #compare({ pool, config, before }: ImageComparison): OsImageState {
    const [now, then] = [this.#urls.get(config), this.#urls.get(before)];
    if (now === undefined || then === undefined) return "unread";
    if (now === GONE) throw new Error(`Cannot read the image of pool "${pool}": MachineConfig "${config}" names none.`);
    return now === OWN ? "ownImage" : now === then ? "asBefore" : "changed";
  }

  async #read(name: string, signal: AbortSignal): Promise<string> {
    const config = await readOptional(this.#api, { type: Resource.machineConfigs, name, signal });
    const isOwn = Object.hasOwn(config?.metadata.annotations ?? {}, OWN_IMAGE_ANNOTATION);
    return isOwn ? OWN : textAt(objectAt(config, "spec"), "osImageURL");
  }
}
