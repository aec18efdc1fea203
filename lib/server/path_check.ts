// Whether a request has an accepted path, decided by its request line before the body is read.
import { timingSafeEqual } from "node:crypto";

export type CheckedPath = AcceptedPath | { readonly kind: "refused" };

/** `url` has no secret segment. `proves`: only API servers know this route's secret path; users can see others. */
export interface AcceptedPath {
  readonly kind: "secret" | "plain";
  readonly url: string;
  readonly proves: boolean;
}

interface AcceptedPaths {
  readonly routes: readonly string[];
  readonly proving: string | undefined;
  /** A route's accepted paths: the secret ones, and the route itself while the manifests' paths are in use. */
  readonly pathsOf: (route: string) => readonly string[];
}

const REFUSED: CheckedPath = { kind: "refused" };
/** Longer targets are not compared: a secret segment, the longest route and `?timeout=30s` take less. */
const MAX_URL_LENGTH = 256;

export function makePathCheck({ routes, proving, pathsOf }: AcceptedPaths): (url: string) => CheckedPath {
  const encoder = new TextEncoder();
  return (url) => {
    const path = url.split("?", 1)[0] ?? "";
    const route = url.length > MAX_URL_LENGTH ? undefined : routes.find((candidate) => path.endsWith(candidate));
    if (route === undefined) return REFUSED;
    const given = encoder.encode(path);
    const matches = pathsOf(route).map((accepted) => encoder.encode(accepted))
      .filter((wanted) => wanted.length === given.length && timingSafeEqual(wanted, given));
    if (matches.length === 0) return REFUSED;
    const kind = path === route ? "plain" : "secret";
    return { kind, url: url.slice(path.length - route.length), proves: route === proving };
  };
}
