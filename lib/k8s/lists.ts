// Whole collections, page by page, so that neither side ever holds more than a page of raw objects. That holds for a list
// without resourceVersion: with "0" the API server may answer from its watch cache and ignore the limit.
import type { ListOptions, ReadApi } from "./api.ts";
import { isExpired } from "./errors.ts";
import { type KubeList, type KubeObject, Resource, type ResourceType } from "./types.ts";

/** Objects a page. */
const LIST_PAGE_SIZE = 500;
/** Pods a page: most have some 8 KB, but their creators can make each 1.4 MB large. */
const POD_PAGE_SIZE = 50;

/** How often a list is started over when its continue token has expired. */
const MAX_RESTARTS = 3;

/** What to list. `limit` is the size of a page; absent: what suits the resource. */
export type ListAllOptions = Omit<ListOptions, "continue" | "limit"> & {
  readonly limit?: number | undefined;
  readonly signal: AbortSignal;
};

/**
 * The pages of a collection, all of one resourceVersion. Throws what the API throws; a 410 in the middle (the continue
 * token expired, see `isExpired`) means that the list must be started over.
 */
export async function* listPages(
  api: ReadApi,
  type: ResourceType,
  options: ListAllOptions,
): AsyncGenerator<KubeList, void> {
  const { signal, resourceVersion, limit = pageSizeOf(type), ...selection } = options;
  // A continue token carries its own resourceVersion; the server refuses to be given another.
  let place: Pick<ListOptions, "continue" | "resourceVersion"> | undefined = resourceVersion === undefined
    ? {}
    : { resourceVersion };
  while (place !== undefined) {
    // No reference to a page is kept while the next one is read.
    const page: KubeList = await api.list(type, { limit, ...selection, ...place }, signal);
    place = page.continue === undefined ? undefined : { continue: page.continue };
    yield page;
  }
}

function pageSizeOf({ group, plural }: ResourceType): number {
  return group === Resource.pods.group && plural === Resource.pods.plural ? POD_PAGE_SIZE : LIST_PAGE_SIZE;
}

/**
 * Every object of a collection that was there from the beginning of the list to its end. An object may come twice: when
 * the continue token expires, the list starts over.
 */
export async function* listAll(
  api: ReadApi,
  type: ResourceType,
  options: ListAllOptions,
): AsyncGenerator<KubeObject, void> {
  for (let restarts = 0;; restarts++) {
    try {
      for await (const page of listPages(api, type, options)) yield* page.items;
      return;
    } catch (error) {
      if (!isExpired(error) || restarts >= MAX_RESTARTS) throw error;
    }
  }
}
