// The old form of registries.conf: three lists of hosts. Pure. Called by registries_conf.ts for the main file.
import * as z from "zod";
import { broken, ok, type Parsed } from "../../files/problem.ts";

/** The tables `[registries.search]`, `[registries.insecure]` and `[registries.block]`. */
export interface Version1 {
  /** Undefined: the table is not there. */
  readonly search: readonly string[] | undefined;
  readonly insecure: readonly string[];
  readonly block: readonly string[];
}

const List = z.object({ registries: z.array(z.string()).default([]) }).optional();
const Tables = z.object({ registries: z.object({ search: List, insecure: List, block: List }) });
const AnyTables = z.object({ registries: z.unknown() });

/** Reads the tables of version 1; undefined when the document has none of them. Reference §3.7. */
export function parseVersion1(document: unknown): Parsed<Version1> | undefined {
  const found = AnyTables.safeParse(document);
  if (!found.success || found.data.registries === undefined) return undefined;
  const parsed = Tables.safeParse(document);
  if (!parsed.success) return broken("[registries.…] tables whose registries are not lists of names");
  const { search, insecure, block } = parsed.data.registries;
  const trim = (names: readonly string[]): readonly string[] =>
    names.map((name) => name.trim().replace(/\/+$/, "")).filter((name) => name !== "");
  return ok({
    search: search === undefined ? undefined : trim(search.registries),
    insecure: trim(insecure?.registries ?? []),
    block: trim(block?.registries ?? []),
  });
}
