// Every row of the catalogue, read from catalogue.txt.

export interface Row {
  /** As in the catalogue: `PM-01`, or a bare number for the operator document. */
  readonly id: string;
  readonly title: string;
  readonly area: string;
  /** Table it stands in: the id's prefix, or `operator`. */
  readonly group: string;
}

/** The lines of a file of this folder that are no comment. */
export function readLines(file: string): readonly string[] {
  return Deno.readTextFileSync(new URL(file, import.meta.url)).trim().split("\n").filter((line) => !/^#/.test(line));
}

function parseRows(lines: readonly string[]): readonly Row[] {
  let area = "";
  return lines.filter((line) => line !== "").flatMap((line) => {
    const [, heading] = /^\[(.+)\]$/.exec(line) ?? [];
    if (heading !== undefined) area = heading;
    const [, id = "", title = ""] = /^(\S+) (.+)$/.exec(line) ?? [];
    const group = id.includes("-") ? id.slice(0, id.lastIndexOf("-")) : "operator";
    return heading === undefined ? [{ id, title, group, area }] : [];
  });
}

export const ROWS: readonly Row[] = parseRows(readLines("catalogue.txt"));
