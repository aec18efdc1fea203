// Whether a request came by an accepted path: decided by its request line, once the head is complete and before the body is read.
import { timingSafeEqual } from "node:crypto";

export type PathVerdict = AcceptedPath | { readonly kind: "refused" };

/** `url` is without the secret segment. `proves`: whoever calls it is an API server; users see other routes. */
export interface AcceptedPath {
  readonly kind: "secret" | "plain";
  readonly url: string;
  readonly proves: boolean;
}

interface AcceptedPaths {
  readonly routes: readonly string[];
  readonly proving: string | undefined;
  /** The accepted paths of a route: the secret ones, and the route itself while the manifests' paths are in use. */
  readonly pathsOf: (route: string) => readonly string[];
}

const REFUSED: PathVerdict = { kind: "refused" };
/** Longer request targets are none of ours, and are not compared (secret segment, longest route, `?timeout=30s`). */
const MAX_URL_LENGTH = 256;

export function makePathCheck({ routes, proving, pathsOf }: AcceptedPaths): (url: string) => PathVerdict {
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
