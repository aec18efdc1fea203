// Whether a request came by a secret path: decided from the request line alone, once the head is complete and before the body is read.
import { timingSafeEqual } from "node:crypto";

export type PathVerdict =
  /** By a secret path. `url` is the request's without the secret segment. */
  | { readonly kind: "secret"; readonly url: string }
  /** By a path of the manifests, while those are in use. */
  | { readonly kind: "plain"; readonly url: string }
  | { readonly kind: "refused" };

interface AcceptedPaths {
  readonly routes: readonly string[];
  readonly secretPaths: (route: string) => readonly string[];
  readonly acceptsPlain: () => boolean;
}

const REFUSED: PathVerdict = { kind: "refused" };
/** Longer request targets are none of ours, and are not compared (secret segment, longest route, `?timeout=30s`). */
const MAX_URL_LENGTH = 256;

/** Makes the check. Every secret path of the route is compared, each in constant time. */
export function makePathCheck(accepted: AcceptedPaths): (url: string) => PathVerdict {
  const encoder = new TextEncoder();
  return (url) => {
    if (url.length > MAX_URL_LENGTH) return REFUSED;
    const query = url.indexOf("?");
    const path = query < 0 ? url : url.slice(0, query);
    const route = accepted.routes.find((candidate) => path.endsWith(candidate));
    if (route === undefined) return REFUSED;
    const rest = url.slice(path.length - route.length);
    if (path === route) return accepted.acceptsPlain() ? { kind: "plain", url } : REFUSED;
    const given = encoder.encode(path);
    let matches = 0;
    for (const secretPath of accepted.secretPaths(route)) {
      const wanted = encoder.encode(secretPath);
      if (wanted.length === given.length && timingSafeEqual(wanted, given)) matches++;
    }
    return matches > 0 ? { kind: "secret", url: rest } : REFUSED;
  };
}
