// `archway enoexec-daemon`: the daemon of one node with its listener for probes and metrics.
import { Hono } from "hono";
import type { ListenAddress } from "../lib/config/values.ts";
import { type Daemon, type DaemonDeps, openDaemon } from "../lib/enoexec/daemon/daemon.ts";
import { type DaemonMetrics, openDaemonMetrics } from "../lib/enoexec/daemon/metrics.ts";
import { liveness, readiness } from "../routes/health.ts";

/** What the command needs. */
export interface EnoexecDaemonDeps extends Omit<DaemonDeps, "metrics"> {
  readonly adminListen: ListenAddress;
  /** Called with the port once it is open. */
  readonly onListening?: ((port: number) => void) | undefined;
}

/** Runs until `stop` aborts. Rejects when it cannot listen. */
export async function runEnoexecDaemon(deps: EnoexecDaemonDeps, stop: AbortSignal): Promise<void> {
  const { api, clock, log, nodeName, namespace, start, adminListen: { host: hostname, port } } = deps;
  const metrics = openDaemonMetrics();
  const daemon = openDaemon({ api, clock, log, metrics, nodeName, namespace, start });
  const app = adminApp(daemon, { metrics, stop });
  await using server = Deno.serve({ hostname, port, onListen: () => {} }, app.fetch);
  log.info("listening", { adminPort: server.addr.port, node: nodeName });
  deps.onListening?.(server.addr.port);
  await daemon.run(stop);
  log.info("stopped");
}

function adminApp(
  daemon: Daemon,
  { metrics, stop }: { readonly metrics: DaemonMetrics; readonly stop: AbortSignal },
): Hono {
  const app = new Hono();
  app.get("/healthz", liveness());
  app.get(
    "/readyz",
    readiness({
      "not stopping": () => !stop.aborted,
      "tracing": () => daemon.isTracing(),
      "pods of the node known": () => daemon.hasSynced(),
    }),
  );
  app.get("/metrics", async (context) => {
    const { contentType, text } = await metrics.expose({
      isTracing: daemon.isTracing(),
      pending: daemon.pending(),
      residentBytes: Deno.memoryUsage().rss,
    });
    return context.body(text, 200, { "content-type": contentType });
  });
  return app;
}
