// Runs an upgrade twice on a control plane: pools played by the original's node controller, and by our script. Writes the record.
// ../README.md says how.
import { parseArgs } from "node:util";
import { parseMachineConfigPool } from "../../../lib/cluster/machines.ts";
import { isPoolUpdating, summarizePools } from "../../../lib/upgrades/decide/pools.ts";
import { type ClusterAccess, read } from "../../cluster/support/cluster_access.ts";
import { RunningProcess } from "../../cluster/support/process.ts";
import { imageOf, POOLS as POOLS_PATH, renderedOf, TO } from "../../cluster/support/simulated_openshift.ts";
import { openUpgradeBed, statesOf, type UpgradeBed } from "../../cluster/support/upgrade_bed.ts";
import { pause } from "../../cluster/support/wait.ts";
import { type Conversation, hashOfProgram, POOLS, type PoolState, type Rollout } from "./rollout.ts";

/** Between two steps of an operator, long enough that every state is seen (ms). */
const STEP_MS = 600;
const LOOK_MS = 100;

type Player = "script" | "nodeController";

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${new Date().toISOString().slice(11, 19)} ${line}\n`));
}

async function items(cluster: ClusterAccess, path: string): Promise<readonly unknown[]> {
  return [read((await cluster.request("GET", path)).body, "items") ?? []].flat();
}

function stateOf(raw: unknown): PoolState {
  const pool = parseMachineConfigPool(Object(raw));
  return {
    updated: pool.updatedMachineCount,
    machines: pool.machineCount,
    isUpdating: isPoolUpdating(pool),
    isDegraded: pool.isDegraded,
    isWaitedFor: !summarizePools([pool]).isDone,
    isNew: pool.currentRendered === renderedOf(pool.name, imageOf(TO)),
    isBehind: Number(read(raw, "status", "observedGeneration") ?? pool.generation) < pool.generation,
  };
}

/** Looks at pools and nodes until the upgrade is over. */
async function watch(bed: UpgradeBed): Promise<Pick<Conversation, "pools" | "cordoned">> {
  const pools: Record<string, PoolState[]> = {};
  const cordoned: Record<string, number> = {};
  for (let isOver = false; !isOver;) {
    isOver = /Upgraded|Failed/.test(String(read(await bed.readPlan(), "status", "history", 0, "phase")));
    for (const raw of await items(bed.controlPlane, POOLS_PATH)) {
      const [name, state] = [String(read(raw, "metadata", "name")), stateOf(raw)];
      const seen = pools[name] ??= [];
      if (JSON.stringify(seen.at(-1)) !== JSON.stringify(state)) seen.push(state);
    }
    const nodes = (await bed.openshift.cordoned()).map((node) => node.replace(/-\d+$/, ""));
    for (const pool of Object.keys(POOLS)) {
      cordoned[pool] = Math.max(cordoned[pool] ?? 0, nodes.filter((one) => one === pool).length);
    }
    await pause(LOOK_MS);
  }
  return { pools, cordoned };
}

function stepsOf(plan: unknown): readonly string[] {
  const conditions = [read(plan, "status", "history", 0, "conditions") ?? []].flat();
  return conditions.map((one) => String(read(one, "type"))).toReversed();
}

function startNodeController(copy: string, { directory, kubeconfigFile }: ClusterAccess): RunningProcess {
  return RunningProcess.start({
    name: "node-controller",
    command: `${copy}/archway-node-controller`,
    args: [`--kubeconfig=${kubeconfigFile}`],
    directory,
  });
}

async function converse(copy: string, poolsBy: Player): Promise<Conversation & { readonly kubernetes: string }> {
  await using bed = await openUpgradeBed({ pools: POOLS, stepMs: STEP_MS, poolsBy });
  const { controlPlane: cluster, openshift, outside } = bed;
  await using _controller = poolsBy === "script" ? undefined : startNodeController(copy, cluster);
  say(`${poolsBy}: the cluster is there`);
  bed.start();
  await bed.createPlan();
  const seen = await watch(bed);
  const plan = await bed.readPlan();
  return {
    ...seen,
    asked: [...openshift.asked],
    silences: [...outside.created],
    notified: [...statesOf(outside.notified)],
    steps: [...stepsOf(plan)],
    phase: String(read(plan, "status", "history", 0, "phase")),
    kubernetes: String(read((await cluster.request("GET", "/version")).body, "gitVersion")),
  };
}

async function ask(copy: string): Promise<Rollout> {
  const { kubernetes, ...nodeController } = await converse(copy, "nodeController");
  const { kubernetes: _, ...script } = await converse(copy, "script");
  const { stdout } = await new Deno.Command("git", { args: ["-C", copy, "rev-parse", "HEAD"] }).output();
  return {
    original: {
      repository: "github.com/openshift/machine-config-operator",
      commit: new TextDecoder().decode(stdout).trim(),
    },
    program: { path: "tests/oracles/rollout", sha256: await hashOfProgram() },
    kubernetes,
    recorded: new Date().toISOString().slice(0, 10),
    nodeController,
    script,
  };
}

if (import.meta.main) {
  const { copy, record } = parseArgs({ options: { copy: { type: "string" }, record: { type: "boolean" } } }).values;
  if (copy === undefined) throw new Error("--copy DIR is needed: tests/oracles/README.md");
  const text = `${JSON.stringify(await ask(copy), undefined, 2)}\n`;
  await Deno.writeTextFile(record ? new URL("../records/rollout.json", import.meta.url) : "/dev/stdout", text);
}
