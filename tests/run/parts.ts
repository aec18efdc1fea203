// The parts of a test run: which files, with which permissions, beside what. Pure.

/** A set of test files that one process runs. */
export interface Part {
  /** Also the beginning of its JUnit file's name. */
  readonly name: "pure" | "unit" | "tools" | "cluster" | "waiting" | "node";
  /** Folders and files. */
  readonly paths: readonly string[];
  readonly ignored: readonly string[];
  /** `none`: a file that touches the world fails. */
  readonly permissions: "none" | "all";
  /** How many files run side by side. */
  readonly jobs: number;
}

const PURE = ["tests/lib/placement", "tests/lib/operand", "tests/lib/index", "tests/lib/taints", "tests/lib/upgrades"];

/** Run programs that are not Deno, put load on the machine for seconds, or both. */
const TOOLS = [
  ...[
    "tests/bench_smoke_test.ts",
    "tests/browser",
    "tests/hostile",
    "tests/lib/playground/kubectl_test.ts",
    "tests/tls",
  ],
  ...["bundle", "helm", "image", "kustomize"].map((name) => `tests/manifests/${name}_test.ts`),
];

/** Folders that no unit run enters. */
const BEYOND_UNIT = ["tests/cluster", "tests/chaos", "tests/bench", "tests/node"];

/** Files of tests/cluster that share a control plane, or put so much load on the machine that others would miss their times. */
const ALONE =
  /^tests\/cluster\/(?:bench_smoke|enoexec_daemon|harness|hostile|k8s_edge|leader_rights|overload|placement_matrix|placement_patches|taints|tenants|uninstall|walk|walk_rows|webhook_guard)_test\.ts$/;

/** Needs nothing but Deno: no network but loopback, nothing built, under a minute. */
export const UNIT_PARTS: readonly Part[] = [
  { name: "pure", paths: PURE, ignored: [], permissions: "none", jobs: 2 },
  { name: "unit", paths: ["tests"], ignored: [...PURE, ...TOOLS, ...BEYOND_UNIT], permissions: "all", jobs: 2 },
];

/** Kubectl, Helm, a browser, compiled programs, load. */
export const TOOLS_PART: Part = { name: "tools", paths: TOOLS, ignored: [], permissions: "all", jobs: 2 };

/** Those that run one after the other, and those that have a control plane of their own and mostly wait, side by side. */
export function clusterParts(files: readonly string[]): readonly Part[] {
  const alone = files.filter((file) => ALONE.test(file));
  const waiting = files.filter((file) => !ALONE.test(file));
  return [
    { name: "cluster", paths: alone, ignored: [], permissions: "all", jobs: 1 },
    { name: "waiting", paths: ["tests/chaos", ...waiting], ignored: [], permissions: "all", jobs: 3 },
  ];
}

/** On kubelets of two architectures, which the tests of a run share. */
export const NODE_PART: Part = { name: "node", paths: ["tests/node"], ignored: [], permissions: "all", jobs: 1 };

function holds(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

/** The part with no more than the chosen files and folders in it; undefined when none is left. */
export function narrow(part: Part, chosen: readonly string[]): Part | undefined {
  if (chosen.length === 0) return part.paths.length === 0 ? undefined : part;
  const within = part.paths.flatMap((path) => [
    ...chosen.filter((wanted) => holds(path, wanted)),
    ...chosen.some((wanted) => wanted !== path && holds(wanted, path)) ? [path] : [],
  ]).filter((path) => !part.ignored.some((folder) => holds(folder, path)));
  return within.length === 0 ? undefined : { ...part, paths: [...new Set(within)] };
}
