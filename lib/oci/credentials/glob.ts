// Shell patterns within one host label: `*`, `?`, `[a-z]`, `[^a]`, `\x`. Written out, because a pattern from a Secret turned
// into a regular expression could be made to backtrack for ever.

interface Piece {
  readonly kind: "any" | "one";
  /** Whether this piece takes the character. */
  readonly takes: (char: string) => boolean;
}

/** Whether a label matches a pattern. Time grows with pattern × label at most. A malformed pattern matches nothing. */
export function matchesGlob(pattern: string, label: string): boolean {
  const pieces = parsePieces([...pattern]);
  return pieces !== undefined && matches(pieces, [...label]);
}

/** Greedy with one way back: a later `*` makes an earlier one's choice final. */
function matches(pieces: readonly Piece[], chars: readonly string[]): boolean {
  let [piece, char, starPiece, starChar] = [0, 0, -1, 0];
  while (char < chars.length) {
    const now = pieces[piece];
    if (now?.kind === "any") {
      [starPiece, starChar] = [piece, char];
      piece++;
    } else if (now !== undefined && now.takes(chars[char] ?? "")) {
      piece++;
      char++;
    } else if (starPiece >= 0) {
      starChar++;
      [piece, char] = [starPiece + 1, starChar];
    } else return false;
  }
  return pieces.slice(piece).every(({ kind }) => kind === "any");
}

function parsePieces(pattern: readonly string[]): readonly Piece[] | undefined {
  const pieces: Piece[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at] ?? "";
    if (char === "*") pieces.push({ kind: "any", takes: () => true });
    else if (char === "?") pieces.push({ kind: "one", takes: () => true });
    else if (char === "[") {
      const end = pattern.indexOf("]", at + 2);
      if (end < 0) return undefined;
      pieces.push({ kind: "one", takes: parseClass(pattern.slice(at + 1, end)) });
      at = end;
    } else {
      const literal = char === "\\" ? pattern[++at] : char;
      if (literal === undefined) return undefined;
      pieces.push({ kind: "one", takes: (other) => other === literal });
    }
  }
  return pieces;
}

function parseClass(inside: readonly string[]): (char: string) => boolean {
  const negated = inside[0] === "^" || inside[0] === "!";
  const members = negated ? inside.slice(1) : inside;
  const ranges: (readonly [string, string])[] = [];
  for (let at = 0; at < members.length; at++) {
    const [from = "", dash, to] = members.slice(at, at + 3);
    const isRange = dash === "-" && to !== undefined;
    ranges.push([from, isRange ? to : from]);
    if (isRange) at += 2;
  }
  return (char) => ranges.some(([from, to]) => from <= char && char <= to) !== negated;
}
