// `archway serve`: opens clients, wires components, runs until the stop signal, closes in order.
//
//   informers ──▶ configs ─┬─▶ webhook (each replica)   ─▶ patch in the answer
//   registries ─▶ images ──┴─▶ pod controller (leader)  ─▶ one patch a pod
//                              operator (leader)        ─▶ webhook configuration, conditions
import { runEverywhere, runLeading } from "../controllers/mod.ts";
import { unreachable } from "../lib/unreachable.ts";
import { openAdmin } from "./admin.ts";
import { openClients, type ServeDeps } from "./clients.ts";
import { openComponents } from "./components.ts";
import { controllersOf } from "./controllers.ts";
import { openWebhooks } from "./webhooks.ts";

/** Longest that running requests, and then the last events, may take at the end (ms). */
const DRAIN_MS = 3_000;
const FLUSH_MS = 1_500;

/**
 * Serves the capability of `--only` until `stop` aborts, then drains and closes. Rejects when something cannot be opened. The
 * others are loaded when they are the one: they share no process with placement.
 */
export async function serve(deps: ServeDeps, stop: AbortSignal): Promise<void> {
  const { only } = deps.config;
  switch (only) {
    case "placement":
      return await servePlacement(deps, stop);
    case "upgrades":
      return await (await import("./upgrades.ts")).serveUpgrades(deps, stop);
    case "image-builds":
      return await (await import("./image_builds.ts")).serveImageBuilds(deps, stop);
    default:
      return unreachable(only);
  }
}

async function servePlacement(deps: ServeDeps, stop: AbortSignal): Promise<void> {
  const { clock, log } = deps;
  await using stack = new AsyncDisposableStack();
  const background = new AbortController();
  stack.defer(() => background.abort());
  const clients = await openClients(deps, { stack, stop, background: background.signal });
  const components = await openComponents(deps, clients, { stack, stop });
  const webhooks = await openWebhooks(deps, { clients, components, signal: background.signal });
  const admin = openAdmin(deps, { clients, components, stop });
  const address = { webhookPort: webhooks.port, adminPort: admin.addr.port };
  log.info("listening", address);
  deps.onListening(address);

  stop.addEventListener("abort", () => webhooks.beginDrain(), { once: true });
  const controllers = controllersOf(deps, clients, components);
  const running = runEverywhere(controllers, background.signal);
  await runLeading(controllers, stop);
  log.info("draining");
  await clock.sleep(deps.lingerMs, new AbortController().signal);
  await webhooks.close(DRAIN_MS);
  await components.events.flush(AbortSignal.timeout(FLUSH_MS));
  background.abort();
  await running;
  await admin.shutdown();
  log.info("stopped");
}
