// What a command may touch of the terminal. Made by main; commands write through it, so tests read what they say.

/** Where a command's words go and how they may look. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Colour only on a terminal, and not when NO_COLOR is set. */
  readonly color: boolean;
}

/** Exit codes of every command (design §4). */
export const ExitCode = { done: 0, no: 1, usage: 2, failed: 3 } as const;

/** A table with aligned columns and a header; the last column is not padded. Ends with a newline. */
export function renderTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("   ").trimEnd();
  return `${[header, ...rows].map(line).join("\n")}\n`;
}

const COLOR_CODES = { red: 31, green: 32, yellow: 33 } as const;

/** One of the colours of {@link paint}. */
export type Color = keyof typeof COLOR_CODES;

/** A text in a colour of the terminal. Only for a terminal that has `color`. */
export function paint(text: string, color: Color): string {
  return `\x1b[${COLOR_CODES[color]}m${text}\x1b[0m`;
}
