// The old form of registries.conf: three lists of hosts. Pure. Called by registries_conf.ts for the main file.
import { z } from "zod";
import { broken, ok, type Parsed } from "./problem.ts";
import type { RegistriesConf, RegistryRule } from "./registries_conf.ts";

const List = z.object({ registries: z.array(z.string()).default([]) }).optional();
const Version1 = z.object({ registries: z.object({ search: List, insecure: List, block: List }) });

/** Reads the tables of version 1; undefined when the document has none of them. Reference §3.7. */
export function parseVersion1(document: unknown): Parsed<RegistriesConf> | undefined {
  const has = z.object({ registries: z.unknown() }).safeParse(document);
  if (!has.success || has.data.registries === undefined) return undefined;
  const parsed = Version1.safeParse(document);
  if (!parsed.success) return broken("[registries.…] tables whose registries are not lists of names");
  const { search, insecure, block } = parsed.data.registries;
  const trim = (names: readonly string[] = []): readonly string[] =>
    names.map((name) => name.trim().replace(/\/+$/, ""));
  const blocked = new Set(trim(block?.registries));
  const open = new Set(trim(insecure?.registries));
  const rules = [...new Set([...open, ...blocked])].filter((name) => name !== "").map((name): RegistryRule => ({
    prefix: name,
    location: name,
    insecure: open.has(name),
    blocked: blocked.has(name),
    mirrors: [],
  }));
  return ok({
    rules,
    searchRegistries: search === undefined ? undefined : trim(search.registries),
    shortNameMode: undefined,
    aliases: new Map(),
  });
}
