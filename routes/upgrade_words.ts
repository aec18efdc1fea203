// What the steps of an upgrade are called on its page, by stage.
import { parse } from "yaml";
import * as z from "zod";
import { entryOf } from "../lib/json.ts";
import { spaced } from "./dashboard/words.ts";
import TEXT from "./upgrade_words.yaml" with { type: "text" };

const NAMES = z.record(z.string(), z.string());

/** The names of steps by their ids, by stage in its order. */
export const STAGES = Object.entries(z.record(z.string(), NAMES).parse(parse(TEXT)));

const ALL_NAMES = NAMES.parse(Object.assign({}, ...STAGES.map(([, names]) => names)));

export function nameOf(id: string): string {
  return entryOf(ALL_NAMES, id) ?? spaced(id);
}
