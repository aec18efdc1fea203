// Which credentials apply to a repository, best first: the kubelet's matching, with paths compared by segment. Pure.
import type { Credential } from "../credential.ts";
import { matchesGlob } from "../../vocabulary/glob.ts";
import { hostKey } from "../registry_host.ts";
import { canonicalPort, parseScope, type Scope } from "./scope.ts";

interface RepositoryTarget {
  readonly host: string;
  readonly repository: string;
}

interface Ranked {
  readonly credential: Credential;
  readonly scope: Scope;
}

/** Best first: longer path, then fewer wildcards in the host, then as listed. */
export function matchCredentials(credentials: readonly Credential[], target: RepositoryTarget): readonly Credential[] {
  const wanted = parseTarget(target);
  if (wanted === undefined) return [];
  const covering = credentials.flatMap((credential): readonly Ranked[] => {
    const scope = scopeOf(credential);
    return scope !== undefined && covers(scope, wanted) ? [{ credential, scope }] : [];
  });
  return covering.sort(compareRanked).map(({ credential }) => credential);
}

/** The same for the pull secrets of a pod: under one key, the secret listed last comes first (row DV-59). */
export function matchPullSecrets(credentials: readonly Credential[], target: RepositoryTarget): readonly Credential[] {
  const bySource = Map.groupBy(credentials, ({ source }) => source);
  return matchCredentials([...bySource.values()].toReversed().flat(), target);
}

/** Whether a key such as `*.example.com/team` covers a repository, as in `matchImages` of a kubelet plugin. */
export function scopeCovers(key: string, target: RepositoryTarget): boolean {
  const scope = parseScope(key);
  const wanted = parseTarget(target);
  return scope !== undefined && wanted !== undefined && covers(scope, wanted);
}

/** Each is parsed once: the credentials of a pod are matched with every one of its images. */
const PARSED = new WeakMap<Credential, { readonly scope: Scope | undefined }>();

function scopeOf(credential: Credential): Scope | undefined {
  const known = PARSED.get(credential);
  if (known !== undefined) return known.scope;
  const scope = parseScope(credential.scope);
  PARSED.set(credential, { scope });
  return scope;
}

interface Wanted {
  readonly labels: readonly string[];
  readonly port: string;
  readonly path: readonly string[];
}

function parseTarget({ host, repository }: RepositoryTarget): Wanted | undefined {
  const parts = /^(\[[^\]]+\]|[^:/]+)(?::(\d{1,5}))?$/.exec(host);
  if (parts === null) return undefined;
  const [, name = "", port = ""] = parts;
  const labels = name.startsWith("[") ? [hostKey(name)] : hostKey(name).split(".");
  return { labels, port: canonicalPort(port), path: repository.split("/") };
}

/** The longest label of a DNS name; longer ones are not compared with patterns. */
const MAX_LABEL = 63;

/** Equal ports, as many labels, each matching; the path starts the repository, in whole segments (row DV-125). */
function covers(scope: Scope, wanted: Wanted): boolean {
  return scope.port === wanted.port &&
    scope.labels.length === wanted.labels.length &&
    scope.path.every((segment, at) => segment === wanted.path[at]) &&
    scope.labels.every((pattern, at) => {
      const label = wanted.labels[at] ?? "";
      if (scope.globs === undefined) return pattern === label;
      const glob = scope.globs[at];
      return glob !== undefined && label.length <= MAX_LABEL && matchesGlob(glob, label);
    });
}

function compareRanked(left: Ranked, right: Ranked): number {
  return right.scope.path.length - left.scope.path.length ||
    left.scope.wildcards - right.scope.wildcards;
}
