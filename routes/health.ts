// Liveness, readiness and metrics of the plain admin listener.
import type { Context } from "hono";
import type { Registry } from "prom-client";

/** Conditions of readiness by name, none of which waits. The process is ready when all hold. */
export type ReadinessChecks = Readonly<Record<string, () => boolean>>;

/** `GET /healthz`: the process runs and its event loop turns. */
export function liveness(): (context: Context) => Response {
  return (context) => context.text("ok\n");
}

/** `GET /readyz`: 200 when every check of all lists holds, else 503 with one line a check. */
export function readiness(checks: readonly ReadinessChecks[]): (context: Context) => Response {
  return (context) => {
    const lines = checks.flatMap((list) => Object.entries(list)).map(([name, holds]) => ({ name, ok: holds() }));
    const text = lines.map(({ name, ok }) => `${ok ? "ok     " : "not yet"} ${name}\n`).join("");
    return context.text(text, lines.every(({ ok }) => ok) ? 200 : 503);
  };
}

/** `GET /metrics`: Prometheus text exposition. `refresh` brings up to date what is read at a scrape. */
export function exposition(
  registry: Registry,
  refresh: () => void | Promise<void>,
): (context: Context) => Promise<Response> {
  return async (context) => {
    await refresh();
    return context.body(await registry.metrics(), 200, { "content-type": registry.contentType });
  };
}
