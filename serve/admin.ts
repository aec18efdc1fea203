// The plain HTTP listener for users and probes: health, metrics, pages.
import type { ListenAddress } from "../lib/config/values.ts";
import { openHttpListener } from "../lib/server/http_listener.ts";
import { adminApp, type AdminDeps } from "../routes/mod.ts";

/** How long running requests may take at shutdown (ms). */
const GRACE_MS = 500;

export interface Admin extends AsyncDisposable {
  readonly port: number;
}

export async function openAdmin({ host, port }: ListenAddress, deps: AdminDeps): Promise<Admin> {
  const app = adminApp(deps);
  const listener = await openHttpListener({ host, port, handler: app.fetch });
  return { port: listener.port, [Symbol.asyncDispose]: () => listener.close(GRACE_MS) };
}
