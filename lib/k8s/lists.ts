// Whole collections, page by page, so that neither side ever holds more than a page of raw objects.
import type { ListOptions, ReadApi } from "./api.ts";
import { isExpired } from "./errors.ts";
import type { KubeList, KubeObject, ResourceType } from "./types.ts";

/** Objects a page: 500 pods are about 4 MB, 20 ms of parsing. */
export const LIST_PAGE_SIZE = 500;

/** How often a list is started over when the server has forgotten where it was. */
const MAX_RESTARTS = 3;

/** What to list. `limit` is the size of a page. */
export type ListAllOptions = Omit<ListOptions, "continue"> & { readonly signal: AbortSignal };

/**
 * The pages of a collection, all of one resourceVersion. Throws what the API throws; a 410 in the middle (the continue
 * token expired, see `isExpired`) means that the list must be started over.
 */
export async function* listPages(
  api: ReadApi,
  type: ResourceType,
  options: ListAllOptions,
): AsyncGenerator<KubeList, void> {
  const { signal, resourceVersion, ...selection } = options;
  const first = resourceVersion === undefined ? {} : { resourceVersion };
  let page = await api.list(type, { limit: LIST_PAGE_SIZE, ...selection, ...first }, signal);
  yield page;
  while (page.continue !== undefined) {
    // A continue token carries its own resourceVersion; the server refuses to be given another.
    page = await api.list(type, { limit: LIST_PAGE_SIZE, ...selection, continue: page.continue }, signal);
    yield page;
  }
}

/**
 * Every object of a collection that was there from the beginning of the list to its end. An object may come twice: when
 * the server forgets its place, the list starts over.
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
