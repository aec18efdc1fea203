// Shell patterns within one host label: `*`, `?`, `[a-z]`, `[^a]`, `\x`. Written out, because a pattern from a Secret turned
// into a regular expression could be made to backtrack for ever.

/**
 * A parsed pattern: `*`, `?`, `[…]`, `\\` with a character, or a character, each in a text of its own. Not functions, which take
 * far more memory: the patterns of a pod are kept while its images are read.
 */
export type Glob = readonly string[];

/** The longest label of a DNS name; longer ones are not compared. */
const MAX_LABEL = 63;

/** Whether a label matches a pattern. Time grows with pattern × label at most. */
export function matchesGlob(glob: Glob, label: string): boolean {
  return label.length <= MAX_LABEL && matches(glob, [...label]);
}

/** Greedy with one way back: a later `*` makes an earlier one's choice final. */
function matches(pieces: Glob, chars: readonly string[]): boolean {
  let [piece, char, starPiece, starChar] = [0, 0, -1, 0];
  while (char < chars.length) {
    const now = pieces[piece];
    if (now === "*") {
      [starPiece, starChar] = [piece, char];
      piece++;
    } else if (now !== undefined && takes(now, chars[char] ?? "")) {
      piece++;
      char++;
    } else if (starPiece >= 0) {
      starChar++;
      [piece, char] = [starPiece + 1, starChar];
    } else return false;
  }
  return pieces.slice(piece).every((rest) => rest === "*");
}

/** Parses a pattern; undefined when it is malformed. */
export function parseGlob(text: string): Glob | undefined {
  const pattern = [...text];
  const pieces: string[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at] ?? "";
    if (char === "[") {
      const end = pattern.indexOf("]", at + 2);
      if (end < 0) return undefined;
      pieces.push(pattern.slice(at, end).join(""));
      at = end;
    } else if (char === "\\") {
      const literal = pattern[++at];
      if (literal === undefined) return undefined;
      pieces.push(char + literal);
    } else pieces.push(char);
  }
  return pieces;
}

function takes(piece: string, char: string): boolean {
  if (piece === "?") return true;
  if (piece.startsWith("[")) return parseClass([...piece.slice(1)])(char);
  return (piece.startsWith("\\") ? piece.slice(1) : piece) === char;
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
