// Whether a request came by a secret path: decided from the request line alone, once the head is complete and before the body is read.
import { timingSafeEqual } from "node:crypto";

export type PathVerdict =
  /**
   * By a secret path, or by one of the manifests while those are in use. `url` is the request's without the secret segment.
   * `proves`: whoever calls it is an API server. Errors show the paths of the other routes to users.
   */
  | { readonly kind: "secret" | "plain"; readonly url: string; readonly proves: boolean }
  | { readonly kind: "refused" };

interface AcceptedPaths {
  readonly routes: readonly string[];
  /** The route whose callers prove their connections by it; undefined: none does. */
  readonly proving: string | undefined;
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
    const proves = route === accepted.proving;
    if (path === route) return accepted.acceptsPlain() ? { kind: "plain", url, proves } : REFUSED;
    const given = encoder.encode(path);
    let matches = 0;
    for (const secretPath of accepted.secretPaths(route)) {
      const wanted = encoder.encode(secretPath);
      if (wanted.length === given.length && timingSafeEqual(wanted, given)) matches++;
    }
    return matches > 0 ? { kind: "secret", url: rest, proves } : REFUSED;
  };
}
