// The names of CPU architectures: those of GOARCH, as node labels and image platforms have them.

/** The architectures that the MTO supports; only these become pod labels and may be preferred or fallen back to. */
export const KNOWN_ARCHITECTURES = ["amd64", "arm64", "ppc64le", "s390x"] as const;

/** One of {@link KNOWN_ARCHITECTURES}. */
export type KnownArchitecture = typeof KNOWN_ARCHITECTURES[number];

/** Whether an architecture is one of the four that configs and pod labels may name. */
export function isKnownArchitecture(name: string): name is KnownArchitecture {
  return KNOWN_ARCHITECTURES.some((known) => known === name);
}

const LABEL_VALUE = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** Whether a name from a registry can stand in a node affinity: a non-empty label value other than `unknown`. */
export function isUsableArchitecture(name: string): boolean {
  return name !== "unknown" && LABEL_VALUE.test(name);
}

/** What all sets share, sorted ascending without duplicates. No sets at all share nothing. */
export function intersectArchitectures(sets: readonly (readonly string[])[]): readonly string[] {
  const [first, ...rest] = sets;
  const shared = rest.reduce((left, set) => left.intersection(new Set(set)), new Set(first));
  return [...shared].sort();
}
