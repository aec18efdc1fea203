// The patcher as a process of its own: `patcher_process.ts WORKERS`, with the coordinates of the control plane in the environment.
// Prints a line when it follows the pods, and ends when its standard input does.
import { AdminConnection } from "../cluster/support/cluster_access.ts";
import { CONTROL_PLANE_VARIABLE } from "../cluster/support/coordinates.ts";
import { runPatcher } from "./patcher.ts";

using connection = new AdminConnection(JSON.parse(Deno.env.get(CONTROL_PLANE_VARIABLE) ?? "{}"));
const stop = new AbortController();
const patching = runPatcher(connection.access, {
  workers: Number(Deno.args[0]),
  signal: stop.signal,
  onFollowing: () => void Deno.stdout.writeSync(new TextEncoder().encode("following\n")),
});
await Deno.stdin.readable.pipeTo(new WritableStream());
stop.abort();
await patching;
