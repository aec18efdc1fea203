import assert from "node:assert/strict";
import { runTaints } from "../../../lib/cli/taints.ts";
import { ApiError } from "../../../lib/k8s/api_error.ts";
import type { KubeObject } from "../../../lib/k8s/types.ts";
import { furnish } from "../../controllers/make.ts";
import { taintLine, toleratedBy } from "../../controllers/taints/make.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import { type MemoryCall, MemoryCluster } from "../../support/memory_kube_api.ts";
import { type Ran, recordingTerminal, tooLong } from "./support.ts";
import { ours, rawDaemonSet, rawNode, rawTaintPod } from "../taints/decide/make.ts";

interface Given {
  readonly positionals: readonly string[];
  readonly output?: "table" | "json" | "yaml";
  readonly archTaint?: string;
  readonly dryRun?: boolean;
  readonly columns?: number;
  readonly before?: (call: MemoryCall) => void;
}

async function run(cluster: MemoryCluster, given: Given): Promise<Ran> {
  const { positionals, output = "table", archTaint = "archaware", dryRun = false, columns, before } = given;
  const clock = new FakeClock();
  const { terminal, said } = recordingTerminal({ color: false, columns });
  const signal = new AbortController().signal;
  let isOver = false;
  const options = { positionals, archTaint, dryRun, output };
  const running = runTaints({ api: cluster.client(before), terminal, clock, signal }, options).finally(() =>
    isOver = true
  );
  for (let turns = 0; !isOver && turns < 2_000; turns++) await clock.advance(100);
  return { code: await running, ...said };
}

const OBJECTS: readonly KubeObject[] = [
  rawNode({ name: "a" }),
  rawNode({ name: "r", reported: "arm64", taints: [ours("amd64")] }),
  rawTaintPod({ name: "runs", node: "a" }),
  rawTaintPod({ name: "safe", node: "a", tolerations: [{ operator: "Exists" }] }),
];

function openCluster(more: readonly KubeObject[] = []): MemoryCluster {
  const cluster = new MemoryCluster();
  furnish(cluster, [...OBJECTS, ...more]);
  return cluster;
}

/** A policy that takes no change of a pod. */
function denying(denial: string): (call: MemoryCall) => void {
  return ({ verb, plural }) => {
    if (verb === "patch" && plural === "pods") throw new ApiError(denial, { status: 403 });
  };
}

Deno.test("taints plan changes nothing and names each pod and DaemonSet that would be shut out, in aligned columns", async () => {
  const cluster = openCluster([rawDaemonSet("agent")]);
  const { code, out } = await run(cluster, { positionals: ["plan"] });
  assert.equal(code, 1);
  assert.equal(cluster.patches.length, 0);
  assert.deepEqual(out.split("\n"), [
    "NODE   ARCHITECTURE   ACTION   REASON",
    "a      amd64          add      has no taint yet",
    "r      arm64          repair   wrong value",
    "",
    "POD THAT GETS ITS TOLERATION FROM apply   NODE   TOLERATION                        ACCEPTS IT",
    "team/runs                                 a      supported-arch=amd64:NoSchedule   yes",
    "",
    "DAEMONSET THAT YOU MUST CHANGE   NODES   ADD TO ITS TEMPLATE",
    "kube-system/agent                a, r    supported-arch=amd64:NoSchedule, supported-arch=arm64:NoSchedule",
    "",
    "Taint supported-arch=ARCH:NoSchedule on 2 nodes: add 1, repair 1, remove 0, keep 0. The taints would shut out " +
    "pods (1), which get their toleration from `apply` first, and DaemonSets (1), which you must change. Nothing was changed.",
    "",
  ]);
});

Deno.test("taints plan and apply --dry-run name pods that get their toleration first, and are then no refusal", async () => {
  for (const given of [{ positionals: ["plan"] }, { positionals: ["apply"], dryRun: true }]) {
    const cluster = openCluster();
    const { code, out } = await run(cluster, { ...given, output: "json" });
    const { pods, daemonSets } = JSON.parse(out);
    const lacks = ["supported-arch=amd64:NoSchedule"];
    const runs = { pod: "team/runs", node: "a", lacks, accepts: "yes", reason: "" };
    assert.deepEqual([code, pods, daemonSets, cluster.patches], [0, [runs], [], []]);
    assert.equal((await run(openCluster([rawDaemonSet("agent")]), { ...given, output: "json" })).code, 1);
    assert.equal((await run(cluster, { positionals: ["apply"] })).code, 0);
    const { out: again } = await run(cluster, given);
    assert.match(again, /keep 2\. The taints would shut out nothing\. Nothing was changed\.\n$/);
  }
});

Deno.test("taints plan tries each toleration without storing it, and reports which pods refuse it and of which it is not known", async () => {
  const cluster = openCluster(["odd", "yours", "later"].map((name) => rawTaintPod({ name, node: "a" })));
  const denial = 'admission webhook "x.example" denied the request: no tolerations here';
  const noRight = 'pods "yours" is forbidden: User "u" cannot patch resource "pods" in API group ""';
  const faults: Readonly<Record<string, ApiError>> = {
    odd: new ApiError(denial, { status: 403 }),
    yours: new ApiError(noRight, { status: 403 }),
  };
  const tried: string[] = [];
  const before = ({ verb, plural, name = "" }: MemoryCall): void => {
    if (verb !== "patch") return;
    tried.push(`${plural} ${name}`);
    const fault = faults[name];
    if (fault !== undefined) throw fault;
  };
  const { code, out } = await run(cluster, { positionals: ["plan"], output: "json", before });
  assert.equal(code, 1, "a pod that refuses must be changed first");
  const { pods } = JSON.parse(out);
  const words = pods.map(({ pod, accepts, reason }: Record<string, string>) => `${pod} ${accepts} ${reason}`.trimEnd());
  const yours = `team/yours unknown you may not patch it: ${noRight}`;
  assert.deepEqual(words, ["team/later yes", `team/odd no ${denial}`, "team/runs yes", yours]);
  assert.deepEqual(tried.toSorted(), ["pods later", "pods odd", "pods runs", "pods yours"]);
  assert.equal(cluster.patches.length, 0);
  assert.equal(toleratedBy(cluster, "runs"), "");
  assert.match(
    (await run(cluster, { positionals: ["plan"], before })).out,
    /shut out pods \(4\), which get .* first, but 1 refuse it and of 1 that is not known\. Nothing was changed/,
  );
});

Deno.test("taints plan and apply print no control characters that a policy repeats from the pod", async () => {
  const denial = `policy "x" denied request: \u001b[2J\u009b1m\u202eall\r\nis well \u2028 größer`;
  const before = denying(denial);
  const shown = 'policy "x" denied request: ?[2J?1m?all??is well ? größer';
  const { out: plan } = await run(openCluster(), { positionals: ["plan"], before });
  assert.ok(plan.includes(`no: ${shown}\n`), plan);
  const { out: apply, err } = await run(openCluster(), { positionals: ["apply"], before });
  assert.ok(apply.includes(`team/runs (${shown})`), apply);
  assert.doesNotMatch(plan + apply + err, /[^\P{C}\n]/u);
});

Deno.test("taints plan tries 100 pods at most, at most 20 a second, and reports of others that they were not tried", async () => {
  const names = Array.from({ length: 150 }, (_, at) => `p${String(at).padStart(3, "0")}`);
  const cluster = openCluster(names.map((name) => rawTaintPod({ name, node: "a" })));
  let tried = 0;
  const before = ({ verb }: MemoryCall): void => void (tried += Number(verb === "patch"));
  const { code, out } = await run(cluster, { positionals: ["plan"], output: "json", before });
  const { pods } = JSON.parse(out);
  const count = (accepts: string): number =>
    pods.filter((pod: Record<string, string>) => pod.accepts === accepts).length;
  assert.deepEqual([code, tried, count("yes"), count("unknown")], [0, 100, 100, 51]);
  assert.ok(pods.some(({ reason }: Record<string, string>) => reason === "not tried: too many pods"));
});

Deno.test("taints plan -o json gives the same as data; exit code 0 when nothing would be shut out", async () => {
  const cluster = new MemoryCluster();
  furnish(cluster, [rawNode({ name: "a" })]);
  const archTaint = "example.com/arch=arch:NoExecute";
  const { code, out } = await run(cluster, { positionals: ["plan"], output: "json", archTaint });
  const taint = { key: "example.com/arch", effect: "NoExecute" };
  const nodes = [{ node: "a", architecture: "amd64", action: "add", reason: "has no taint yet" }];
  assert.deepEqual([code, JSON.parse(out)], [0, { taint, nodes, pods: [], daemonSets: [] }]);
});

Deno.test("taints apply tolerates what runs, then taints, and reports what it did", async () => {
  const cluster = openCluster();
  const { code, out } = await run(cluster, { positionals: ["apply"], output: "json" });
  const { end, toleratedPods, taintedNodes } = JSON.parse(out);
  assert.deepEqual([code, end, toleratedPods, taintedNodes], [0, "done", 1, 2]);
  assert.deepEqual([taintLine(cluster), toleratedBy(cluster, "runs")], ["a:amd64 r:arm64", "amd64"]);
});

Deno.test("taints apply ends with 1 when a pod cannot be given its toleration, and taints no node of it", async () => {
  const cluster = openCluster();
  const { code, out } = await run(cluster, { positionals: ["apply"], before: denying("a policy forbids it") });
  assert.equal(code, 1);
  assert.match(out, /team\/runs \(a policy forbids it\)/);
  assert.match(taintLine(cluster), /^a: /);
});

Deno.test("taints clean takes the taints off, leaves pods alone and deletes nothing; --dry-run only reports it", async () => {
  const taints = [{ key: "dedicated", effect: "NoSchedule" }, ours("amd64")];
  const cluster = openCluster([rawNode({ name: "x", taints })]);
  const before = cluster.objects.size;
  const dry = await run(cluster, { positionals: ["clean"], dryRun: true, output: "json" });
  assert.deepEqual([dry.code, JSON.parse(dry.out)], [0, { dryRun: true, lifted: ["r", "x"], left: [] }]);
  assert.equal(cluster.patches.length, 0);
  const calls: string[] = [];
  const note = ({ verb, plural }: MemoryCall): void => void calls.push(`${verb} ${plural}`);
  const { code, out } = await run(cluster, { positionals: ["clean"], before: note });
  assert.equal(code, 0);
  assert.match(out, /^NODE {3}RESULT {6}REASON\nr {6}untainted\nx {6}untainted\n/);
  assert.deepEqual(calls, ["list nodes", "patch nodes", "patch nodes"]);
  assert.equal(taintLine(cluster), "a: r: x:");
  assert.equal(cluster.objects.size, before);
});

Deno.test("taints of a cloud are never written: exit code 2", async () => {
  for (const archTaint of ["gke", "ack", "kubernetes.io/arch=arch"]) {
    const cluster = openCluster();
    for (const word of ["plan", "apply", "clean"]) {
      const { code, err } = await run(cluster, { positionals: [word], archTaint });
      assert.equal(code, 2);
      assert.match(err, /the cloud puts it on nodes/);
    }
    assert.equal(cluster.patches.length, 0);
  }
});

Deno.test("taints plan and clean fit a terminal of 80 columns, and leave out no column of the plan", async () => {
  const cluster = openCluster([rawDaemonSet("agent")]);
  const planned = await run(cluster, { positionals: ["plan"], columns: 80 });
  const cleaned = await run(cluster, { positionals: ["clean"], dryRun: true, columns: 80 });
  assert.deepEqual(tooLong(planned.out + cleaned.out), []);
  assert.match(planned.out, /^POD THAT GETS ITS TOLERATION.* NODE {3}TOLERATION +ACCEPTS IT$/m);
});
