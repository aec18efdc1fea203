// Pages that name pods and images answer clients of the pod's loopback alone: the plain listener has no logins.
import type { MiddlewareHandler } from "hono";
import ipaddr from "ipaddr.js";
import * as z from "zod";

const Connection = z.object({ remoteAddr: z.object({ hostname: z.string() }) });

const REFUSAL = "Cannot show this page over the network, because it names pods and images: use kubectl port-forward.\n";

/** Refuses all other clients with 403, and where the client's address is not known. */
export function loopbackOnly(): MiddlewareHandler {
  return async (context, next) => {
    const connection = Connection.safeParse(context.env);
    if (!connection.success || !isLoopback(connection.data.remoteAddr.hostname)) return context.text(REFUSAL, 403);
    return await next();
  };
}

/** IPv4 written as IPv6 as well. */
function isLoopback(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === "loopback";
}
