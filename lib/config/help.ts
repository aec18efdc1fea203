// `--help` texts, of help.yaml and the flag table.
import { foldWords } from "./fold_words.ts";
import { type Command, COMMANDS, type Flag, flagsOf } from "./flags.ts";
import { parse } from "yaml";
import * as z from "zod";
import TEXT from "./help.yaml" with { type: "text" };

const COMMAND = z.strictObject({
  summary: z.string(),
  usage: z.string(),
  words: z.array(z.tuple([z.string(), z.string()])).default([]),
  /** When the exit code is 1; absent where the command has no "no". */
  no: z.string().optional(),
  examples: z.array(z.string()),
});

const WIDTH = 80;
const MAX_LEFT = 28;

export function renderHelp(command: Command | undefined): string {
  return command === undefined ? renderOverview() : renderCommand(command);
}

function readHelp(): Readonly<Record<Command, z.output<typeof COMMAND>>> {
  return z.record(z.enum(COMMANDS), COMMAND).parse(parse(TEXT));
}

function renderOverview(): string {
  const help = readHelp();
  const width = Math.max(...COMMANDS.map(({ length }) => length));
  const rows = COMMANDS.flatMap((name) => hanging(name.padEnd(width), help[name].summary));
  return [
    "Archway places pods where all of their images run.",
    "",
    "Usage: archway COMMAND [flags]",
    "",
    "Commands:",
    ...rows,
    "",
    "See `archway COMMAND --help`; `archway --version` prints the version.",
    "In a checkout `archway` is `deno run -A main.ts`.",
    'Exit codes: 0 done, 1 the answer is "no", 2 bad usage, 3 failed.',
    "",
  ].join("\n");
}

function renderCommand(command: Command): string {
  const { summary, usage, words, no, examples } = readHelp()[command];
  const rows = flagsOf(command).map(renderFlag);
  const codes = ["0 done", ...no === undefined ? [] : [`1 ${no}`], "2 bad usage", "3 failed"];
  return [
    ...foldWords(summary, WIDTH),
    "",
    `Usage: ${usage.trimEnd().replaceAll("\n", "\n       ")}`,
    ...words.flatMap(([word, text]) => hanging(word, text, Math.max(...words.map(([each]) => each.length)))),
    "",
    ...rows.length === 0 ? [] : [
      "Flags (--some-flag is also the variable ARCHWAY_SOME_FLAG; flags win):",
      ...rows.flatMap(([left, right]) => hanging(left, right, MAX_LEFT)),
      "",
    ],
    "Examples:",
    ...examples.map((line) => `  ${line}`),
    "",
    ...foldWords(`Exit codes: ${codes.join(", ")}.`, WIDTH),
    "",
  ].join("\n");
}

function hanging(left: string, right: string, width = left.length): readonly string[] {
  const [first = "", ...others] = foldWords(right, WIDTH - width - 4);
  const indent = " ".repeat(width + 4);
  const rest = others.map((line) => `${indent}${line}`);
  return left.length > width
    ? [`  ${left}`, `${indent}${first}`, ...rest]
    : [`  ${left.padEnd(width)}  ${first}`, ...rest];
}

function renderFlag(flag: Flag): readonly [string, string] {
  const value = flag.choices?.join("|") ?? flag.placeholder ?? PLACEHOLDER[flag.shape] ?? "";
  const name = `${flag.short === undefined ? "    " : `-${flag.short}, `}--${flag.name}${
    value === "" ? "" : ` ${value}`
  }`;
  const repeat = ["list", "hosts", "texts"].includes(flag.shape) ? " Repeatable." : "";
  const env = flag.alsoEnv === undefined ? "" : ` Also from ${flag.alsoEnv.join(", ")}.`;
  return [name, `${flag.help}${repeat}${renderDefault(flag)}${env}`];
}

function renderDefault({ name, shape, default: text }: Flag): string {
  if (text === undefined || (shape === "switch" && text === "false")) return "";
  return shape === "switch" ? ` On unless --${name}=false.` : ` Default ${text}.`;
}

const PLACEHOLDER: Partial<Readonly<Record<Flag["shape"], string>>> = { duration: "DURATION", url: "URL" };
