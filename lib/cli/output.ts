// The terminal as commands use it. They write through it, so that tests can read their output.
import { stringify } from "yaml";
import type { Clock } from "../clock.ts";
import { printable } from "../json.ts";
import type { LogFields, Logger } from "../log.ts";

export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Colour only on a terminal, and not when NO_COLOR is set. */
  readonly color: boolean;
  /** How wide the terminal is; absent where the output is none. */
  readonly columns?: number | undefined;
}

/** What every command runs with. */
export interface CommandDeps {
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly userAgent: string;
  readonly signal: AbortSignal;
}

const ESCAPE = "\x1b";
/** What commands write themselves: colours, a line that is written over again, ends of lines. All else comes from others. */
const OWN = new RegExp(`${ESCAPE}\\[(?:0|31|32|33)m|^\\r${ESCAPE}\\[K|[\\n\\t]`, "g");

/** A text as a terminal may show it: names, images and messages of others cannot move its cursor, nor hide anything. */
export function forTerminal(text: string): string {
  const own = text.match(OWN) ?? [];
  return text.split(OWN).map((others, at) => `${printable(others)}${own[at] ?? ""}`).join("");
}

export const ExitCode = { done: 0, no: 1, usage: 2, failed: 3 } as const;

export type OutputForm = "table" | "json" | "yaml";

export function renderDocument(document: unknown, output: Exclude<OutputForm, "table">): string {
  return output === "json" ? `${JSON.stringify(document, null, 2)}\n` : stringify(document);
}

/** A table whose last column is not padded. Wider than `width`, it loses its last columns, but never the first two. */
export function renderTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  width: number = Infinity,
): string {
  const table = renderColumns([header, ...rows]);
  const fits = table.split("\n").every((line) => line.length <= width);
  if (fits || header.length <= 2) return table;
  return renderTable(header.slice(0, -1), rows.map((row) => row.slice(0, header.length - 1)), width);
}

/** Columns as wide as their cells. What others named stays in its cell: it begins no row of its own, and has no colour. */
export function renderColumns(texts: readonly (readonly string[])[]): string {
  const rows = texts.map((row) => row.map(printable));
  const columns = rows.reduce((most, row) => Math.max(most, row.length), 0);
  // A report has more rows than a call may have arguments.
  const widths = Array.from(
    { length: columns },
    (_, at) => rows.reduce((w, row) => Math.max(w, row[at]?.length ?? 0), 0),
  );
  return rows.map((row) => `${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("   ").trimEnd()}\n`).join("");
}

/** A logger for commands: prints warnings and errors to the terminal, one line each, and nothing else. */
export function terminalLogger(terminal: Terminal, fields: LogFields = {}): Logger {
  const report = (message: string, more: LogFields = {}): void => {
    const { reason, message: state, ...where } = { ...fields, ...more };
    const places = Object.entries(where).map(([name, value]) => `${name} ${String(value)}`).join(", ");
    const place = places === "" ? "" : ` (${places})`;
    const why = reason ?? state;
    const sentence = message.charAt(0).toUpperCase() + message.slice(1);
    terminal.err(`archway: ${sentence}${place}${why === undefined ? "" : `: ${String(why)}`}\n`);
  };
  return {
    debug: () => {},
    info: () => {},
    warn: report,
    error: report,
    with: (more) => terminalLogger(terminal, { ...fields, ...more }),
  };
}

const COLOR_CODES = { red: 31, green: 32, yellow: 33 } as const;

export type Color = keyof typeof COLOR_CODES;

/** A text in a colour of the terminal. Only for a terminal that has `color`. */
export function paint(text: string, color: Color): string {
  return `\x1b[${COLOR_CODES[color]}m${text}\x1b[0m`;
}
