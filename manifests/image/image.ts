// `deno task image`: compiles for every architecture and builds the image with the container engine that is there.
import { join } from "node:path";
import { parseArgs } from "node:util";
import { print, readVersion, ROOT, runTask } from "../tool.ts";
import { type Form, parseArchitecture, parseForm, parsePermissionSet } from "./compile.ts";
import { type ContextOptions, fillContext, type WantedForm } from "./context.ts";
import { CONTAINERFILE } from "./runtime.ts";

const USAGE = `\
Builds the image with podman, buildah or docker.

Usage: deno task image [flags]

  --name NAME                    name and tag; default archway:VERSION, of the
                                 daemon archway-daemon:VERSION
  --push                         to the registry that the name begins with
  --base IMAGE@sha256:…          another base than
                                 gcr.io/distroless/cc-debian12:nonroot
  --arch amd64|arm64             repeatable; default both
  --form binary|bundle|daemon    an executable, scripts beside a runtime, or
                                 scripts with bpftrace; default binary, or
                                 bundle where Deno's compile base cannot be had
  --permissions serve|plugins    plugins: with the right to run credential
                                 plugins; default serve

Exit codes: 0 built, 1 failed, 2 something is missing, and the last lines say
what.
`;

export type Engine = "podman" | "buildah" | "docker";

export interface ImageOptions extends ContextOptions {
  readonly name: string;
  readonly base: string | undefined;
  readonly form: Form;
  readonly version: string;
  readonly isPushed: boolean;
  /** Whether the registry has no TLS; the engine's own settings when it is left out. */
  readonly isPlain?: boolean;
}

const ENGINES: readonly Engine[] = ["podman", "buildah", "docker"];
/**
 * Arguments of the engine. Podman and buildah keep a manifest list; docker writes an archive, which any store can load.
 */
export function renderBuildArguments(engine: Engine, options: ImageOptions): readonly string[] {
  const { name, base, form, architectures, version, context, isPushed } = options;
  const common = [
    `--platform=${architectures.map((architecture) => `linux/${architecture}`).join(",")}`,
    `--file=${CONTAINERFILE}`,
    `--target=${form}`,
    `--build-arg=VERSION=${version}`,
    ...(base === undefined ? [] : [`--build-arg=BASE_IMAGE=${base}`]),
  ];
  if (engine !== "docker") return ["build", ...common, `--manifest=${name}`, context];
  const target = isPushed
    ? ["--push", `--metadata-file=${digestFileOf(context)}`]
    : [`--output=type=oci,dest=${archiveOf(context)}`];
  return ["buildx", "build", ...common, `--tag=${name}`, ...target, context];
}

/** Pushes what was built; undefined where the build itself does. */
export function renderPushArguments(engine: Engine, options: ImageOptions): readonly string[] | undefined {
  const { name, context, isPlain } = options;
  if (engine === "docker") return undefined;
  const plain = isPlain === true ? ["--tls-verify=false"] : [];
  return ["manifest", "push", "--all", ...plain, `--digestfile=${digestFileOf(context)}`, name, `docker://${name}`];
}

export async function readPushedDigest({ context }: ImageOptions): Promise<string> {
  const text = await Deno.readTextFile(digestFileOf(context));
  // Docker's has more than the digest in it, which it names.
  const named = text.startsWith("{") ? String(JSON.parse(text)["containerimage.digest"]) : text;
  const digest = /sha256:[0-9a-f]{64}/.exec(named)?.[0];
  if (digest === undefined) throw new Error("Cannot tell the digest of the image: the engine wrote none");
  return digest;
}

function digestFileOf(context: string): string {
  return `${context}.digest`;
}

/**
 * Removes what an earlier build left under the name: podman and buildah would append to it, and the old images would
 * win.
 */
export function renderRemovalArguments(engine: Engine, { name }: ImageOptions): readonly string[] | undefined {
  return engine === "docker" ? undefined : ["manifest", "rm", name];
}

export function renderNextSteps(
  engine: Engine,
  { name, context, form, architectures, isPushed }: ImageOptions,
): readonly string[] {
  const push = engine === "docker"
    ? `skopeo copy --all oci-archive:${archiveOf(context)} docker://${name}`
    : `${engine} manifest push --all ${name} docker://${name}`;
  const plain = engine === "docker" ? "--dest-tls-verify=false" : "--tls-verify=false";
  // The Deployments have no image of the daemon.
  const [only] = architectures.length === 1 && form !== "daemon" ? architectures : [];
  return [
    ...(isPushed ? [] : [`${push}   (a registry without TLS: ${plain})`]),
    ...(only === undefined ? [] : [
      `keep replicas off other nodes, where they cannot start: deno task release with --arch=${only}, ` +
      `or Helm with --set-string 'nodeSelector.kubernetes\\.io/arch=${only}'`,
    ]),
  ];
}

/** What is needed on a machine without an engine, for the form and the arguments that were given. */
export function renderNeeds(form: WantedForm, args: readonly string[]): string {
  const needs: Readonly<Record<WantedForm, readonly string[]>> = {
    any: [],
    binary: ["dl.deno.land for the base of the executables, or DENORT_BIN_AMD64 and DENORT_BIN_ARM64"],
    bundle: [],
    daemon: ["Debian 12 with apt-get, for bpftrace of either architecture"],
  };
  const listed = [
    `one of ${ENGINES.join(", ")} (docker with buildx and a running daemon)`,
    "the base gcr.io/distroless/cc-debian12:nonroot, or --base with a mirror of it, pinned by digest",
    ...needs[form],
  ];
  return [
    "Cannot build the image: no container engine answers on this machine. Needed:",
    ...listed.map((need, at) => `  ${need}${at === listed.length - 1 ? "." : ";"}`),
    `Then: deno task image ${args.length === 0 ? "--name REGISTRY/archway:TAG" : args.join(" ")}`,
    "",
  ].join("\n");
}

function archiveOf(context: string): string {
  return `${context}.tar`;
}

export async function findEngine(): Promise<Engine | undefined> {
  for (const engine of ENGINES) {
    const probes = engine === "docker" ? [["info"], ["buildx", "ls"]] : [["info"]];
    const answers = await Promise.all(probes.map((probe) => succeeds(engine, probe)));
    if (answers.every((answer) => answer)) return engine;
  }
  return undefined;
}

async function succeeds(command: string, args: readonly string[]): Promise<boolean> {
  try {
    return (await new Deno.Command(command, { args: [...args], stdout: "null", stderr: "null" }).output()).success;
  } catch {
    return false;
  }
}

async function main(): Promise<number | void> {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      name: { type: "string" },
      push: { type: "boolean", default: false },
      base: { type: "string" },
      form: { type: "string" },
      arch: { type: "string", multiple: true, default: ["amd64", "arm64"] },
      permissions: { type: "string", default: "serve" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return await print(USAGE);
  const version = await readVersion();
  const wanted = values.form === undefined ? "any" : parseForm(values.form);
  const options: ImageOptions = {
    name: values.name ?? `${wanted === "daemon" ? "archway-daemon" : "archway"}:${version}`,
    base: values.base,
    form: wanted === "any" ? "binary" : wanted,
    architectures: values.arch.map(parseArchitecture),
    version,
    permissions: wanted === "daemon" ? "daemon" : parsePermissionSet(values.permissions),
    context: join(ROOT, "dist", "image"),
    isPushed: values.push,
  };
  const engine = await findEngine();
  if (engine === undefined) {
    await print(renderNeeds(wanted, Deno.args));
    return 2;
  }
  if (options.base?.includes("@sha256:") === false) {
    await print("The base is not pinned by digest: fine for trying out, not for a release (--base IMAGE@sha256:…).\n");
  }
  const form = await fillContext(options, wanted);
  return await buildAndPush(engine, { ...options, form });
}

/**
 * Builds the image from the context, replacing one of the same name, and pushes it if asked to. Returns an exit code.
 */
export async function buildAndPush(engine: Engine, options: ImageOptions): Promise<number> {
  const removal = renderRemovalArguments(engine, options);
  if (removal !== undefined) await succeeds(engine, removal);
  if (!await runs(engine, renderBuildArguments(engine, options))) {
    await print("The build failed. Where the base cannot be fetched, name a mirror of it: --base IMAGE@sha256:…\n");
    return 1;
  }
  const push = options.isPushed ? renderPushArguments(engine, options) : undefined;
  // Debian 12's buildah ends with 0, and without a word or a digest, where a push fails.
  if (
    push !== undefined && !(await runs(engine, push) && await Deno.readTextFile(digestFileOf(options.context)) !== "")
  ) {
    const why = `see what ${engine} says above. It may be nothing where the registry has no TLS, or wants a login`;
    await print(`The push to ${options.name} failed: ${why}. The image is built.\n`);
    return 1;
  }
  const steps = renderNextSteps(engine, options).map((step) => `  ${step}\n`).join("");
  const done = options.isPushed ? "Built and pushed" : "Built";
  await print(`${done} ${options.name}.${steps === "" ? "\n" : ` Next:\n${steps}`}`);
  return 0;
}

async function runs(engine: Engine, args: readonly string[]): Promise<boolean> {
  return (await new Deno.Command(engine, { args: [...args], stdin: "null" }).spawn().status).success;
}

if (import.meta.main) await runTask(main);
