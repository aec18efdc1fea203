// `archway serve`: clients opened, components put together, run until told to stop, closed in order.
//
//   reflectors ─▶ configs ─┬─▶ webhook (each replica)   ─▶ patch in the answer
//   registries ─▶ images ──┴─▶ pod controller (leader)  ─▶ one patch a pod
//                              operator (leader)        ─▶ webhook configuration, conditions
import { runEverywhere, runLeading } from "../controllers/mod.ts";
import { openAdmin } from "./admin.ts";
import { controllersOf } from "./controllers.ts";
import { openClients, type ServeDeps } from "./clients.ts";
import { wireComponents } from "./components.ts";
import { openWebhooks } from "./webhooks.ts";

/** Longest that running requests, and then the last events, may take at the end (ms). */
const DRAIN_MS = 3_000;
const FLUSH_MS = 1_500;

/** Serves until `stop` aborts, then drains and closes. Rejects when something cannot be opened. */
export async function serve(parts: ServeDeps, stop: AbortSignal): Promise<void> {
  const { clock, log } = parts;
  await using stack = new AsyncDisposableStack();
  const following = new AbortController();
  stack.defer(() => following.abort());
  let isPlacing = (): boolean => false;
  const clients = await openClients(parts, { stack, stop, following: following.signal, isPlacing: () => isPlacing() });
  const components = wireComponents(parts, clients, stop);
  isPlacing = () => components.podPlacement.isBusy();
  const webhooks = await openWebhooks(parts, components, following.signal);
  const admin = openAdmin(parts, components, stop);
  const address = { webhookPort: webhooks.port, adminPort: admin.addr.port };
  log.info("listening", address);
  parts.onListening(address);

  stop.addEventListener("abort", () => webhooks.beginDrain(), { once: true });
  const controllers = controllersOf(parts, components);
  const background = runEverywhere(controllers, following.signal);
  await runLeading(controllers, stop);
  log.info("draining");
  await clock.sleep(parts.lingerMs, new AbortController().signal);
  await webhooks.close(DRAIN_MS);
  await clients.events.flush(AbortSignal.timeout(FLUSH_MS));
  following.abort();
  await background;
  await admin.shutdown();
  log.info("stopped");
}
