// Patterns of Go's path.Match: `*`, `?`, `[a-z]`, `[^x]`, `\`. Matched by hand: a regular expression could backtrack
// without end.

/**
 * A text for each piece: `*`, `?`, `=` and a literal, `[` or `^` and the ranges of a class. Functions would take more
 * memory.
 */
export type Glob = readonly string[];

/** Whether a text matches the whole pattern. Time grows with pattern × text at most. */
export function matchesGlob(glob: Glob, text: string): boolean {
  const chars = [...text];
  // A `*` takes as little as possible, and only the last `*` is tried again: it makes the choices before it final.
  let [piece, char, starPiece, starChar] = [0, 0, -1, 0];
  while (char < chars.length) {
    const now = glob[piece];
    if (now === "*") {
      [starPiece, starChar] = [piece, char];
      piece++;
    } else if (now !== undefined && takes(now, chars[char] ?? "")) {
      piece++;
      char++;
    } else if (starPiece >= 0 && chars[starChar] !== "/") {
      starChar++;
      [piece, char] = [starPiece + 1, starChar];
    } else return false;
  }
  return glob.slice(piece).every((rest) => rest === "*");
}

function takes(piece: string, char: string): boolean {
  const [kind, ...pairs] = piece;
  if (kind === "?") return char !== "/";
  if (kind === "=") return piece.slice(1) === char;
  const isIn = pairs.some((low, at) => at % 2 === 0 && isBetween(char, low, pairs[at + 1] ?? ""));
  return isIn === (kind === "[");
}

function isBetween(char: string, low: string, high: string): boolean {
  const [point = 0, from = 0, to = 0] = [char, low, high].map((one) => one.codePointAt(0));
  return from <= point && point <= to;
}

/** undefined for a malformed pattern. */
export function parseGlob(text: string): Glob | undefined {
  const pattern = [...text];
  const glob: string[] = [];
  while (pattern.length > 0) {
    const char = pattern.shift() ?? "";
    if (char === "*" || char === "?") glob.push(char);
    else if (char === "[") {
      const piece = takeClass(pattern);
      if (piece === undefined) return undefined;
      glob.push(piece);
    } else {
      const literal = char === "\\" ? pattern.shift() : char;
      if (literal === undefined) return undefined;
      glob.push(`=${literal}`);
    }
  }
  return glob;
}

function takeClass(pattern: string[]): string | undefined {
  let piece = pattern[0] === "^" ? pattern.shift() ?? "" : "[";
  do {
    const low = takeMember(pattern);
    const isRange = pattern[0] === "-";
    if (isRange) pattern.shift();
    const high = isRange ? takeMember(pattern) : low;
    if (low === undefined || high === undefined) return undefined;
    piece += low + high;
  } while (pattern[0] !== "]");
  pattern.shift();
  return piece;
}

/** Takes a character of a class; undefined when the class cannot be closed behind it. */
function takeMember(pattern: string[]): string | undefined {
  const first = pattern.shift();
  if (first === "-" || first === "]") return undefined;
  const char = first === "\\" ? pattern.shift() : first;
  return pattern.length === 0 ? undefined : char;
}
