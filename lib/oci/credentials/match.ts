// Which credentials apply to a repository, best first: the kubelet's matching, with paths compared by segment. Pure.
import type { Credential } from "../credential.ts";
import { fingerprintWithScope } from "../fingerprint.ts";
import { matchesGlob } from "../../vocabulary/glob.ts";
import { hostKey } from "../host_names.ts";
import { canonicalPort, type CredentialScope, parseScope } from "./scope.ts";

interface RepositoryTarget {
  readonly host: string;
  readonly repository: string;
}

interface Ranked {
  readonly credential: Credential;
  readonly scope: CredentialScope;
}

/** Best first: longer path, then fewer wildcards in the host, then as listed. */
export function matchCredentials(credentials: readonly Credential[], target: RepositoryTarget): readonly Credential[] {
  const parts = parseTarget(target);
  if (parts === undefined) return [];
  const covering = credentials.flatMap((credential): readonly Ranked[] => {
    const scope = scopeOf(credential);
    return scope !== undefined && covers(scope, parts) ? [{ credential, scope }] : [];
  });
  return covering.sort(compareRanked).map(({ credential }) => credential);
}

/** Matches a pod's pull secrets: for equal keys, the secret listed last comes first. */
export function matchPullSecrets(credentials: readonly Credential[], target: RepositoryTarget): readonly Credential[] {
  const bySource = Map.groupBy(credentials, ({ source }) => source);
  return matchCredentials([...bySource.values()].toReversed().flat(), target);
}

/** Credentials of one kind that are tried at an endpoint: registries count wrong logins. */
export const MAX_TRIED = 8;

/** The credentials to try, in order. Each of `kinds` has those that match: the requester's own, then the keyring's. */
export function credentialsToTry(...kinds: readonly (readonly Credential[])[]): {
  readonly credentials: readonly Credential[];
  readonly leftOut: number;
} {
  const all = kinds.map(distinct);
  const credentials = distinct(all.flatMap((kind) => kind.slice(0, MAX_TRIED)));
  return { credentials, leftOut: all.flatMap((kind) => kind.slice(MAX_TRIED)).length };
}

export function distinct(credentials: readonly Credential[]): readonly Credential[] {
  return [...new Map(credentials.map((one) => [fingerprintWithScope(one), one] as const)).values()];
}

/** Whether a key such as `*.example.com/team` covers a repository, as in `matchImages` of a kubelet plugin. */
export function scopeCovers(key: string, target: RepositoryTarget): boolean {
  const scope = parseScope(key);
  const parts = parseTarget(target);
  return scope !== undefined && parts !== undefined && covers(scope, parts);
}

/** Each scope is parsed once: a pod's credentials are matched with every one of its images. */
const PARSED = new WeakMap<Credential, { readonly scope: CredentialScope | undefined }>();

function scopeOf(credential: Credential): CredentialScope | undefined {
  const known = PARSED.get(credential);
  if (known !== undefined) return known.scope;
  const scope = parseScope(credential.scope);
  PARSED.set(credential, { scope });
  return scope;
}

interface TargetParts {
  readonly labels: readonly string[];
  readonly port: string;
  readonly path: readonly string[];
}

function parseTarget({ host, repository }: RepositoryTarget): TargetParts | undefined {
  const parts = /^(\[[^\]]+\]|[^:/]+)(?::(\d{1,5}))?$/.exec(host);
  if (parts === null) return undefined;
  const [, name = "", port = ""] = parts;
  const labels = name.startsWith("[") ? [hostKey(name)] : hostKey(name).split(".");
  return { labels, port: canonicalPort(port), path: repository.split("/") };
}

/** The longest label of a DNS name; longer ones are not compared with patterns. */
const MAX_LABEL = 63;

/** Ports must be equal, labels must match one by one, and the path must be the first segments of the repository. */
function covers(scope: CredentialScope, parts: TargetParts): boolean {
  return scope.port === parts.port &&
    scope.labels.length === parts.labels.length &&
    scope.path.every((segment, at) => segment === parts.path[at]) &&
    scope.labels.every((pattern, at) => {
      const label = parts.labels[at] ?? "";
      if (scope.globs === undefined) return pattern === label;
      const glob = scope.globs[at];
      return glob !== undefined && label.length <= MAX_LABEL && matchesGlob(glob, label);
    });
}

function compareRanked(left: Ranked, right: Ranked): number {
  return right.scope.path.length - left.scope.path.length ||
    left.scope.wildcards - right.scope.wildcards;
}
