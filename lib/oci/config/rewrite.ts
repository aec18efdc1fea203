// Rewrites of repository paths, written as Go regular expressions by administrators.

export interface Rewrite {
  readonly pattern: RegExp;
  readonly replacement: string;
}

/** More unbounded repetitions than this make matching slow on long paths. */
const MAX_REPETITIONS = 3;

/** Compiles a rewrite. Undefined for an invalid pattern, or one that could backtrack forever (unlike in Go). */
export function parseRewrite(pattern: string, replacement: string): Rewrite | undefined {
  const plain = pattern.replace(/\\./g, "_").replace(/\[[^\]]*\]?/g, "_");
  const repetitions = plain.match(/[*+]|\{\d+,\}/g) ?? [];
  const repeatsGroup = /\)(?:[*+]|\{)/.test(plain);
  if (pattern.length > 500 || repetitions.length > MAX_REPETITIONS || repeatsGroup) return undefined;
  try {
    return { pattern: new RegExp(pattern.replace(/\(\?P</g, "(?<"), "g"), replacement };
  } catch {
    return undefined;
  }
}

export function rewriteRepository(rewrites: readonly Rewrite[], repository: string): string {
  for (const { pattern, replacement } of rewrites) {
    if (repository.search(pattern) < 0) continue;
    return repository.replace(pattern, (...found: unknown[]) => {
      // The match and its groups come before the offset. A group that did not match is undefined.
      const groups = found.slice(0, found.findIndex((value) => typeof value === "number"));
      return expand(replacement, groups.map((group) => typeof group === "string" ? group : ""));
    });
  }
  return repository;
}

function expand(replacement: string, groups: readonly string[]): string {
  return replacement.replace(/\$(?:\$|(\d+)|\{(\d+)\})/g, (all, bare?: string, braced?: string) => {
    const group = bare ?? braced;
    return all === "$$" ? "$" : groups[Number(group)] ?? "";
  });
}
