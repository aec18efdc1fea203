// How many objects to request in a page of a list, so that a page has a bound in bytes whatever its objects are: most have
// some kilobytes, but their creators can make each 1.4 MB large, and 500 of these would not fit into memory.
import type { ResourceType } from "./types.ts";

/** Objects a page, where no namespace owns them: administrators made them. */
const CLUSTER_PAGE_SIZE = 500;
/** Objects of the first page, where namespaces own them. */
const FIRST_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 500;
/** A page is to have so many bytes: 400 pods of the usual size. */
const TARGET_BYTES = 3 * 1024 * 1024;

/** A page with more is not read to its end. Parsed it takes five times as much. */
export const MAX_PAGE_BYTES = 8 * 1024 * 1024;

/** Objects of the first page of a list. */
export function firstPageSize({ namespaced }: ResourceType): number {
  return namespaced ? FIRST_PAGE_SIZE : CLUSTER_PAGE_SIZE;
}

/** A page as it was asked for and came. */
export interface PageSeen {
  /** How many objects were asked for. */
  readonly limit: number;
  /** How many came. */
  readonly count: number;
  /** undefined where they were not counted. */
  readonly bytes: number | undefined;
}

/** Objects of the next page: as many as the target holds of the size just seen, and at most twice as many as before. */
export function nextPageSize({ limit, count, bytes }: PageSeen): number {
  if (bytes === undefined) return limit;
  const fitting = Math.floor(TARGET_BYTES * Math.max(1, count) / Math.max(1, bytes));
  return Math.max(1, Math.min(fitting, limit * 2, MAX_PAGE_SIZE));
}

/** Objects to ask for when a page had too many bytes; undefined when it was one object. */
export function smallerPageSize(limit: number): number | undefined {
  return limit <= 1 ? undefined : Math.max(1, Math.floor(limit / 4));
}
