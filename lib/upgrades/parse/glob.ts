// Patterns of names in the syntax of Go's path.Match: `*`, `?`, `[a-z]`, `[^x]`, and `\` before a literal character.

interface Piece {
  readonly source: string;
  readonly next: number;
}

/** The regular expression of a pattern; undefined when the pattern is malformed. */
export function parseGlob(pattern: string): RegExp | undefined {
  let source = "";
  let at = 0;
  while (at < pattern.length) {
    const piece = parsePiece(pattern, at);
    if (piece === undefined) return undefined;
    source += piece.source;
    at = piece.next;
  }
  return new RegExp(`^(?:${source})$`, "u");
}

function parsePiece(pattern: string, at: number): Piece | undefined {
  switch (pattern[at]) {
    case "*":
      return { source: "[^/]*", next: at + 1 };
    case "?":
      return { source: "[^/]", next: at + 1 };
    case "[":
      return parseClass(pattern, at + 1);
    case "\\":
      return parseCharacter(pattern, at);
    default:
      return literal(pattern, at);
  }
}

/** The characters of a class, from behind its bracket. At least one; a range that is upside down matches nothing. */
function parseClass(pattern: string, start: number): Piece | undefined {
  const isNegated = pattern[start] === "^";
  let at = isNegated ? start + 1 : start;
  let members = "";
  for (let count = 0; count === 0 || pattern[at] !== "]"; count++) {
    const low = parseMember(pattern, at);
    if (low === undefined) return undefined;
    const high = pattern[low.next] === "-" ? parseMember(pattern, low.next + 1) : low;
    if (high === undefined) return undefined;
    if (low.point <= high.point) members += `${escaped(low.point)}-${escaped(high.point)}`;
    at = high.next;
  }
  const source = members === "" ? (isNegated ? "[^]" : "[]") : `[${isNegated ? "^" : ""}${members}]`;
  return { source, next: at + 1 };
}

interface Member {
  readonly point: number;
  readonly next: number;
}

function parseMember(pattern: string, at: number): Member | undefined {
  const first = pattern[at];
  if (first === undefined || first === "-" || first === "]") return undefined;
  const start = first === "\\" ? at + 1 : at;
  const point = pattern.codePointAt(start);
  // What is left must still close the class.
  const next = point === undefined ? 0 : start + String.fromCodePoint(point).length;
  return point === undefined || next >= pattern.length ? undefined : { point, next };
}

function parseCharacter(pattern: string, at: number): Piece | undefined {
  return at + 1 < pattern.length ? literal(pattern, at + 1) : undefined;
}

function literal(pattern: string, at: number): Piece {
  const point = pattern.codePointAt(at) ?? 0;
  return { source: escaped(point), next: at + String.fromCodePoint(point).length };
}

function escaped(point: number): string {
  return `\\u{${point.toString(16)}}`;
}
