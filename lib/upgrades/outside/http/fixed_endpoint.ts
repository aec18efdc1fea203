// A server whose place is configured and does not change.
import type { EndpointSource, UpstreamEndpoint } from "./upstream.ts";

/** Gives the same endpoint for ever. */
export function fixedEndpoint(endpoint: UpstreamEndpoint): EndpointSource {
  return { endpoint: () => Promise.resolve(endpoint), discard: () => {} };
}
