// The terminal through which commands write, so that tests can read their output.
import { stringify } from "yaml";
import type { Clock } from "../clock.ts";
import { foldWords } from "../config/fold_words.ts";
import { printable } from "../json.ts";
import type { LogFields, Logger } from "../log.ts";

export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Colour only on a terminal, and not when NO_COLOR is set. */
  readonly color: boolean;
  /** Width of the terminal; absent when the output goes elsewhere. */
  readonly columns?: number | undefined;
}

export interface CommandDeps {
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly userAgent: string;
  readonly signal: AbortSignal;
}

const ESCAPE = "\x1b";
/**
 * Control characters that commands write: colours, the erasure of a line, line breaks and tabs. All others come from
 * outside.
 */
const COLOR = `${ESCAPE}\\[(?:0|31|32|33)m`;
const COLORS = new RegExp(COLOR, "g");
const OWN = new RegExp(`${COLOR}|^\\r${ESCAPE}\\[K|[\\n\\t]`, "g");

/** Makes a text safe for a terminal: names, images and messages of others cannot move its cursor or hide anything. */
export function forTerminal(text: string): string {
  const own = text.match(OWN) ?? [];
  return text.split(OWN).map((others, at) => `${printable(others)}${own[at] ?? ""}`).join("");
}

export const ExitCode = { done: 0, no: 1, usage: 2, failed: 3 } as const;

export type OutputFormat = "table" | "json" | "yaml";

export function renderDocument(document: unknown, output: Exclude<OutputFormat, "table">): string {
  return output === "json" ? `${JSON.stringify(document, null, 2)}\n` : stringify(document);
}

/** Options of the commands that may change a cluster. */
export interface CommandOptions {
  /** The verb, such as `plan`. */
  readonly positionals: readonly string[];
  readonly dryRun: boolean;
  readonly output: OutputFormat;
}

/** A document, and the text that a table shows instead, made for the width of the terminal. */
export interface Printed {
  readonly document: unknown;
  readonly text: (width?: number) => string;
}

export function print({ out, columns }: Terminal, output: OutputFormat, { document, text }: Printed): void {
  out(output === "table" ? foldLines(text(columns), columns) : renderDocument(document, output));
}

const GAP = "   ";
/** Least widths of columns when others need room. The first column has the names, which are read most. */
const MIN_WIDTHS = { first: 32, other: 16 } as const;

/**
 * A table whose cells are folded to fit `width`. If that is not enough, the table loses its last columns, but never the
 * first two.
 */
export function renderTable(header: readonly string[], rows: readonly (readonly string[])[], width?: number): string {
  return renderRows(header, rows, width).join("");
}

/** The header and each row of a table, which may have several lines. */
export function renderRows(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  width: number = Infinity,
): readonly string[] {
  const all = [header, ...rows];
  return header.length <= 2 || lineLength(fitWidths(all, width)) <= width
    ? layOut(all, width)
    : renderRows(header.slice(0, -1), rows.map((row) => row.slice(0, header.length - 1)), width);
}

/** Columns as wide as their cells, as far as they fit. Each line begins with `indent` spaces. */
export function renderColumns(rows: readonly (readonly string[])[], width: number = Infinity, indent = 0): string {
  return layOut(rows, width - indent).join("").replaceAll(/^(?=.)/gm, " ".repeat(indent));
}

/** The text of each row. A name from outside stays in its cell: it cannot begin a row or have a colour. */
export function layOut(texts: readonly (readonly string[])[], width: number): readonly string[] {
  const rows = texts.map((row) => row.map(printable));
  const widths = fitWidths(rows, width);
  return rows.map((row) => renderRow(row, widths));
}

/** The last column is not padded. */
function renderRow(row: readonly string[], widths: readonly number[]): string {
  const cells = row.map((cell, at) => foldWords(cell, widths[at] ?? 0));
  const height = cells.reduce((most, { length }) => Math.max(most, length), 1);
  const lineAt = (line: number): string =>
    cells.map((cell, at) => (cell[line] ?? "").padEnd(widths[at] ?? 0)).join(GAP).trimEnd();
  return Array.from({ length: height }, (_, line) => `${lineAt(line)}\n`).join("");
}

/** Columns are as wide as their widest cells. Where they do not fit, the widest column shrinks first. */
function fitWidths(rows: readonly (readonly string[])[], width: number): readonly number[] {
  const columns = rows.reduce((most, row) => Math.max(most, row.length), 0);
  // A report has more rows than a call may have arguments.
  const widths = Array.from(
    { length: columns },
    (_, at) => rows.reduce((w, row) => Math.max(w, row[at]?.length ?? 0), 0),
  );
  for (let excess = lineLength(widths) - width; excess > 0; excess--) {
    const widest = widths.reduce(
      (most, w, at) => w > (at === 0 ? MIN_WIDTHS.first : MIN_WIDTHS.other) && w >= (widths[most] ?? 0) ? at : most,
      -1,
    );
    if (widest < 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function lineLength(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1));
}

/** Folds long lines, with an indent of two more. Cuts a line of progress, which is overwritten. */
export function foldLines(text: string, width: number = Infinity): string {
  return text.split("\n").map((line) => {
    if (line.replaceAll(COLORS, "").length <= width) return line;
    if (line.startsWith("\r")) return line.slice(0, width);
    const indent = line.slice(0, line.search(/[^ ]|$/));
    return `${indent}${foldWords(line.trimStart(), width - indent.length - 2).join(`\n${indent}  `)}`;
  }).join("\n");
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
