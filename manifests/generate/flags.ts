// `deno task flags`: writes the tables of docs/configuration.md from those of the code.
import { renderDuration } from "../../lib/cluster/duration.ts";
import { FILE_SETTINGS, FileSchema } from "../../lib/config/file.ts";
import { environmentName, FLAGS, SHORT_FLAGS } from "../../lib/config/flags.ts";

export const PAGE: URL = new URL("../../docs/configuration.md", import.meta.url);

const FLAGS_MARKS = ["<!-- flags: made by `deno task flags` -->", "<!-- end of flags -->"] as const;
const FILE_MARKS = ["<!-- settings: made by `deno task flags` -->", "<!-- end of settings -->"] as const;

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}

/** One row for each flag, in the order of `--help`; a padded table, as `deno fmt` would have it, is of no use to a diff. */
function renderFlagTable(): string {
  const rows = FLAGS.map(({ name, commands, help, placeholder, fallback, choices }) => {
    const values = choices === undefined ? placeholder : choices.join("|");
    const long = `\`--${name}${values === undefined ? "" : ` ${values}`}\``;
    const short = SHORT_FLAGS[name];
    const shown = short === undefined ? long : `\`-${short}\`, ${long}`;
    const columns = [
      cell(shown),
      `\`${environmentName(name)}\``,
      cell(fallback ?? "–"),
      commands.join(", "),
      cell(help),
    ];
    return `| ${columns.join(" | ")} |`;
  });
  return ["| Flag | Variable | Default | Commands | Meaning |", "| --- | --- | --- | --- | --- |", ...rows].join("\n");
}

function renderFileTable(): string {
  const defaults: Readonly<Record<string, unknown>> = FileSchema.parse({});
  const rows = FILE_SETTINGS.map(({ key, help }) =>
    `| \`${key}\` | ${renderDefault(key, defaults[key])} | ${cell(help)} |`
  );
  const example = FILE_SETTINGS.map(({ key, example }) => `${key}: ${example}`);
  return ["| Key | Default | Meaning |", "| --- | --- | --- |", ...rows, "", "```yaml", ...example, "```"].join("\n");
}

/** A setting with settings of its own has the defaults of these: its page lists them. */
function renderDefault(key: string, value: unknown): string {
  if (typeof value === "number" && key.endsWith("After")) return renderDuration(value);
  if (value === undefined || typeof value === "object" && !Array.isArray(value)) return "–";
  return Array.isArray(value) ? JSON.stringify(value) : String(value);
}

/** The page with the tables of today. Throws when its marks are gone. */
export function withTable(page: string): string {
  return withPart(withPart(page, FLAGS_MARKS, renderFlagTable()), FILE_MARKS, renderFileTable());
}

function withPart(page: string, [begin, end]: readonly [string, string], text: string): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`Cannot write the tables: the page has no "${begin}" before "${end}".`);
  return `${page.slice(0, from + begin.length)}\n\n${text}\n\n${page.slice(to)}`;
}

if (import.meta.main) await Deno.writeTextFile(PAGE, withTable(await Deno.readTextFile(PAGE)));
