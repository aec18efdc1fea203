// The committed record of the run that the page is made of: of which commit, which tests that name rows ran, where, and how they ended. Pure.
import * as z from "zod";
import { parseClaim } from "./claims.ts";
import type { RanTest } from "./junit.ts";
import type { Reason } from "./reasons.ts";

/** Where a test ran, the weakest evidence first. */
export const BEDS = ["pure", "unit", "playground", "registry", "control plane", "node"] as const;

export type Bed = (typeof BEDS)[number];

export const BED_MEANINGS: Readonly<Record<Bed, string>> = {
  "pure": "a decision, called without any permission",
  "unit": "code with an API server in memory, or servers on loopback, in the test's own process",
  "playground": "`archway serve` before the API server and the registry of `archway dev`",
  "registry": "a client or a command before a real registry, proxy, KV server, Prometheus or Alertmanager",
  "control plane": "before a real kube-apiserver, etcd, scheduler and controller-manager",
  "node": "on real kubelets with containers; the arm64 node is emulated on amd64",
};

export interface Proof {
  readonly name: string;
  readonly bed: Bed;
  readonly outcome: "passed" | "failed";
  readonly isStep: boolean;
}

/** First match wins. */
const BED_OF_FILE: readonly (readonly [beginning: string, bed: Bed])[] = [
  ["tests/lib/placement/decide/", "pure"],
  ["tests/lib/operator/decide/", "pure"],
  ["tests/lib/upgrades/decide/", "pure"],
  ["tests/lib/builds/decide/", "pure"],
  ["tests/playground/", "playground"],
  ["tests/monitoring/", "registry"],
  ["tests/cluster/registry_", "registry"],
  ["tests/cluster/index_", "registry"],
  ["tests/cluster/kv_", "registry"],
  ["tests/cluster/", "control plane"],
  ["tests/chaos/", "control plane"],
  ["tests/node/", "node"],
];

export function bedOf(file: string): Bed {
  return BED_OF_FILE.find(([beginning]) => file.startsWith(beginning))?.[1] ?? "unit";
}

/** Whether a test of this name is evidence: it carries the id of a row, or a reason names it. */
export function isProof(name: string, reasons: readonly Reason[]): boolean {
  return parseClaim(name).ids.length > 0 || reasons.some(({ by }) => by === name);
}

function compare(a: Proof, b: Proof): number {
  const [left, right] = [`${a.name}\n${a.bed}`, `${b.name}\n${b.bed}`];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** What a run says about rows, in a fixed order. A test that was ignored says nothing; of two runs of one test the failed counts. */
export function recordRun(tests: readonly RanTest[], reasons: readonly Reason[]): readonly Proof[] {
  const proofs = new Map<string, Proof>();
  for (const { name, file, isStep, outcome } of tests) {
    if (outcome === "ignored" || !isProof(name, reasons)) continue;
    const proof = { name, bed: bedOf(file), outcome, isStep };
    const key = `${proof.bed} ${name}`;
    if (proofs.get(key)?.outcome !== "failed") proofs.set(key, proof);
  }
  return [...proofs.values()].toSorted(compare);
}

/** The file that a complete run leaves beside its JUnit files, with its {@link RunAbout}. */
export const ABOUT_FILE = "about.json";

const ABOUT = z.strictObject({
  commit: z.string().regex(/^[0-9a-f]{40}$/),
  isClean: z.boolean(),
  date: z.iso.date(),
  machine: z.string().min(1),
  deno: z.string().min(1),
  /** Files that failed beside others and ran once more, alone; the second run counts. */
  repeated: z.array(z.string()).readonly(),
  skipped: z.array(z.string()).readonly(),
});

export type RunAbout = Readonly<z.infer<typeof ABOUT>>;

const RECORD = z.strictObject({
  about: ABOUT,
  proofs: z.array(z.strictObject({
    name: z.string(),
    bed: z.enum(BEDS),
    outcome: z.enum(["passed", "failed"]),
    isStep: z.boolean(),
  })),
});

export interface RunRecord {
  readonly about: RunAbout;
  readonly proofs: readonly Proof[];
}

export function parseAbout(json: string): RunAbout {
  return ABOUT.parse(JSON.parse(json));
}

export function parseRunRecord(json: string): RunRecord {
  return RECORD.parse(JSON.parse(json));
}

/** One proof a line, so that two runs can be compared by eye. */
export function renderRunRecord({ about, proofs }: RunRecord): string {
  const lines = proofs.map((proof) => JSON.stringify(proof)).join(",\n");
  return `{"about":${JSON.stringify(about)},\n"proofs":[\n${lines}\n]}\n`;
}
