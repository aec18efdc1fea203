// Serves pages that name pods and images to clients on the pod's loopback only: the plain listener has no
// authentication.
import type { MiddlewareHandler } from "hono";
import ipaddr from "ipaddr.js";
import * as z from "zod";

const Connection = z.object({ remoteAddr: z.object({ hostname: z.string() }) });

const REFUSAL = "Cannot show this page over the network, because it names pods and images: use kubectl port-forward.\n";

/** Answers 403 to a client whose address is unknown or not on the loopback. */
export function loopbackOnly(): MiddlewareHandler {
  return async (context, next) => {
    const connection = Connection.safeParse(context.env);
    if (!connection.success || !isLoopback(connection.data.remoteAddr.hostname)) return context.text(REFUSAL, 403);
    return await next();
  };
}

/** An IPv4 address may be written as IPv6. */
function isLoopback(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === "loopback";
}
