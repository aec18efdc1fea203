// `deno task flags`: writes the table of docs/configuration.md from the table of flags, so that none is forgotten.
import { FLAGS } from "../../lib/config/flags.ts";

/** The page. */
export const PAGE: URL = new URL("../../docs/configuration.md", import.meta.url);

const BEGIN = "<!-- flags: made by `deno task flags` -->";
const END = "<!-- end of flags -->";

function variableOf(name: string): string {
  return `ARCHWAY_${name.toUpperCase().replaceAll("-", "_")}`;
}

/** One row for each flag, in the order of `--help`; a padded table, as `deno fmt` would have it, is of no use to a diff. */
export function renderFlagTable(): string {
  const cell = (text: string): string => text.replaceAll("|", "\\|");
  const rows = FLAGS.map(({ name, commands, help, placeholder, fallback, choices }) => {
    const values = choices === undefined ? placeholder : choices.join("|");
    const shown = `\`--${name}${values === undefined ? "" : ` ${values}`}\``;
    return `| ${cell(shown)} | \`${variableOf(name)}\` | ${cell(fallback ?? "–")} | ${commands.join(", ")} | ${
      cell(help)
    } |`;
  });
  return ["| Flag | Variable | Default | Commands | Meaning |", "| --- | --- | --- | --- | --- |", ...rows].join("\n");
}

/** The page with the table of today. Throws when its marks are gone. */
export function withTable(page: string): string {
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`Cannot write the flags: the page has no "${BEGIN}" before "${END}".`);
  return `${page.slice(0, from + BEGIN.length)}\n\n${renderFlagTable()}\n\n${page.slice(to)}`;
}

if (import.meta.main) await Deno.writeTextFile(PAGE, withTable(await Deno.readTextFile(PAGE)));
