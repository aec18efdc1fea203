// The end of a lab whose runner is killed: a second lab, of a name of its own, beside the one that this test runs in.
import assert from "node:assert/strict";
import { read } from "../cluster/support/cluster_access.ts";
import { waitUntil } from "../cluster/support/wait.ts";
import { lacks } from "../support/needs.ts";
import { LAB_NAME_VARIABLE, labName } from "./support/node_host.ts";
import { LAB_VARIABLE } from "./support/lab.ts";
import { listCgroups, listTraces, readSysctls } from "./support/traces.ts";
import { runCommand } from "./support/commands.ts";

const RUNNER = new URL("support/run.ts", import.meta.url).pathname;
const ROOT = new URL("../../", import.meta.url).pathname;

/** Names of the programs that run in the lab's cgroups. */
async function programsOf(name: string): Promise<ReadonlySet<string>> {
  const script =
    'for p in $(find /sys/fs/cgroup/pids -path "*/$1-*" -name cgroup.procs -exec cat {} + 2>/dev/null); do ' +
    "cat /proc/$p/comm 2>/dev/null; done; true";
  return new Set((await runCommand("sh", ["-c", script, "sh", name])).split("\n"));
}

/** A pod without a scheduler and an account: it needs the kubelet alone. */
function renderPod(image: string): string {
  const spec = {
    nodeName: "n1",
    automountServiceAccountToken: false,
    containers: [{ name: "app", image, args: ["pause"] }],
  };
  return JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name: "left", namespace: "default" }, spec });
}

Deno.test(
  "node: a lab whose runner is killed by SIGKILL leaves no process, cgroup, mount, file or kernel setting behind",
  {
    ignore: lacks("nodes"),
  },
  async () => {
    const name = `${labName()}-killed`;
    const sysctls = await readSysctls();
    const coordinatesFile = await Deno.makeTempFile({ prefix: "archway-coordinates-" });
    const runner = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", RUNNER, "shell"],
      cwd: ROOT,
      // Not below our own folder: the paths of sockets have a limit.
      env: { [LAB_NAME_VARIABLE]: name, TMPDIR: "/tmp" },
      stdin: "piped",
      stdout: "null",
      stderr: "null",
    }).spawn();
    try {
      const shell = runner.stdin.getWriter();
      const type = (line: string): Promise<void> => shell.write(new TextEncoder().encode(`${line}\n`));
      await type(`printf %s "$${LAB_VARIABLE}" > ${coordinatesFile}`);
      const lab: unknown = await waitUntil(
        "the lab to be ready",
        async () => JSON.parse(await Deno.readTextFile(coordinatesFile)),
        { deadlineMs: 180_000 },
      );
      const access: unknown = JSON.parse(String(read(lab, "controlPlane")));
      const kubectl = `${String(read(access, "kubectlFile"))} --kubeconfig=${String(read(access, "kubeconfigFile"))}`;
      await type(`echo '${renderPod(`${String(read(lab, "registry"))}/t/multi:v1`)}' | ${kubectl} apply -f -`);
      await waitUntil("a container to run", async () => (await programsOf(name)).has("app"), { deadlineMs: 120_000 });
      const programs = await programsOf(name);
      for (const program of ["deno", "etcd", "kube-apiserver", "kubelet", "containerd", "docker-registry"]) {
        assert.ok(programs.has(program), `${program} of ${[...programs].join()}`);
      }
      const directory = String(read(lab, "directory"));
      assert.notDeepEqual(await listCgroups(name), []);

      runner.kill("SIGKILL");
      await runner.status;
      await shell.close().catch(() => undefined);
      let traces: readonly string[] = [];
      await waitUntil("all of it to be gone", async () => {
        traces = await listTraces({ name, directory, sysctls });
        return traces.length === 0;
      }, { deadlineMs: 60_000 }).catch((cause) => {
        throw new Error(`Left behind: ${traces.join("; ")}`, { cause });
      });
    } finally {
      await Deno.remove(coordinatesFile);
      await Deno.remove(`/run/${name}-test-nodes.lock`).catch(() => undefined);
    }
  },
);
