// The listener of a webhook with one path, which is public because the manifests contain it.
import type { Config } from "../lib/config/parse.ts";
import { CONNECTION_LIMITS } from "../lib/server/connection_table.ts";
import { type HttpsListener, type HttpsListenerOptions, openHttpsListener } from "../lib/server/https_listener.ts";
import { makePathCheck } from "../lib/server/path_check.ts";
import { readClientCa } from "../lib/server/certificate/open_certificate.ts";

/** Has the connection limits of the pod webhooks. */
export async function openPublicListener(
  { path, handler, certificate, config: { listen: { host, port }, webhookClientCa } }:
    & Pick<HttpsListenerOptions, "certificate" | "handler">
    & { readonly path: string; readonly config: Pick<Config, "listen" | "webhookClientCa"> },
): Promise<HttpsListener> {
  return await openHttpsListener({
    host,
    port,
    certificate,
    clientCa: await readClientCa(webhookClientCa),
    handler,
    guard: {
      limits: CONNECTION_LIMITS,
      check: makePathCheck({ routes: [path], proving: undefined, pathsOf: (route) => [route] }),
      manifestPathProves: () => false,
      dropped: () => {},
      began: () => {},
    },
  });
}
