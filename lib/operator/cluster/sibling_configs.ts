// The PodPlacementConfigs of a namespace, for reviews of its configs. They are read from the API server, not from
// memory, since two configs are often created in a row. The reads have bounds, because editors of the namespace decide
// how many configs there are, and how large.
import pLimit from "p-limit";
import type { ReadApi } from "../../k8s/api.ts";
import { listPages } from "../../k8s/lists.ts";
import { Resource } from "../../k8s/types.ts";
import { priorityOf } from "../decide/validate.ts";
import type { Configs } from "./configs.ts";

interface SiblingConfig {
  readonly name: string;
  readonly priority: number;
}

export interface SiblingConfigs {
  /** Rejects when the configs cannot be read. */
  read(namespace: string): Promise<readonly SiblingConfig[]>;
}

interface SiblingConfigsDeps {
  readonly api: ReadApi;
  /** The configs as last seen, for namespaces whose configs are too large to be read in a review. */
  readonly configs: Pick<Configs, "hasSynced" | "forNamespace">;
  readonly signal: AbortSignal;
}

/** Most bytes that a review reads: 256 configs, one for each priority, of 16 KiB each. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Reviews that read at a time: a page takes some ten times its bytes while it is parsed. */
const MAX_PARALLEL_READS = 2;

export function openSiblingConfigs(deps: SiblingConfigsDeps): SiblingConfigs {
  const limit = pLimit(MAX_PARALLEL_READS);
  return { read: (namespace) => limit(() => readSiblings(deps, namespace)) };
}

async function readSiblings(
  { api, configs, signal }: SiblingConfigsDeps,
  namespace: string,
): Promise<readonly SiblingConfig[]> {
  const read: SiblingConfig[] = [];
  let bytes = 0;
  for await (const page of listPages(api, Resource.namespaceConfigs, { namespace, signal })) {
    for (const item of page.items) read.push({ name: item.metadata.name, priority: priorityOf(item) });
    bytes += page.bytes ?? 0;
    if (bytes <= MAX_BYTES || page.continue === undefined) continue;
    if (!configs.hasSynced()) {
      throw new Error(`the PodPlacementConfigs of ${namespace} have more than ${MAX_BYTES} bytes`);
    }
    // The configs that were not read count as they were last seen.
    const names = new Set(read.map(({ name }) => name));
    return [...read, ...configs.forNamespace(namespace).namespace.filter(({ name }) => !names.has(name))];
  }
  return read;
}
