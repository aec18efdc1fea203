// Runs tests on real nodes: `deno run -A tests/node/support/run.ts [deno test arguments]`, `… tests/bench/node.ts` for the
// benchmark, or `… shell` for a shell in the lab. All files are run in two labs side by side: see lanes.ts.
//
// Two stages, because the API server and the tests live in the network namespace of the first node:
//   run.ts           programs, host n1, clean_up.sh as a watcher of this process, then itself once more inside of n1's network
//   run.ts --inside  control plane, registry, the other hosts, nodes; then `deno test` with the coordinates in its environment
import { openShiftModule } from "../../cluster/support/openshift_crds.ts";
import { unpackPackages } from "../../../manifests/image/bpftrace.ts";
import { PACKAGE_CACHE } from "../../../manifests/image/context.ts";
import { runPassing } from "../../support/commands.ts";
import { has } from "../../support/needs.ts";
import { downloadBase } from "./base_image.ts";
import { unpackBuilderPackages } from "./builder_images.ts";
import { STORAGE_VARIABLE, writeStorage } from "./archway_images.ts";
import { isLane, LANE_VARIABLE, planLanes, runLanes, sharedStorage } from "./lanes.ts";
import { daemonTasks, ENTER, LAB_NAME_VARIABLE, labName, openNodeHost } from "./node_host.ts";
import { LAB_VARIABLE, startLab } from "./lab.ts";
import { ensureNodePrograms } from "./programs.ts";
import { missingForNodes } from "./requirements.ts";
import { listTraces, readSysctls } from "./traces.ts";

const INSIDE = "--inside";
const CLEAN_UP = new URL("clean_up.sh", import.meta.url).pathname;
const THIS_FILE = new URL(import.meta.url).pathname;
/** Cgroups have the name of the lab, so one of a name runs at a time on a machine. */
const lockFile = (): string => `/run/${labName()}-test-nodes.lock`;
/** Held by the watcher of a lab until it has cleaned up: it ends whatever runs in cgroups of that name, a next lab too. */
const watchFile = (): string => `/run/${labName()}-test-nodes-watch.lock`;

function report(line: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`nodes: ${line}\n`));
}

/** Arguments of the command that runs inside, in this order. */
interface InsideArguments {
  readonly directory: string;
  readonly holderPid: number;
  readonly rest: readonly string[];
}

async function runOutside(args: readonly string[]): Promise<number> {
  const missing = missingForNodes();
  if (missing !== undefined) throw new Error(`Cannot run real nodes: ${missing}`);
  await ensureNodePrograms();
  // Nothing leads out of the network in which images are built later.
  if (has("tracing")) { for (const arch of ["amd64", "arm64"] as const) await unpackPackages(arch, PACKAGE_CACHE); }
  await downloadBase();
  await unpackBuilderPackages();
  // Without it those tests fail that need it, and say so.
  await openShiftModule().catch((error: unknown) => report(`OpenShift's definitions: ${String(error)}`));
  const lanes = await planLanes(args);
  return await leavingNothing(async (directory) => {
    return lanes.length > 1 ? await runLanes(lanes, { directory, script: THIS_FILE }) : await runLab(directory, args);
  });
}

/** Runs what needs a folder, and removes that, what it left otherwise, and what kubelets have set for the whole machine. */
async function leavingNothing(act: (directory: string) => Promise<number>): Promise<number> {
  using lock = await Deno.open(lockFile(), { create: true, write: true });
  await lock.lock(true);
  await earlierWatcherEnded();
  const directory = await Deno.makeTempDir({ prefix: `${labName()}-nodes-` });
  await cleanUp(directory); // What an earlier run left that ended with the machine's power.
  await Deno.mkdir(`${directory}/tmp`, { recursive: true });
  const sysctls = await readSysctls();
  // The settings of the machine are those of all lanes.
  if (!isLane()) await Deno.writeTextFile(`${directory}/sysctl.before`, sysctls);
  watch(directory);
  let code = 1;
  try {
    code = await act(directory);
  } finally {
    await cleanUp(directory);
  }
  const before = { name: labName(), directory, sysctls: isLane() ? await readSysctls() : sysctls };
  const traces = Deno.env.has("ARCHWAY_TEST_KEEP") ? [] : await listTraces(before);
  for (const trace of traces) report(`left behind: ${trace}`);
  return traces.length === 0 ? code : Math.max(code, 1);
}

async function runLab(directory: string, args: readonly string[]): Promise<number> {
  const host = await openNodeHost({ name: "n1", index: 1, directory: `${directory}/n1` });
  const inside = [Deno.execPath(), "run", "-A", THIS_FILE, INSIDE, directory, String(host.holderPid), ...args];
  const enter = ["nsenter", "-t", String(host.holderPid), "-n", "--", ...inside];
  // In the cgroup of the first node, so that all of it ends with us, and with its temporary files in our folder.
  const tasks = daemonTasks("n1");
  const env = { ...await insideEnvironment(directory) };
  return await runPassing("sh", ["-c", ENTER, "sh", tasks, ...enter], { env });
}

/** Temporary files lie in the folder that is removed at the end, as do images that are built, unless lanes share these. */
async function insideEnvironment(directory: string): Promise<Readonly<Record<string, string>>> {
  return {
    TMPDIR: `${directory}/tmp`,
    [STORAGE_VARIABLE]: sharedStorage() ?? await writeStorage(directory),
    [LAB_NAME_VARIABLE]: labName(),
    // A lab within this one is none of the lanes.
    [LANE_VARIABLE]: "",
  };
}

async function cleanUp(directory: string): Promise<void> {
  await new Deno.Command("sh", { args: [CLEAN_UP, labName(), directory], stdin: "null" }).output();
}

/** Waits for the watcher of a lab that has ended: it notices that up to a second later, and ends itself when it has cleaned up. */
async function earlierWatcherEnded(): Promise<void> {
  using watched = await Deno.open(watchFile(), { create: true, write: true });
  await watched.lock(true);
}

/** Cleans up after us even if we are killed. In a session of its own, so that Ctrl-C does not end it with us. */
function watch(directory: string): void {
  const args = ["flock", watchFile(), "sh", CLEAN_UP, labName(), directory, String(Deno.pid)];
  new Deno.Command("setsid", { args, stdin: "null", stdout: "null", stderr: "null" }).spawn().unref();
}

async function runInside({ directory, holderPid, rest }: InsideArguments): Promise<number> {
  const programs = await ensureNodePrograms();
  await using lab = await startLab({ directory, holderPid, programs, onProgress: report });
  const env = { [LAB_VARIABLE]: JSON.stringify(lab.coordinates) };
  const [first] = rest;
  if (first?.startsWith("tests/bench/") === true) {
    return await runPassing(Deno.execPath(), ["run", "-A", ...rest], { env });
  }
  if (first === "shell") return await runPassing("sh", ["-i"], { env });
  const named = rest.some((arg) => !arg.startsWith("-"));
  const args = ["test", "--no-prompt", "--allow-all", ...rest, ...(named ? [] : ["tests/node"])];
  return await runPassing(Deno.execPath(), args, { env });
}

if (import.meta.main) {
  const [first, directory = "", holderPid = "", ...rest] = Deno.args;
  const ended = first === INSIDE ? runInside({ directory, holderPid: Number(holderPid), rest }) : runOutside(Deno.args);
  const code = await ended.catch((error: unknown) => {
    report(error instanceof Error ? error.message : String(error));
    return 1;
  });
  Deno.exit(code);
}
