// The parts of a test run: which files, with which permissions, beside what. Pure.

export interface Part {
  readonly name: (typeof STAGES)[number][number][number];
  readonly paths: readonly string[];
  readonly ignored: readonly string[];
  /** `none`: a file that needs a file, the network or the environment fails. */
  readonly permissions: "none" | "all";
  readonly jobs: number;
  /** In how many isolates its files are loaded, each with a share of them; 0: every file in one of its own. */
  readonly isolates: number;
  readonly planes: number;
  /** Of its processes: those that are held to times go first. */
  readonly niceness: number;
  /** In which form tests run whose size is a number: see tests/support/form.ts. */
  readonly form: "short" | "long";
}

const PLAIN = { ignored: [], permissions: "all", isolates: 0, planes: 0, niceness: 0, form: "short" } as const;
/** For what is held to no time but a deadline for waiting. */
const PATIENT = 19;

const PURE = [
  "tests/lib/placement/decide",
  "tests/lib/report/decide",
  "tests/lib/operator/decide",
  "tests/lib/publishing/decide",
  "tests/lib/taints/decide",
  "tests/lib/upgrades/decide",
  "tests/lib/builds/decide",
];

/**
 * Run programs in processes of their own, put load on the machine for seconds, or wait for timers of the machine. Last those with
 * real registries: they are held to times, and run when the busiest files beside them have ended.
 */
const TOOLS = [
  ...[
    "tests/browser",
    "tests/conformance",
    "tests/controllers/operator/uninstall_finalizers_test.ts",
    "tests/controllers/pod_placement/tenants_test.ts",
    "tests/hostile",
    "tests/lib/placement/images/always_history_test.ts",
    "tests/lib/placement/images/memory_test.ts",
    "tests/lib/k8s/cluster_access_test.ts",
    "tests/lib/k8s/reflector_faults_test.ts",
    "tests/lib/kv/deno_kv_test.ts",
    "tests/lib/oci/config/configured_secrets_test.ts",
    "tests/lib/oci/config/parsers_test.ts",
    "tests/lib/oci/http/proxy_test.ts",
    "tests/lib/oci/image/hostile_test.ts",
    "tests/lib/oci/limits/host_limiters_test.ts",
    "tests/lib/oci/limits/tenants_test.ts",
    "tests/lib/oci/secrets_test.ts",
    "tests/playground/kubectl_test.ts",
    "tests/main_test.ts",
    "tests/monitoring",
    "tests/permissions_test.ts",
    "tests/playground",
    "tests/serve/dev_test.ts",
    "tests/serve/flag_effects_test.ts",
    "tests/serve/loaded_modules_test.ts",
    "tests/tls",
  ],
  ...["bundle", "helm", "image", "kustomize"].map((name) => `tests/manifests/${name}_test.ts`),
  ...[
    ...["kv_full_disk", "kv_server", "index_assemble", "index_faults", "registry_auth", "registry_cache"],
    ...["registry_faults", "registry_formats", "registry_inspect", "registry_pull_through", "registry_tls"],
  ].map((name) => `tests/cluster/${name}_test.ts`),
];

/** Minutes of load or of faults, on which no row of the catalogues rests: the table of faults, the soak, whether benchmarks run. */
const FAULTS = "tests/chaos/chaos_test.ts";
const SOAK = "tests/chaos/soak_test.ts";
/** Replicas and registries under one long fault each, and whether the faults happen at all: half of it is waiting. */
const OUTAGES = ["availability", "ha_outage", "ha_clock", "ha_split_brain", "harness"]
  .map((name) => `tests/chaos/${name}_test.ts`);
const BENCHES = ["tests/bench_smoke_test.ts", "tests/cluster/bench_smoke_test.ts"];

/** Minutes on control planes, and no row rests on them: rights, certificates, upgrades with builds, a release. */
const SLOW = "tests/long";

const LARGE = ["taints", "taints_many_nodes", "upgrades_many_nodes"].map((name) => `tests/cluster/${name}_test.ts`);

const BEYOND_UNIT = ["tests/cluster", SLOW, FAULTS, SOAK, ...OUTAGES, "tests/bench", ...BENCHES, "tests/node"];

/**
 * Files of tests/cluster that put so much load on the machine that others would miss their times, or measure under load, in
 * their order: what takes most of the processor goes first, beside what has time.
 */
const ALONE = ["hostile", "taints_many_nodes", "tenants", "webhook_guard", "walk", "walk_rows"]
  .map((name) => `tests/cluster/${name}_test.ts`);

/** They wait for limits of seconds to run out and compute nearly nothing: beside those, but not beside three that wait as well. */
const LEADER = ["leader_rights", "leader_impaired"].map((name) => `tests/cluster/${name}_test.ts`);

/** Of those that wait, by their length: they begin first, so that none runs alone at the end. */
export const LONGEST: readonly string[] = [
  ...["image_builds_failures", "uninstall", "image_builds_many", "image_builds_faults", "image_builds_life"],
  ...["image_builds_changes", "taints", "operator", "ha_way_back"],
  ...["trouble", "life", "upgrades_many_nodes", "image_builds_gone", "image_builds_edges"],
].map((name) => `tests/cluster/${name}_test.ts`);

function rankOf(file: string): number {
  const rank = LONGEST.indexOf(file);
  return rank === -1 ? LONGEST.length : rank;
}

/** Needs nothing but Deno: no network but loopback, nothing built, under a minute. */
const UNIT: readonly Part[] = [
  { ...PLAIN, name: "pure", paths: PURE, permissions: "none", jobs: 1, isolates: 1, niceness: PATIENT },
  {
    ...PLAIN,
    name: "unit",
    paths: ["tests"],
    ignored: [...PURE, ...TOOLS, ...BEYOND_UNIT],
    jobs: 2,
    isolates: 4,
    niceness: PATIENT,
  },
];

/** Kubectl, Helm, a browser, commands and compiled programs, the playground, load. */
const TOOLS_PART: Part = { ...PLAIN, name: "tools", paths: TOOLS, jobs: 2, niceness: PATIENT };

/** Those that run one after the other, and those that mostly wait, side by side. */
export function clusterParts(files: readonly string[]): readonly Part[] {
  const present = (some: readonly string[]): readonly string[] => some.filter((file) => files.includes(file));
  const others = [...ALONE, ...LEADER, ...TOOLS, ...BENCHES];
  const waiting = files.filter((file) => !others.includes(file)).toSorted((one, other) => rankOf(one) - rankOf(other));
  return [
    { ...PLAIN, name: "cluster", paths: present(ALONE), jobs: 1, planes: 1 },
    { ...PLAIN, name: "leader", paths: present(LEADER), jobs: 1, planes: 1 },
    { ...PLAIN, name: "waiting", paths: waiting, jobs: 5, planes: 5 },
  ];
}

const LONG = { ...PLAIN, jobs: 1, form: "long" } as const;

/** A run of their own, one after the other, since most of them measure: `deno task test:long`. */
const FAULTS_AND_BENCHES: readonly Part[] = [
  { ...LONG, name: "long", paths: [SLOW], jobs: 4, planes: 4 },
  { ...LONG, name: "chaos", paths: [FAULTS], planes: 1 },
  { ...LONG, name: "outages", paths: OUTAGES, jobs: 4, planes: 4 },
  { ...LONG, name: "soak", paths: [SOAK] },
  { ...LONG, name: "benches", paths: BENCHES, planes: 1 },
];

/** What a whole run has in its short form. */
const LARGE_FORMS: Part = { ...LONG, name: "large", paths: LARGE, planes: 1 };

/**
 * Tests on nodes on which no row of the catalogues rests: other ways to install than README's, what befalls replicas over minutes,
 * the lab, `test:e2e`, the Helm chart, and what is tried on control planes as well.
 */
const RARE_ON_NODES = [
  ...["install_openshift", "install_variants", "life", "life_emulated", "life_loss", "life_upgrade", "teardown"],
  ...["e2e", "registries", "taints", "takeover"],
].map((name) => `tests/node/${name}_test.ts`);

/** On kubelets of two architectures, which the tests of a run share. */
const NODE: Part = { ...PLAIN, name: "node", paths: ["tests/node"], ignored: RARE_ON_NODES, jobs: 1 };

const NODE_LONG: Part = { ...LONG, name: "node-long", paths: RARE_ON_NODES };

/** All but those of clusters, which {@link clusterParts} makes of their files. */
export const PARTS = {
  unit: UNIT,
  tools: TOOLS_PART,
  long: FAULTS_AND_BENCHES,
  large: LARGE_FORMS,
  node: NODE,
  nodeLong: NODE_LONG,
} as const;

export function isOnNodes({ name }: Part): boolean {
  return name === NODE.name || name === NODE_LONG.name;
}

/** The stages of a run, one after the other. The lanes of a stage run side by side, the parts of a lane one after the other. */
const STAGES = [
  // What is measured goes first; what only computes takes the rest.
  [["cluster"], ["pure", "leader"], ["unit", "tools"]],
  [["waiting"]],
  // An emulated kubelet beside five control planes leaves too little for the limits of either.
  [["node"]],
  [["long", "chaos", "outages", "soak", "benches", "large", "node-long"]],
] as const;

/** The parts in stages and lanes, without those that are empty. */
export function arrange(parts: readonly Part[]): readonly (readonly (readonly Part[])[])[] {
  const inLane = (lane: readonly Part["name"][]): readonly Part[] => parts.filter(({ name }) => lane.includes(name));
  return STAGES.map((lanes) => lanes.map(inLane).filter(({ length }) => length > 0)).filter(({ length }) => length > 0);
}

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
