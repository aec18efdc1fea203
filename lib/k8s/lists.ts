// Whole collections, page by page, so that neither side ever holds more than a page of raw objects. That holds for a list
// without resourceVersion: with "0" the API server may answer from its watch cache and ignore the limit.
import type { ListOptions, ReadApi } from "./api.ts";
import { AnswerTooLarge, isExpired } from "./errors.ts";
import { firstPageSize, nextPageSize, smallerPageSize } from "./page_size.ts";
import type { KubeList, KubeObject, ResourceType } from "./types.ts";

/** How often a list is started over when its continue token has expired. */
const MAX_RESTARTS = 3;

/** What to list. `limit` is the size of a page; absent: what suits the resource and the size of its objects. */
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
  const { signal, resourceVersion, limit: fixedLimit, ...selection } = options;
  let limit = fixedLimit ?? firstPageSize(type);
  // A continue token carries its own resourceVersion; the server refuses to be given another.
  let place: Pick<ListOptions, "continue" | "resourceVersion"> | undefined = resourceVersion === undefined
    ? {}
    : { resourceVersion };
  while (place !== undefined) {
    // No reference to a page is kept while the next one is read.
    let page: KubeList;
    try {
      page = await api.list(type, { limit, ...selection, ...place }, signal);
    } catch (error) {
      const smaller = error instanceof AnswerTooLarge ? smallerPageSize(limit) : undefined;
      if (smaller === undefined) throw error;
      limit = smaller;
      continue;
    }
    place = page.continue === undefined ? undefined : { continue: page.continue };
    // Objects of the cluster may be large: only administrators create them.
    if (fixedLimit === undefined && type.namespaced) {
      limit = nextPageSize({ limit, count: page.items.length, bytes: page.bytes });
    }
    yield page;
  }
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
