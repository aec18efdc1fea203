import assert from "node:assert/strict";
import type { BuildEvent } from "../../../../lib/builds/decide/effects.ts";
import { NO_ARCH } from "./make.ts";
import { building, built, Simulator } from "./simulator.ts";

const TWO = ["amd64", "arm64"];

function running(): Simulator {
  const bed = building();
  for (const arch of TWO) bed.setJob(bed.jobOf(arch), { active: 1 });
  bed.settle({ run: false });
  return bed;
}

function failing(): Simulator {
  const bed = running();
  bed.reset();
  bed.completeJob(bed.jobOf("amd64"));
  bed.failJob(bed.jobOf("arm64"));
  bed.settle({ run: false });
  return bed;
}

/** What happened, and the events that must come of it: `on type reason`, sorted, each once a time that it was recorded. */
const ROWS: readonly (readonly [what: string, happen: () => Simulator, expected: readonly string[]])[] = [
  ["a build begins and its Jobs run", running, [
    "build Normal ArchBuildStarted",
    "build Normal ArchBuildStarted",
    "build Normal BuildBuilding",
    "build Normal BuildPreparing",
    "build Normal JobCreated",
    "build Normal JobCreated",
    "build Normal JobStarted",
    "build Normal JobStarted",
    "config Normal BuildStarted",
    "pool Normal ArchitecturesChanged",
  ]],
  ["both Jobs end well", () => {
    const bed = running();
    bed.reset();
    for (const arch of TWO) bed.completeJob(bed.jobOf(arch));
    bed.settle({ run: false });
    return bed;
  }, [
    "build Normal BuildCompleted",
    "build Normal IndexAssembled",
    "build Normal JobCompleted",
    "build Normal JobCompleted",
    "config Normal ConfigReconciled",
    "config Normal IndexPublished",
  ]],
  ["a Job fails for good", failing, [
    "build Normal JobCompleted",
    "build Warning ArchBuildFailed",
    "build Warning BuildFailed",
    "build Warning JobFailed",
    "pool Warning BuildDegraded",
  ]],
  ["a failed build is mended", () => {
    const bed = failing();
    bed.reset();
    bed.edit({ files: [{ content: "FROM configs AS final\nRUN echo mended\n" }] });
    bed.pass();
    bed.pass();
    return bed;
  }, [
    "build Normal ArchBuildStarted",
    "build Normal ArchBuildStarted",
    "build Normal JobCreated",
    "build Normal JobCreated",
    "config Normal BuildDeleted",
    "config Normal BuildStarted",
    "pool Normal BuildRecovered",
  ]],
  ["a Job is deleted", () => {
    const bed = running();
    bed.reset();
    bed.completeJob(bed.jobOf("amd64"));
    bed.jobs.delete(bed.jobOf("arm64").metadata.name);
    bed.settle({ run: false });
    return bed;
  }, ["build Normal JobCompleted", "build Warning BuildInterrupted", "build Warning JobDeleted"]],
  ["a user asks for a rebuild", () => {
    const bed = built();
    bed.rebuild("arm64");
    bed.pass();
    return bed;
  }, ["config Normal RebuildRequested"]],
  ["the pool is given another configuration", () => {
    const bed = built();
    bed.configure({});
    bed.pass();
    return bed;
  }, ["config Normal BuildStarted", "pool Normal PoolConfigChanged"]],
  ["nothing can be planned", () => {
    const bed = built();
    bed.secrets = { pull: "usable", push: "absent" };
    bed.pass();
    return bed;
  }, ["config Warning ConfigReconcileFailed"]],
];

for (const [what, happen, expected] of ROWS) {
  Deno.test(`O-091 ${what}: ${[...new Set(expected.map((one) => one.split(" ").at(-1)))].join(", ")}`, () => {
    const render = ({ on, type, reason }: BuildEvent): string => `${on} ${type} ${reason}`;
    assert.deepEqual(happen().events.map(render).toSorted(), expected);
  });
}

Deno.test("O-091 the event of a build that begins names pool and configuration", () => {
  const started = running().events.find(({ reason }) => reason === "BuildStarted");
  assert.deepEqual([started?.on, started?.name], ["config", "worker"]);
  assert.match(started?.message ?? "", /for amd64, arm64 of pool "worker"/);
});

Deno.test("the event of a build that begins names a containerfile of an architecture that no node has", () => {
  const bed = new Simulator(TWO, { files: [NO_ARCH, { containerfileArch: "S390X", content: "FROM z\n" }] });
  bed.settle({ run: false });
  const started = bed.events.find(({ reason }) => reason === "BuildStarted");
  assert.match(started?.message ?? "", /The containerfile for s390x is not used/);
});
