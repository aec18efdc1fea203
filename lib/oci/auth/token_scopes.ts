// The scopes of a token: what it allows, at which repository. Pure.

export type Rights = "pull" | "pull,push";

interface Wanted {
  readonly repository: string;
  readonly rights: Rights;
}

export function ownScope({ repository, rights }: Wanted): string {
  return `repository:${repository}:${rights}`;
}

/** The lists of scopes to request, in order, where a challenge names `scope`; empty: none. */
export function scopeChoices(scope: string, wanted: Wanted): readonly (readonly string[])[] {
  const own = ownScope(wanted);
  if (scope === "") return [[own]];
  const ofRepository = `repository:${wanted.repository}:`;
  // A proxy of another registry requires the scope of the other name: with our own, else alone.
  if (!scope.includes(ofRepository)) return [[scope, own], [scope]];
  if (wanted.rights === "pull") return [[scope]];
  // One token for reading and writing. What else is wanted, as the source of a mount, the challenge itself names.
  const others = scope.split(" ").filter((one) => one !== "" && !one.startsWith(ofRepository));
  return [[own, ...others]];
}
