// What the rules of registries.conf make of a full name: which rule holds, and which places it may be pulled from. Pure.
// Called by plan.ts. Reference §3.7.
import type { MirrorUse, RegistryRule } from "./registry_table.ts";

/** A place to pull from, written `host[:port]/repository`. */
export interface RuleSource {
  readonly name: string;
  readonly insecure: boolean;
  readonly mirror: boolean;
}

/** A full name split as the rules see it. */
export interface FullName {
  /** `host[:port]/repository`. */
  readonly name: string;
  /** `:tag` or `@digest`. */
  readonly suffix: string;
}

/** The rule with the longest prefix that fits (DV-103, DV-104). */
export function findRule(rules: readonly RegistryRule[], full: FullName): RegistryRule | undefined {
  const fitting = rules.filter(({ prefix }) => matchedLength(prefix, full.name + full.suffix) !== undefined);
  return fitting.reduce<RegistryRule | undefined>(
    (best, rule) => (best === undefined || rule.prefix.length > best.prefix.length ? rule : best),
    undefined,
  );
}

/** Mirrors that may serve this kind of reference (DV-101, DV-102), then the registry itself. */
export function pullSources(rule: RegistryRule, full: FullName): readonly RuleSource[] {
  const length = Math.min(matchedLength(rule.prefix, full.name + full.suffix) ?? 0, full.name.length);
  const place = (location: string): string => location === "" ? full.name : location + full.name.slice(length);
  const wanted: MirrorUse = full.suffix.startsWith("@") ? "digest-only" : "tag-only";
  const mirrors = rule.mirrors.filter(({ use }) => use === "all" || use === wanted);
  return [
    ...mirrors.map(({ location, insecure }) => ({ name: place(location), insecure, mirror: true })),
    { name: place(rule.location), insecure: rule.insecure, mirror: false },
  ];
}

/** How many characters of the name a prefix takes; undefined when it does not fit. It ends at `/`, `:`, `@` or the end. */
function matchedLength(prefix: string, name: string): number | undefined {
  if (!prefix.startsWith("*.")) {
    return endsAt(name, prefix.length) && name.startsWith(prefix) ? prefix.length : undefined;
  }
  const suffix = prefix.slice(1);
  const host = /^[^/:@]*/.exec(name)?.[0] ?? "";
  return host.endsWith(suffix) && host.length > suffix.length ? host.length : undefined;
}

function endsAt(name: string, length: number): boolean {
  return name.length === length || "/:@".includes(name[length] ?? " ");
}
