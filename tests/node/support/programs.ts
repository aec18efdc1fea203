// The programs of a node: kubelet, kube-proxy, containerd and its shim from pinned Go modules, the test image's program and
// the OCI runtime of the emulated node from this repository. Built once into the cache.
import { ensureGoProgram, type GoProgram, isFile, pinnedCacheDirectory } from "../../support/go_build.ts";
import { runCommand } from "../../support/commands.ts";

/** Paths of the executables; all lie in `directory`, which goes on the PATH of containerd (it looks for its shim there). */
export interface NodePrograms {
  readonly directory: string;
  readonly kubelet: string;
  readonly kubeletArm64: string;
  readonly kubeProxy: string;
  readonly containerd: string;
  /** Takes the architecture that it pulls for from NODE_ARCH. */
  readonly containerdAnyArch: string;
  readonly ctr: string;
  /** OCI runtime in front of runc for the emulated node. */
  readonly runcEmulated: string;
  readonly app: Readonly<Record<"amd64" | "arm64", string>>;
}

const MODULES = new URL("../modules/", import.meta.url);
const PROGRAMS = new URL("../programs/", import.meta.url);
const KUBERNETES = "v1.36.3";
const CONTAINERD = "v2.3.7";
const CONTAINERD_PATH = "github.com/containerd/containerd/v2";
const ANY_ARCH = "containerd-any-arch";

const KUBERNETES_FLAGS = [
  "-s -w",
  ...["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"].flatMap((path) => [
    `-X ${path}.gitVersion=${KUBERNETES}`,
    `-X ${path}.gitMajor=1`,
    `-X ${path}.gitMinor=36`,
  ]),
].join(" ");

function kubernetes(name: string, arch: "amd64" | "arm64" = "amd64"): GoProgram {
  return {
    name: arch === "amd64" ? name : `${name}-${arch}`,
    module: new URL("kubernetes/", MODULES),
    package: `k8s.io/kubernetes/cmd/${name}`,
    linkerFlags: KUBERNETES_FLAGS,
    environment: { GOARCH: arch },
  };
}

function containerd(name: string): GoProgram {
  return {
    name,
    module: new URL("containerd/", MODULES),
    package: `${CONTAINERD_PATH}/cmd/${name}`,
    linkerFlags: `-s -w -X ${CONTAINERD_PATH}/version.Version=${CONTAINERD}`,
  };
}

function ours(name: string, { folder, arch }: { readonly folder: string; readonly arch: string }): GoProgram {
  const module = new URL(`${folder}/`, PROGRAMS);
  return { name, module, package: ".", linkerFlags: "-s -w", environment: { GOARCH: arch } };
}

const PLAIN: readonly GoProgram[] = [
  kubernetes("kubelet"),
  kubernetes("kube-proxy"),
  containerd("containerd"),
  containerd("containerd-shim-runc-v2"),
  containerd("ctr"),
  ours("runc-emulated", { folder: "emulated_runc", arch: "amd64" }),
  ours("app-amd64", { folder: "app", arch: "amd64" }),
  ours("app-arm64", { folder: "app", arch: "arm64" }),
  kubernetes("kubelet", "arm64"),
];

/** Finds the programs, building what lacks: about ten minutes on two cores the first time. */
export async function ensureNodePrograms(): Promise<NodePrograms> {
  const directory = await cacheDirectory();
  for (const program of PLAIN) await ensureGoProgram(program, directory);
  if (!await isFile(`${directory}/${ANY_ARCH}`)) await ensureGoProgram(await anyArchContainerd(directory), directory);
  return {
    directory,
    kubelet: `${directory}/kubelet`,
    kubeletArm64: `${directory}/kubelet-arm64`,
    kubeProxy: `${directory}/kube-proxy`,
    containerd: `${directory}/containerd`,
    containerdAnyArch: `${directory}/${ANY_ARCH}`,
    ctr: `${directory}/ctr`,
    runcEmulated: `${directory}/runc-emulated`,
    app: { amd64: `${directory}/app-amd64`, arm64: `${directory}/app-arm64` },
  };
}

async function cacheDirectory(): Promise<string> {
  const modules = ["kubernetes", "containerd"].flatMap((module) =>
    ["go.mod", "go.sum"].map((file) => new URL(`${module}/${file}`, MODULES))
  );
  const programs = ["emulated_runc", "app"].map((folder) => new URL(`${folder}/main.go`, PROGRAMS));
  return await pinnedCacheDirectory("nodes", [KUBERNETES_FLAGS, CONTAINERD, ...modules, ...programs]);
}

const NODE_ARCH = `
func nodeArch() string {
	if arch := os.Getenv("NODE_ARCH"); arch != "" {
		return arch
	}
	return runtime.GOARCH
}
`;

/**
 * containerd pulls for the platform that `platforms.DefaultSpec()` gives, which is the one it was built for. This build takes
 * the architecture from NODE_ARCH instead: the module that decides it is copied, changed and put in its place.
 */
async function anyArchContainerd(directory: string): Promise<GoProgram> {
  const plain = containerd("containerd");
  const copy = `${directory}/platforms`;
  const listArgs = ["list", "-m", "-f", "{{.Dir}}", "github.com/containerd/platforms"];
  const source = await runCommand("go", listArgs, { cwd: plain.module });
  await runCommand("sh", ["-c", 'rm -rf "$2" && cp -r "$1" "$2" && chmod -R u+w "$2"', "sh", source.trim(), copy]);
  const file = `${copy}/defaults_unix.go`;
  const text = await Deno.readTextFile(file);
  const changed = text.replaceAll("Architecture: runtime.GOARCH,", "Architecture: nodeArch(),");
  if (changed === text) throw new Error(`Cannot build "${ANY_ARCH}": ${file} is not as expected`);
  await Deno.writeTextFile(file, changed.replace('\t"runtime"', '\t"os"\n\t"runtime"') + NODE_ARCH);
  for (const end of ["mod", "sum"]) await Deno.copyFile(new URL(`go.${end}`, plain.module), `${directory}/any.${end}`);
  await runCommand("go", ["mod", "edit", `-replace=github.com/containerd/platforms=${copy}`, `${directory}/any.mod`]);
  return { ...plain, name: ANY_ARCH, buildFlags: ["-mod=mod", `-modfile=${directory}/any.mod`] };
}
