// Parses `WWW-Authenticate` headers (RFC 9110, 11.6.1). Hostile input gives an empty list, quickly.

export type Challenge =
  | { readonly kind: "basic" }
  | {
    readonly kind: "bearer";
    readonly realm: string;
    readonly service: string;
    readonly scope: string;
  };

const MAX_HEADER = 8_192;
const SCHEME = /^[\s,]*([A-Za-z][\w-]*)(?=[\s,]|$)/;
const PARAMETER = /^[\s,]*([A-Za-z][\w-]*)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*))/;

export function parseChallenges(header: string): readonly Challenge[] {
  const challenges: Challenge[] = [];
  let rest = header.slice(0, MAX_HEADER);
  for (let scheme = SCHEME.exec(rest); scheme !== null; scheme = SCHEME.exec(rest)) {
    rest = rest.slice(scheme[0].length);
    const parameters = new Map<string, string>();
    for (let found = PARAMETER.exec(rest); found !== null; found = PARAMETER.exec(rest)) {
      rest = rest.slice(found[0].length);
      const [, name = "", quoted, plain] = found;
      parameters.set(name.toLowerCase(), quoted?.replaceAll(/\\(.)/g, "$1") ?? plain ?? "");
    }
    const challenge = toChallenge(scheme[1] ?? "", parameters);
    if (challenge !== undefined) challenges.push(challenge);
  }
  return challenges;
}

/** The challenge to answer: a token rather than the password itself. */
export function challengeOf(headers: Headers): Challenge | undefined {
  const offered = parseChallenges(headers.get("www-authenticate") ?? "");
  return offered.find(({ kind }) => kind === "bearer") ?? offered[0];
}

/** Whether two challenges name the same token server; their scopes differ from repository to repository. */
export function isSameLogin(left: Challenge, right: Challenge): boolean {
  if (left.kind === "basic" || right.kind === "basic") return left.kind === right.kind;
  return left.realm === right.realm && left.service === right.service;
}

function toChallenge(scheme: string, parameters: ReadonlyMap<string, string>): Challenge | undefined {
  const get = (name: string): string => parameters.get(name) ?? "";
  if (scheme.toLowerCase() === "basic") return { kind: "basic" };
  if (scheme.toLowerCase() !== "bearer" || get("realm") === "") return undefined;
  return { kind: "bearer", realm: get("realm"), service: get("service"), scope: get("scope") };
}
