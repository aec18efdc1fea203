// Free loopback ports that stay ours across restarts of what listens there.
import type { Server } from "node:http";
import type { Server as TlsServer } from "node:https";

// Below the kernel's ephemeral range (32768…): a client that dials a stopped server can otherwise be given the very port it
// dials and connect to itself, and any outgoing connection can take the port while the server restarts.
const FIRST = 11_000;
const LAST = 31_999;
const handedOut = new Set<number>();

export function isPortFree(port: number): boolean {
  try {
    Deno.listen({ hostname: "127.0.0.1", port }).close();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) return false;
    throw error;
  }
}

export function findFreePort(): number {
  for (let attempt = 0; attempt < 1000; attempt++) {
    const port = FIRST + crypto.getRandomValues(new Uint32Array(1)).reduce((_, n) => n % (LAST - FIRST + 1), 0);
    if (handedOut.has(port) || !isPortFree(port)) continue;
    handedOut.add(port);
    return port;
  }
  throw new Error(`Cannot find a free port in ${FIRST}-${LAST}: all tried ones are taken`);
}

/** Lets a server of Node's listen. Dispose of it to cut its connections. */
export async function listenOn(port: number, server: Server | TlsServer): Promise<AsyncDisposable> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve());
  });
  return {
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
