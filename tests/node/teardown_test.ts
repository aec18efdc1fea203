// The end of a lab whose runner is killed, and the next lab of its name: labs beside the one that this test runs in.
import assert from "node:assert/strict";
import { read } from "../cluster/support/cluster_access.ts";
import { waitUntil } from "../cluster/support/wait.ts";
import { lacks } from "../support/needs.ts";
import { LAB_NAME_VARIABLE, labName } from "./support/node_host.ts";
import { LAB_VARIABLE } from "./support/lab.ts";
import { listCgroups, listTraces, readSysctls } from "./support/traces.ts";
import { runCommand } from "../support/commands.ts";

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

interface LabShell extends AsyncDisposable {
  readonly lab: unknown;
  type(line: string): Promise<void>;
  kill(): Promise<void>;
}

async function openLabShell(name: string): Promise<LabShell> {
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
  const shell = runner.stdin.getWriter();
  const close = async (): Promise<void> => {
    await shell.close().catch(() => undefined);
    await runner.status;
    await Deno.remove(coordinatesFile);
  };
  const kill = async (): Promise<void> => {
    runner.kill("SIGKILL");
    await runner.status;
  };
  const type = (line: string): Promise<void> => shell.write(new TextEncoder().encode(`${line}\n`));
  try {
    await type(`printf %s "$${LAB_VARIABLE}" > ${coordinatesFile}`);
    const lab: unknown = await waitUntil(
      "the lab to be ready",
      async () => JSON.parse(await Deno.readTextFile(coordinatesFile)),
      { deadlineMs: 180_000 },
    );
    return { lab, type, kill, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Starts a container, so that every kind of process runs in the lab. */
async function startContainer({ lab, type }: LabShell, name: string): Promise<void> {
  const access: unknown = JSON.parse(String(read(lab, "controlPlane")));
  const kubectl = `${String(read(access, "kubectlFile"))} --kubeconfig=${String(read(access, "kubeconfigFile"))}`;
  await type(`echo '${renderPod(`${String(read(lab, "registry"))}/t/multi:v1`)}' | ${kubectl} apply -f -`);
  await waitUntil("a container to run", async () => (await programsOf(name)).has("app"), { deadlineMs: 120_000 });
}

Deno.test("node: a lab whose runner is killed leaves no process, cgroup, mount, file or kernel setting behind", {
  ignore: lacks("nodes"),
}, async (t) => {
  const name = `${labName()}-killed`;
  const sysctls = await readSysctls();
  try {
    await using first = await openLabShell(name);
    await startContainer(first, name);
    const programs = await programsOf(name);
    for (const program of ["deno", "etcd", "kube-apiserver", "kubelet", "containerd", "docker-registry"]) {
      assert.ok(programs.has(program), `${program} of ${[...programs].join()}`);
    }
    await first.kill();
    await t.step("another lab of its name, at once, is not cleaned up with it", async () => {
      await using second = await openLabShell(name);
      await startContainer(second, name);
      assert.notDeepEqual(await listCgroups(name), []);
      await second.kill();
      let traces: readonly string[] = [];
      await waitUntil("all of both to be gone", async () => {
        const directories = [first, second].map(({ lab }) => String(read(lab, "directory")));
        traces = (await Promise.all(directories.map((directory) => listTraces({ name, directory, sysctls })))).flat();
        return traces.length === 0;
      }, { deadlineMs: 60_000 }).catch((cause) => {
        throw new Error(`Left behind: ${traces.join("; ")}`, { cause });
      });
    });
  } finally {
    for (const suffix of ["", "-watch"]) {
      await Deno.remove(`/run/${name}-test-nodes${suffix}.lock`).catch(() => undefined);
    }
  }
});
