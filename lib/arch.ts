// Names of CPU architectures: values of GOARCH, as in node labels and image platforms.

/** The architectures that the MTO supports; only these become pod labels and may be preferred or fallen back to. */
export const KNOWN_ARCHITECTURES = ["amd64", "arm64", "ppc64le", "s390x"] as const;

export type KnownArchitecture = typeof KNOWN_ARCHITECTURES[number];

export function isKnownArchitecture(name: string): name is KnownArchitecture {
  return KNOWN_ARCHITECTURES.some((known) => known === name);
}

const LABEL_VALUE = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** Whether a name from a registry can stand in a node affinity: a non-empty label value other than `unknown`. */
export function isUsableArchitecture(name: string): boolean {
  return name !== "unknown" && LABEL_VALUE.test(name);
}

/** All architectures that a node can report: those that Go is built for. Source: `go tool dist list`. */
export const GO_ARCHITECTURES: ReadonlySet<string> = new Set([
  ...KNOWN_ARCHITECTURES,
  ...["386", "arm", "loong64", "mips", "mips64", "mips64le", "mipsle", "ppc64", "riscv64", "wasm"],
]);

/** What other tools call architectures (lower case), and the GOARCH name of each. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ...["x86_64", "x86-64", "x64"].map((alias) => [alias, "amd64"] as const),
  ...["aarch64", "armv8", "arm64v8"].map((alias) => [alias, "arm64"] as const),
  ...["armv7", "armv7l", "armhf", "arm32v7"].map((alias) => [alias, "arm"] as const),
  ...["i386", "i686", "x86"].map((alias) => [alias, "386"] as const),
  ["ppc64el", "ppc64le"],
]);

/**
 * The GOARCH name for an alias or a name in upper case; undefined when the name needs no correction or none is known.
 */
export function correctedName(name: string): string | undefined {
  const lower = name.toLowerCase();
  const right = ALIASES.get(lower) ?? lower;
  return right === name ? undefined : right;
}

/** The architectures in every set, sorted and without duplicates; empty when there are no sets. */
export function intersectArchitectures(sets: readonly (readonly string[])[]): readonly string[] {
  const [first, ...rest] = sets;
  const shared = rest.reduce((left, set) => left.intersection(new Set(set)), new Set(first));
  return [...shared].sort();
}
