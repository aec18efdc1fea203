// Versions of releases, by Semantic Versioning 2.0.0. Decisions may not import `semver`, which reads the environment.

/** A parsed version. Build metadata has no rank and is left out. */
export interface Version {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
  readonly prerelease: readonly string[];
}

const NUMBER = "(0|[1-9]\\d*)";
const SEMVER = new RegExp(
  `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-([0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*))?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$`,
);

export function parseVersion(text: string): Version | undefined {
  const [, major, minor, patch, prerelease] = SEMVER.exec(text) ?? [];
  if (major === undefined) return undefined;
  const identifiers = prerelease === undefined ? [] : prerelease.split(".");
  if (identifiers.some((identifier) => /^0\d+$/.test(identifier))) return undefined;
  return { major: Number(major), minor: Number(minor), patch: Number(patch), prerelease: identifiers };
}

/** Negative when the left one is older, 0 when both have the same rank, positive when it is newer. */
export function compareVersions(left: Version, right: Version): number {
  return left.major - right.major || left.minor - right.minor || left.patch - right.patch ||
    comparePrereleases(left.prerelease, right.prerelease);
}

function comparePrereleases(left: readonly string[], right: readonly string[]): number {
  if (left.length === 0 || right.length === 0) return right.length - left.length;
  for (const [index, identifier] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    const order = compareIdentifiers(identifier, other);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** Compares numbers by value, and other identifiers by their characters. Numbers come first. */
function compareIdentifiers(left: string, right: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(left), /^\d+$/.test(right)];
  if (isNumber && isOtherNumber) return Number(left) - Number(right);
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  return left < right ? -1 : left > right ? 1 : 0;
}

export type VersionOrder = "downgrade" | "equal" | "upgrade";

export function orderOf(wanted: Version, current: Version): VersionOrder {
  const order = compareVersions(wanted, current);
  return order < 0 ? "downgrade" : order === 0 ? "equal" : "upgrade";
}
