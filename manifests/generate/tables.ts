// `deno task tables`: writes the tables of the pages that are made from the code: flags, settings, steps of upgrades.
import { renderDuration } from "../../lib/vocabulary/duration.ts";
import { FILE_SETTINGS, FileSchema } from "../../lib/config/file.ts";
import { environmentName, FLAGS } from "../../lib/config/flags.ts";
import { UPGRADERS } from "../../lib/upgrades/decide/steps/upgraders.ts";
import type { Step } from "../../lib/upgrades/decide/types/steps.ts";

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}

/**
 * One row for each flag, in the order of `--help`. Not padded, as `deno fmt` would do, so that a diff shows what
 * changed.
 */
function renderFlagTable(): string {
  const rows = FLAGS.map(({ name, commands, help, short, placeholder, default: defaultText, choices }) => {
    const values = choices === undefined ? placeholder : choices.join("|");
    const long = `\`--${name}${values === undefined ? "" : ` ${values}`}\``;
    const shown = short === undefined ? long : `\`-${short}\`, ${long}`;
    const columns = [
      cell(shown),
      `\`${environmentName(name)}\``,
      cell(defaultText ?? "–"),
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

/** None for a setting that has settings of its own: its page lists their defaults. */
function renderDefault(key: string, value: unknown): string {
  if (typeof value === "number" && key.endsWith("After")) return renderDuration(value);
  if (value === undefined || typeof value === "object" && !Array.isArray(value)) return "–";
  return Array.isArray(value) ? JSON.stringify(value) : String(value);
}

/** One row for each step in the order of the upgrades; steps that wait for the same share one. */
function renderStepTable(): string {
  const rows = Map.groupBy(stepsInOrder(), ({ waitsFor, remedy }) => `${waitsFor} | ${linkAlerts(remedy)}`);
  return [
    "<!-- deno-fmt-ignore -->",
    "| Step | Of | What it waits for | When it does not end |",
    "| --- | --- | --- | --- |",
    ...[...rows].map(([words, steps]) => {
      const ids = steps.map(({ id }) => `\`${id}\``).join(", ");
      return `| ${ids} | ${[...new Set(steps.map(upgradesOf))].join(", ")} | ${words} |`;
    }),
  ].join("\n");
}

function stepsInOrder(): readonly Step[] {
  const ordered: Step[] = [];
  for (const { steps } of Object.values(UPGRADERS)) {
    for (const [at, step] of steps.entries()) {
      if (ordered.some(({ id }) => id === step.id)) continue;
      ordered.splice(ordered.findIndex(({ id }) => id === steps[at - 1]?.id) + 1, 0, step);
    }
  }
  return ordered;
}

function upgradesOf({ id }: Step): string {
  const all = Object.values(UPGRADERS);
  const those = all.filter(({ steps }) => steps.some((step) => step.id === id));
  return those.length === all.length ? "all" : those.map(({ name }) => name.replace("multiarch-", "")).join(", ");
}

function linkAlerts(text: string): string {
  return text.replaceAll(
    /Archway[A-Z]\w+/g,
    (alert) => `[${alert}](../manifests/monitoring/runbooks.md#${alert.toLowerCase()})`,
  );
}

const TABLES: readonly { readonly page: string; readonly name: string; readonly render: () => string }[] = [
  { page: "configuration.md", name: "flags", render: renderFlagTable },
  { page: "configuration.md", name: "settings", render: renderFileTable },
  { page: "upgrades.md", name: "steps", render: renderStepTable },
];

export const PAGES: readonly string[] = [...new Set(TABLES.map(({ page }) => page))];

export function locatePage(page: string): URL {
  return new URL(`../../docs/${page}`, import.meta.url);
}

/** The text of a page with its tables of today. Throws when its marks are gone. */
export function withTables(page: string, text: string): string {
  return TABLES.filter((table) => table.page === page).reduce((written, { name, render }) => {
    const [begin, end] = [`<!-- ${name}: made by \`deno task tables\` -->`, `<!-- end of ${name} -->`];
    const [from, to] = [written.indexOf(begin), written.indexOf(end)];
    if (from < 0 || to < from) throw new Error(`Cannot write ${page}: it has no "${begin}" before "${end}".`);
    return `${written.slice(0, from + begin.length)}\n\n${render()}\n\n${written.slice(to)}`;
  }, text);
}

if (import.meta.main) {
  for (const page of PAGES) {
    const place = locatePage(page);
    await Deno.writeTextFile(place, withTables(page, await Deno.readTextFile(place)));
  }
}
