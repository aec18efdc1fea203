// `archway serve`: opens the capability that the process serves.
import type { Config } from "../lib/config/parse.ts";
import { type Capability, serveCapability, type ServeDeps } from "./capability.ts";

/** A capability is loaded only in a process that serves it. */
const CAPABILITIES: Readonly<Record<Config["only"], () => Promise<Capability>>> = {
  placement: async () => (await import("./placement.ts")).PLACEMENT,
  upgrades: async () => (await import("./upgrades.ts")).UPGRADES,
  "image-builds": async () => (await import("./builds.ts")).IMAGE_BUILDS,
};

/**
 * Serves the capability of `--only` until `stop` aborts, then drains and closes. Rejects when something cannot be
 * opened.
 */
export async function serve(deps: ServeDeps, stop: AbortSignal): Promise<void> {
  await serveCapability(deps, await CAPABILITIES[deps.config.only](), stop);
}
