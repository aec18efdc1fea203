// Reads how to log in at a host: the challenge of its `/v2/`.
import { registryError } from "../errors.ts";
import { rootUrl } from "../image/document.ts";
import type { Connections } from "../http/connections.ts";
import type { RequestContext } from "../request_log.ts";
import type { Endpoint } from "../endpoint.ts";
import { type Challenge, challengeOf } from "./challenge.ts";

/** `/v2/` has an account and a group of its own: it can be read while anonymous requests are rate limited. */
const ROOT = "/v2/";
const MAX_ROOT_BYTES = 1024 * 1024;

/** The scope of the challenge is dropped: it belongs to no repository. */
export async function probeRoot(
  connections: Connections,
  { endpoint, context }: { readonly endpoint: Endpoint; readonly context: RequestContext },
): Promise<Challenge | undefined> {
  const { status, redirect, headers } = await connections.send({
    endpoint,
    context,
    message: { kind: "other", method: "GET", maxBytes: MAX_ROOT_BYTES },
    urlBy: (scheme) => rootUrl(endpoint, scheme),
    account: ROOT,
    group: ROOT,
  });
  const isBroken = status === 429 || status >= 500;
  if (isBroken) throw registryError("ServerError", `Cannot read "${endpoint.host}/v2/": it answered ${status}.`);
  const challenge = redirect === undefined ? challengeOf(headers) : undefined;
  return challenge?.kind === "bearer" ? { ...challenge, scope: "" } : challenge;
}
