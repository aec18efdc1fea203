// Lists collections page by page. For resourceVersion "0" the server's watch cache may answer; it ignores the limit.
import type { ListOptions, ReadApi } from "./api.ts";
import { AnswerTooLarge, isExpired } from "./api_error.ts";
import type { KubeList, KubeObject, ResourceType } from "./types.ts";

const MAX_RESTARTS = 3;

/** What to list. The page size depends on the resource and the size of its objects. */
export type ListAllOptions = Omit<ListOptions, "continue" | "limit"> & { readonly signal: AbortSignal };

/** Yields pages of one resourceVersion. After a 410 (see `isExpired`), the caller must list from the start. */
export async function* listPages(
  api: ReadApi,
  type: ResourceType,
  options: ListAllOptions,
): AsyncGenerator<KubeList, void> {
  const { signal, resourceVersion, ...selection } = options;
  // Only administrators create cluster-scoped objects, so their pages may be large.
  let limit = type.namespaced ? FIRST_PAGE_SIZE : MAX_PAGE_SIZE;
  // A continue token has its own resourceVersion; the server refuses an additional one.
  let position: Pick<ListOptions, "continue" | "resourceVersion"> | undefined = resourceVersion === undefined
    ? {}
    : { resourceVersion };
  while (position !== undefined) {
    // Do not retain a page while reading the next one.
    let page: KubeList;
    try {
      page = await api.list(type, { limit, ...selection, ...position }, signal);
    } catch (error) {
      const smaller = error instanceof AnswerTooLarge ? smallerPageSize(limit) : undefined;
      if (smaller === undefined) throw error;
      limit = smaller;
      continue;
    }
    position = page.continue === undefined ? undefined : { continue: page.continue };
    if (type.namespaced) limit = nextPageSize({ limit, count: page.items.length, bytes: page.bytes });
    yield page;
  }
}

/** Yields every object that existed throughout. Objects may repeat: an expired continue token restarts the list. */
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
/** Target size of a page: about 400 usual pods. */
const TARGET_BYTES = 3 * 1024 * 1024;

/** Larger pages are not read to the end. Parsed, they would take five times the memory. */
export const MAX_PAGE_BYTES = 8 * 1024 * 1024;

/** How many objects the next page may have: by the size of the last page, and at most twice its limit. */
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
