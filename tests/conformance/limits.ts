// What the tests of a passed row do not prove of its sentence, read from limits.txt. The page says it beside the test.
import { parseClaim } from "./claims.ts";
import { readLines } from "./rows.ts";

export interface Limit {
  /** Ids as at the head of a test's name. */
  readonly ids: readonly string[];
  readonly lacks: string;
}

export const LIMITS: readonly Limit[] = readLines("limits.txt").filter((line) => line !== "").map((line) => {
  const [, ids = "", lacks = ""] = /^(.+?): (.+)$/.exec(line) ?? [];
  return { ids: ids.split(" "), lacks };
});

const LACKS: ReadonlyMap<string, string> = new Map(
  LIMITS.flatMap(({ ids, lacks }) => parseClaim(ids.join(" ")).ids.map((id) => [id, lacks] as const)),
);

/** What the tests of the row leave open, if anything does. */
export function lacksOf(id: string): string | undefined {
  return LACKS.get(id);
}
