// The binaries of the control plane: found in KUBEBUILDER_ASSETS or built once from tests/cluster/controlplane and cached.
import {
  ensureGoProgram,
  findOnPath,
  type GoProgram,
  hasGo,
  isFile,
  pinnedCacheDirectory,
} from "../../support/go_build.ts";

export type Binaries = Readonly<Record<BinaryName, string>>;

export type BinaryName = (typeof RECIPES)[number]["name"];

interface Recipe {
  readonly name: string;
  readonly module: string;
  readonly package: string;
}

/** The newest Kubernetes and the oldest that is supported, by the folders of their modules: minor version and patch. */
const VERSIONS: Readonly<Record<string, string>> = { "kubernetes": "36.3", "kubernetes-1.30": "30.14" };
const NEWEST = "kubernetes";
/** ARCHWAY_KUBERNETES=1.30 takes the oldest servers; kubectl is the newest. */
const SERVERS = Deno.env.get("ARCHWAY_KUBERNETES") === "1.30" ? "kubernetes-1.30" : NEWEST;

const RECIPES = [
  { name: "etcd", module: "etcd", package: "go.etcd.io/etcd/server/v3" },
  { name: "kwok", module: "kwok", package: "sigs.k8s.io/kwok/cmd/kwok" },
  kubernetes("kube-apiserver", SERVERS),
  kubernetes("kube-controller-manager", SERVERS),
  kubernetes("kube-scheduler", SERVERS),
  kubernetes("kubectl", NEWEST),
] as const satisfies readonly Recipe[];

function kubernetes<Name extends string>(name: Name, module: string): { name: Name; module: string; package: string } {
  return { name, module, package: `k8s.io/kubernetes/cmd/${name}` };
}

const SOURCES = new URL("../controlplane/", import.meta.url);

/** Without these link flags the servers report v0.0.0, and feature gates by version misbehave. */
function linkerFlags(module: string): string {
  const version = VERSIONS[module];
  if (version === undefined) return "-s -w";
  const set = ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"].flatMap((path) => [
    `-X ${path}.gitVersion=v1.${version}`,
    `-X ${path}.gitMajor=1`,
    `-X ${path}.gitMinor=${version.replace(/\..*/, "")}`,
  ]);
  return ["-s -w", ...set].join(" ");
}

/**
 * What this machine lacks to run a control plane, as one sentence, or undefined when it can be had.
 * Builds nothing.
 */
export async function missingForControlPlane(): Promise<string | undefined> {
  const directory = await cacheDirectory();
  const absent: string[] = [];
  for (const { name } of RECIPES) if (await locate(name, directory) === undefined) absent.push(name);
  if (absent.length === 0 || await hasGo()) return undefined;
  return `${
    absent.join(", ")
  } missing. Install Go 1.26 or later to have them built, or set KUBEBUILDER_ASSETS to a folder that holds them.`;
}

/**
 * Finds every executable, building what lacks (minutes, once; later runs take it from the cache).
 * Throws an Error whose message is one line when that cannot be done on this machine.
 */
export async function ensureBinaries(): Promise<Binaries> {
  const missing = await missingForControlPlane();
  if (missing !== undefined) throw new Error(`Cannot run a control plane: ${missing}`);
  const directory = await cacheDirectory();
  const found: Record<string, string> = {};
  for (const recipe of RECIPES) {
    const { name } = recipe;
    found[name] = await locate(name, directory) ?? await ensureGoProgram(toProgram(recipe), directory);
  }
  return toBinaries(found);
}

function toBinaries(found: Readonly<Record<string, string>>): Binaries {
  const path = (name: BinaryName): string => {
    const value = found[name];
    if (value === undefined) throw new Error(`Cannot find "${name}": no recipe for it`);
    return value;
  };
  return {
    "etcd": path("etcd"),
    "kwok": path("kwok"),
    "kube-apiserver": path("kube-apiserver"),
    "kube-controller-manager": path("kube-controller-manager"),
    "kube-scheduler": path("kube-scheduler"),
    "kubectl": path("kubectl"),
  };
}

/** KUBEBUILDER_ASSETS, then the cache; a kubectl of the PATH serves only where nothing can be built. */
async function locate(name: string, directory: string): Promise<string | undefined> {
  const assets = Deno.env.get("KUBEBUILDER_ASSETS") ?? "";
  const candidates = [...(assets === "" ? [] : [`${assets}/${name}`]), `${directory}/${name}`];
  for (const path of candidates) if (await isFile(path)) return path;
  return name === "kubectl" && !await hasGo() ? await findOnPath(name) : undefined;
}

async function cacheDirectory(): Promise<string> {
  const modules = [...new Set(RECIPES.map((recipe) => recipe.module))].sort();
  const files = modules.flatMap((module) => ["go.mod", "go.sum"].map((file) => new URL(`${module}/${file}`, SOURCES)));
  return await pinnedCacheDirectory("controlplane", [linkerFlags(SERVERS), Deno.build.os, Deno.build.arch, ...files]);
}

function toProgram({ name, module, package: path }: Recipe): GoProgram {
  return { name, module: new URL(`${module}/`, SOURCES), package: path, linkerFlags: linkerFlags(module) };
}
