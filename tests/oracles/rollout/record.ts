// Runs an upgrade twice on a control plane: pools played by the original's node controller, and by our script. Writes the record.
// ../README.md says how.
import { parseArgs } from "node:util";
import { isTrue, read } from "../../cluster/support/cluster_access.ts";
import { POOLS as POOLS_PATH } from "../../cluster/support/simulated_openshift.ts";
import { openUpgradeBed, statesOf, type UpgradeBed } from "../../cluster/support/upgrade_bed.ts";
import { pause, waitUntil } from "../../cluster/support/wait.ts";
import { headOf, renderRecord, startControllers } from "./controllers.ts";
import { type Conversation, hashOfProgram, POOLS, type Rollout, type SeenPool, SeenPoolSchema } from "./rollout.ts";

/** Between two steps of an operator, long enough that every state is seen (ms). */
const STEP_MS = 600;
const LOOK_MS = 100;
/** For so many looks a broken node stays as it is. */
const FAULT_LOOKS = 30;

type Player = "script" | "nodeController";

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${new Date().toISOString().slice(11, 19)} ${line}\n`));
}

function seenPoolOf(raw: unknown): SeenPool {
  const text = JSON.stringify(raw, (name, value: unknown) => name === "lastTransitionTime" ? undefined : value);
  return SeenPoolSchema.parse(JSON.parse(text));
}

/** Breaks the first node of the control plane that is worked on, until its pool has been degraded for some looks. */
function openFault({ openshift }: UpgradeBed): (master: unknown, cordoned: readonly string[]) => void {
  let looks: number | undefined;
  return (master, cordoned) => {
    const node = cordoned.find((name) => name.startsWith("master"));
    if (looks === undefined && node !== undefined) {
      looks = FAULT_LOOKS;
      openshift.breakNode({ node, kind: "degraded", message: "no space left" });
    }
    if (looks !== undefined && isTrue(master, "Degraded") && looks-- === 0) openshift.breakNode(undefined);
  };
}

/** Looks at pools and nodes until the upgrade is over. */
async function watch(bed: UpgradeBed): Promise<Pick<Conversation, "pools" | "cordoned">> {
  const pools: Record<string, SeenPool[]> = {};
  const cordoned: Record<string, number> = {};
  const breakOne = openFault(bed);
  for (let isOver = false; !isOver;) {
    isOver = /Upgraded|Failed/.test(String(read(await bed.readPlan(), "status", "history", 0, "phase")));
    const nodes = await bed.openshift.cordoned();
    for (const raw of await bed.controlPlane.list(POOLS_PATH)) {
      const state = seenPoolOf(raw);
      const { name } = state.metadata;
      const seen = pools[name] ??= [];
      if (JSON.stringify(seen.at(-1)) !== JSON.stringify(state)) seen.push(state);
      const count = nodes.filter((node) => node.replace(/-\d+$/, "") === name).length;
      cordoned[name] = Math.max(cordoned[name] ?? 0, count);
      if (name === "master") breakOne(raw, nodes);
    }
    await pause(LOOK_MS);
  }
  return { pools, cordoned };
}

function stepsOf(plan: unknown): readonly string[] {
  const conditions = [read(plan, "status", "history", 0, "conditions") ?? []].flat();
  return conditions.map((one) => String(read(one, "type"))).toReversed();
}

async function converse(copy: string, poolsBy: Player): Promise<Conversation & { readonly kubernetes: string }> {
  await using bed = await openUpgradeBed({ pools: POOLS, stepMs: STEP_MS, poolsBy });
  const { controlPlane: cluster, openshift, outside } = bed;
  await using _controller = poolsBy === "script" ? undefined : startControllers(copy, cluster);
  if (poolsBy === "nodeController") {
    await waitUntil(
      "the controller to have looked at all pools",
      async () =>
        (await cluster.list(POOLS_PATH)).every((pool) => read(pool, "status", "observedGeneration") !== undefined),
    );
  }
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
  const head = await headOf(copy, { path: "tests/oracles/rollout", sha256: await hashOfProgram() });
  return { ...head, kubernetes, nodeController, script };
}

if (import.meta.main) {
  const { copy, record } = parseArgs({ options: { copy: { type: "string" }, record: { type: "boolean" } } }).values;
  if (copy === undefined) throw new Error("--copy DIR is needed: tests/oracles/README.md");
  const text = renderRecord(await ask(copy));
  await Deno.writeTextFile(record ? new URL("../records/rollout.json", import.meta.url) : "/dev/stdout", text);
}
