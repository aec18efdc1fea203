// Whole collections, page by page. With resourceVersion "0" the watch cache may answer, and ignore the limit.
import type { ListOptions, ReadApi } from "./api.ts";
import { AnswerTooLarge, isExpired } from "./errors.ts";
import type { KubeList, KubeObject, ResourceType } from "./types.ts";

const MAX_RESTARTS = 3;

/** What to list. The size of pages follows from the resource and from the size of its objects. */
export type ListAllOptions = Omit<ListOptions, "continue" | "limit"> & { readonly signal: AbortSignal };

/** Pages of one resourceVersion. A 410 in the middle (see `isExpired`) means that the list must be started over. */
export async function* listPages(
  api: ReadApi,
  type: ResourceType,
  options: ListAllOptions,
): AsyncGenerator<KubeList, void> {
  const { signal, resourceVersion, ...selection } = options;
  // Pages of cluster-scoped objects may be large: only administrators create these.
  let limit = type.namespaced ? FIRST_PAGE_SIZE : MAX_PAGE_SIZE;
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
    if (type.namespaced) limit = nextPageSize({ limit, count: page.items.length, bytes: page.bytes });
    yield page;
  }
}

/** Every object that was there throughout the list. One may come twice: an expired continue token starts the list over. */
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

const FIRST_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 500;
/** Wanted size of a page: about 400 usual pods. */
const TARGET_BYTES = 3 * 1024 * 1024;

/** A larger page is not read to its end. Parsed it would take five times as much. */
export const MAX_PAGE_BYTES = 8 * 1024 * 1024;

/** Objects of the next page: as many as the target holds of the size just seen, and at most twice as many as before. */
export function nextPageSize(
  { limit, count, bytes }: { readonly limit: number; readonly count: number; readonly bytes: number | undefined },
): number {
  if (bytes === undefined) return limit;
  const fitting = Math.floor(TARGET_BYTES * Math.max(1, count) / Math.max(1, bytes));
  return Math.max(1, Math.min(fitting, limit * 2, MAX_PAGE_SIZE));
}

export function smallerPageSize(limit: number): number | undefined {
  return limit <= 1 ? undefined : Math.max(1, Math.floor(limit / 4));
}
