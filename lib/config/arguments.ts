// The value of each flag as text: from the command line, the environment, or the default; and the word meant by a
// misspelt one.
import { parseArgs } from "node:util";
import { environmentName, type Flag, FLAGS } from "./flags.ts";

export interface Arguments {
  /** The texts given for each flag, by its name without dashes; a switch without a value has the text `true`. */
  readonly given: ReadonlyMap<string, readonly string[]>;
  readonly typed: ReadonlyMap<string, string>;
  readonly positionals: readonly string[];
  readonly lacking: readonly string[];
  readonly wantsHelp: boolean;
  readonly wantsVersion: boolean;
}

type Token = NonNullable<ReturnType<typeof parseArgs>["tokens"]>[number];
type OptionToken = Extract<Token, { readonly kind: "option" }>;

/**
 * Unknown flags are kept: parseConfig() reports them. A flag that lacks its value is taken out, since the parser takes
 * the next flag for its value.
 */
export function readArguments(args: readonly string[]): Arguments {
  const given = new Map<string, string[]>();
  const typed = new Map<string, string>();
  const positionals: string[] = [];
  for (const token of tokensOf(args)) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    if (isLacking(token)) {
      const { lacking, ...rest } = readArguments(args.toSpliced(token.index, 1));
      return { ...rest, lacking: [token.name, ...lacking] };
    }
    typed.set(token.name, token.rawName);
    given.set(token.name, [...given.get(token.name) ?? [], token.value ?? "true"]);
  }
  const wantsHelp = given.delete("help");
  const wantsVersion = given.delete("version");
  return { given, typed, positionals, lacking: [], wantsHelp, wantsVersion };
}

/** Whether a flag that takes a value has none, or has taken the flag behind it for one. */
function isLacking({ name, value, inlineValue }: OptionToken): boolean {
  const isValueless = value === undefined || (!inlineValue && value.startsWith("--"));
  return isValueless && FLAGS.some((flag) => flag.name === name && flag.shape !== "switch");
}

function tokensOf(args: readonly string[]): readonly Token[] {
  const options = Object.fromEntries(FLAGS.map((flag) => [
    flag.name,
    {
      type: flag.shape === "switch" ? "boolean" as const : "string" as const,
      ...flag.short && { short: flag.short },
    },
  ]));
  return parseArgs({
    args: [...args],
    options: { ...options, help: { type: "boolean", short: "h" }, version: { type: "boolean", short: "V" } },
    strict: false,
    allowPositionals: true,
    tokens: true,
  }).tokens;
}

/** The text of a flag, or its texts for a list: from the command line, else the environment, else its default. */
export function rawValue(
  flag: Flag,
  given: ReadonlyMap<string, readonly string[]>,
  env: Readonly<Record<string, string | undefined>>,
): unknown {
  const texts = given.get(flag.name) ?? environmentTexts(flag, env) ??
    (flag.default === undefined ? [] : [flag.default]);
  if (flag.shape === "list" || flag.shape === "hosts") {
    return texts.flatMap((text) => text.split(",")).map((text) => text.trim()).filter((t) => t !== "");
  }
  if (flag.shape === "texts") return texts;
  return texts.at(-1) ?? (flag.shape === "switch" ? "false" : undefined);
}

export function isChosen(
  flag: Flag,
  given: ReadonlyMap<string, readonly string[]>,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return given.has(flag.name) || environmentTexts(flag, env) !== undefined;
}

function environmentTexts(
  flag: Flag,
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] | undefined {
  const names = [environmentName(flag.name), ...flag.alsoEnv ?? []];
  const text = names.map((name) => env[name]).find((value) => value !== undefined && value !== "");
  return text === undefined ? undefined : [text];
}

const MAX_CHANGES = 2;

/**
 * The nearest known word, if it differs by at most two letters and by at most half of the typed ones; else undefined.
 */
export function nearestWord(typed: string, known: readonly string[]): string | undefined {
  const near = known.map((word) => ({ word, changes: changesBetween(typed, word) }))
    .filter(({ changes }) => changes <= MAX_CHANGES && changes * 2 <= typed.length);
  return near.toSorted((one, other) => one.changes - other.changes)[0]?.word;
}

/** Letters to insert, remove or replace (Levenshtein), row by row of the table of all prefixes. */
function changesBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [y, letter] of [...one].entries()) {
    const next = [y + 1];
    for (let x = 0; x < other.length; x++) {
      const [replaced = 0, removed = 0] = row.slice(x, x + 2);
      next.push(Math.min(replaced + (letter === other[x] ? 0 : 1), removed + 1, (next[x] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
