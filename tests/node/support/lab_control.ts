// Ends and starts parts of a running lab when a test asks for it, in the process that started them: what a test's own process
// started would end with the test. Plain HTTP on loopback; outages.ts is the client.
import type { ControlPlane } from "../../cluster/support/control_plane.ts";
import { waitUntil } from "../../cluster/support/wait.ts";
import { runCommand } from "../../support/commands.ts";
import { type NodeOptions, startNode } from "./node.ts";
import { labName, type NodeHost } from "./node_host.ts";
import type { NodePrograms } from "./programs.ts";

export interface LabParts {
  readonly controlPlane: ControlPlane;
  readonly nodes: readonly NodeOptions[];
}

export interface LabControl extends AsyncDisposable {
  readonly url: string;
}

/** Serves `POST /nodes/NAME/{kill,start}` and `POST /control-plane/{stop,start}`; each answers when it is done. */
export function serveLabControl({ controlPlane, nodes }: LabParts): LabControl {
  const act = async (path: string): Promise<void> => {
    const [, part, name, verb] = path.split("/");
    if (part === "control-plane" && name === "stop") {
      await controlPlane.stopApiServer("killed");
      return await controlPlane.stopEtcd("killed");
    }
    if (part === "control-plane" && name === "start") {
      await controlPlane.startEtcd();
      return await controlPlane.startApiServer();
    }
    const node = nodes.find(({ host }) => host.name === name);
    if (part !== "nodes" || node === undefined) throw new Error(`Cannot find "${path}" in the lab`);
    if (verb === "kill") return await killNode(node);
    await setLink(node.host, "up");
    await startNode(node);
  };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    try {
      await act(new URL(request.url).pathname);
      return new Response("done");
    } catch (error) {
      return new Response(String(error), { status: 500 });
    }
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** As when a machine loses its power: no packet comes out of it any more, every container and daemon is gone. */
async function killNode({ host, programs }: NodeOptions): Promise<void> {
  await setLink(host, "down");
  await waitUntil(`the processes of ${host.name} to be gone`, async () => {
    const pids = [...await listPids(`${labName()}-${host.name}`), ...await listDaemons(host, programs)];
    for (const pid of pids) {
      try {
        Deno.kill(pid, "SIGKILL");
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
      }
    }
    return pids.length === 0;
  });
}

/** The first host's link is the bridge, on which API server and registry answer: it stays. */
async function setLink({ index, run }: NodeHost, state: "up" | "down"): Promise<void> {
  if (index === 1) return;
  await run("ip", "link", "set", "ar0", state);
  // Routes go with the link.
  if (state === "up") {
    await run("sh", "-c", "ip route replace default via 10.201.0.1; ip route replace 10.244.1.0/24 via 10.201.0.1");
  }
}

async function listPids(cgroup: string): Promise<readonly number[]> {
  const text = await runCommand("sh", [
    "-c",
    'find "/sys/fs/cgroup/pids/$1" -name cgroup.procs -exec cat {} + 2>/dev/null || true',
    "sh",
    cgroup,
  ]);
  return [...new Set(text.split("\n").filter((line) => line !== "").map(Number))];
}

/** Kubelet, containerd, its shims and kube-proxy: what runs one of the nodes' programs, or is emulated. */
async function listDaemons({ name }: NodeHost, { directory }: NodePrograms): Promise<readonly number[]> {
  const pids = await listPids(`${labName()}-${name}-daemons`);
  const programs = await Promise.all(pids.map((pid) => Deno.readLink(`/proc/${pid}/exe`).catch(() => "")));
  return pids.filter((_, at) => programs[at]?.startsWith(`${directory}/`) || programs[at]?.includes("/qemu-"));
}
