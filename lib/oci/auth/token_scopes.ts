// The scopes of a token: what it allows, at which repository. Pure.

export type Rights = "pull" | "pull,push";

interface RepositoryRights {
  readonly repository: string;
  readonly rights: Rights;
}

export function ownScope({ repository, rights }: RepositoryRights): string {
  return `repository:${repository}:${rights}`;
}

/** The lists of scopes to request, in order, where a challenge names `scope`; empty: none. */
export function scopeChoices(scope: string, wanted: RepositoryRights): readonly (readonly string[])[] {
  const own = ownScope(wanted);
  if (scope === "") return [[own]];
  const ofRepository = `repository:${wanted.repository}:`;
  // A proxy requires the scope of its upstream's name: first together with our own, then alone.
  if (!scope.includes(ofRepository)) return [[scope, own], [scope]];
  if (wanted.rights === "pull") return [[scope]];
  // One token serves for reading and writing. Other scopes of the challenge stay, such as the source of a mount.
  const others = scope.split(" ").filter((one) => one !== "" && !one.startsWith(ofRepository));
  return [[own, ...others]];
}
