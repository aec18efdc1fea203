// The plain HTTP listener for users and probes: health, metrics, pages.
import type { ListenAddress } from "../lib/config/values.ts";
import { adminApp, type AdminDeps } from "../routes/mod.ts";

export function openAdmin({ host: hostname, port }: ListenAddress, deps: AdminDeps): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({ hostname, port, onListen: () => {} }, adminApp(deps).fetch);
}
