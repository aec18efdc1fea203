// `archway enoexec-daemon`: the daemon of one node with its listener for probes and metrics.
import { Registry } from "prom-client";
import type { ListenAddress } from "../lib/config/values.ts";
import { Daemon, type DaemonDeps } from "../lib/exec_format/daemon/daemon.ts";
import { DAEMON_COUNTERS, DAEMON_GAUGES } from "../lib/exec_format/daemon/metrics.ts";
import { openGauges, openMetrics } from "../lib/metrics.ts";
import { openAdmin } from "./admin.ts";

interface EnoexecDaemonDeps extends Omit<DaemonDeps, "metrics"> {
  readonly adminListen: ListenAddress;
  readonly onListening?: ((port: number) => void) | undefined;
}

export async function runEnoexecDaemon(deps: EnoexecDaemonDeps, stop: AbortSignal): Promise<void> {
  const { adminListen, api, clock, log, nodeName, namespace, start } = deps;
  const registry = new Registry();
  const metrics = openMetrics(registry, DAEMON_COUNTERS);
  const setGauges = openGauges(registry, DAEMON_GAUGES);
  const daemon = new Daemon({ api, clock, log, metrics, nodeName, namespace, start });
  await using server = await openAdmin(adminListen, {
    registry,
    beforeScrape: () =>
      setGauges({
        isTracing: daemon.isTracing(),
        pending: daemon.pending(),
      }),
    ready: [{
      "not stopping": () => !stop.aborted,
      "tracing": () => daemon.isTracing(),
      "pods of the node known": () => daemon.hasSynced(),
    }],
    pages: {},
  });
  log.info("listening", { adminPort: server.port, node: nodeName });
  deps.onListening?.(server.port);
  await daemon.run(stop);
  log.info("stopped");
}
