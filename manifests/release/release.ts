// `deno task release VERSION --registry HOST/PATH`: makes and pushes a release. What cannot be made is named.
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { MissingBaseError, parseArchitecture } from "../image/compile.ts";
import { print, readVersion, ROOT, runTask } from "../tool.ts";
import { isDebian12 } from "../image/bpftrace.ts";
import { type Engine, findEngine } from "../image/image.ts";
import { missingOf, type ReleasedImage, releaseImage, type ReleaseOptions } from "./images.ts";
import { releaseChart, writeInstallFiles } from "./install_files.ts";
import { writeChecksums, writeLayout, writeNotes, writeSboms } from "./artifacts.ts";
import { writePlugin } from "./plugin.ts";

const USAGE = `\
Builds and pushes the images and the chart of a version. Writes manifests,
plugin, SBOM and checksums into a folder.

Usage: deno task release VERSION --registry HOST/PATH [flags]

  --registry HOST/PATH     where images and chart are pushed, as archway,
                           archway-daemon and charts/archway
  --install-only           the image of the service and the manifests alone
  --form bundle|binary     of the image that manifests and chart name: scripts
                           beside a Deno (default), or one executable
  --out FOLDER             a new one; default dist/release, which it replaces
  --base IMAGE@sha256:…    another base than
                           gcr.io/distroless/cc-debian12:nonroot
  --arch amd64|arm64       repeatable; default both. The manifests keep
                           replicas off other nodes
  --plain-http             the registry has no TLS
  --url URL                where the folder's files will be downloaded from, for
                           the manifest of krew
  --complete               fail where something is left out, or the base is not
                           pinned
  --unrecorded             although tests of rows changed since the record of
                           tests/conformance

Needs kubectl, and podman, buildah or docker, the first that is there. Leaves
out: the executable without Deno's compile base, the chart without helm, the OCI
layout without skopeo, the SBOM without skopeo and syft, the image of the daemon
where this is not Debian 12.
Exit codes: 0 written, 1 failed.
`;

interface Steps {
  readonly isComplete: boolean;
  readonly leftOut: string[];
}

async function attempt<T>(
  { isComplete, leftOut }: Steps,
  { what, lack }: { readonly what: string; readonly lack: string | undefined },
  act: () => Promise<T>,
): Promise<T | undefined> {
  if (lack === undefined) return await act();
  if (isComplete) throw new Error(`Cannot make ${what}: ${lack}`);
  leftOut.push(`${what}: ${lack}`);
  return undefined;
}

/** Releases the forms of the service's image, first the one that manifests and chart name. */
async function releaseForms(engine: Engine, options: ReleaseOptions, steps: Steps): Promise<ReleasedImage[]> {
  const service = await releaseImage(engine, options, { wanted: options.form });
  await writeInstallFiles(service, options);
  const wanted = options.form === "bundle" ? "binary" : "bundle";
  try {
    return [service, await releaseImage(engine, options, { wanted, suffix: `-${wanted}` })];
  } catch (error) {
    if (steps.isComplete || !(error instanceof MissingBaseError)) throw error;
    steps.leftOut.push(`the image of the executable: ${error.message.split(". Either\n")[0]}`);
    return [service];
  }
}

async function releaseAll(engine: Engine, options: ReleaseOptions, steps: Steps): Promise<readonly string[]> {
  const images = await releaseForms(engine, options, steps);
  const lack = await isDebian12() ? await missingOf(["apt-get", "dpkg-deb"]) : "this is not Debian 12";
  const makeDaemon = () => releaseImage(engine, options, { wanted: "daemon" });
  const daemon = await attempt(steps, { what: "the image of the daemon", lack }, makeDaemon);
  if (daemon !== undefined) images.push(daemon);
  const helm = await missingOf(["helm"]);
  const chart = await attempt(steps, { what: "the chart", lack: helm }, () => releaseChart(images, options));
  await print(`kubectl-archway is ${await writePlugin(options)}.\n`);
  const [layout, bills] = [await missingOf(["skopeo"]), await missingOf(["skopeo", "syft"])];
  await attempt(steps, { what: "the OCI layout", lack: layout }, () => writeLayout(images, options));
  await attempt(steps, { what: "the SBOM", lack: bills }, () => writeSboms(images, options));
  return [...images.map(({ pinned }) => pinned), ...(chart === undefined ? [] : [`oci://${chart}`])];
}

async function main(): Promise<void> {
  const { values, positionals: [version] } = parseArgs({
    args: Deno.args,
    options: {
      "registry": { type: "string" },
      "install-only": { type: "boolean", default: false },
      "form": { type: "string", default: "bundle" },
      "out": { type: "string" },
      "base": { type: "string" },
      "arch": { type: "string", multiple: true, default: ["amd64", "arm64"] },
      "plain-http": { type: "boolean", default: false },
      "url": { type: "string" },
      "complete": { type: "boolean", default: false },
      "unrecorded": { type: "boolean", default: false },
      "help": { type: "boolean", short: "h", default: false },
    },
    allowPositionals: true,
  });
  if (values.help) return await print(USAGE);
  const { registry } = values;
  if (version === undefined || registry === undefined) {
    throw new Error("Cannot release: it takes a VERSION and --registry HOST/PATH. See deno task release --help");
  }
  if (registry.includes("://")) {
    throw new Error(`Cannot release to "${registry}": a registry is HOST[:PORT]/PATH, without https://`);
  }
  await checkVersion(version);
  if (!values["install-only"] && !values.unrecorded) await checkRecord();
  const target = resolve(values.out ?? join(ROOT, "dist", "release"));
  const folder = values.out === undefined ? `${target}.new` : target;
  if (folder !== target) await removeFolder(folder);
  const options: ReleaseOptions = {
    version,
    registry,
    form: parseServiceForm(values.form),
    folder: await openFolder(folder),
    architectures: values.arch.map(parseArchitecture),
    base: values.base,
    isPlain: values["plain-http"],
    url: values.url ?? `https://downloads.example.com/archway/v${version}`,
  };
  const leftOut = await release(options, { isInstallOnly: values["install-only"], isComplete: values.complete });
  if (folder !== target) {
    await removeFolder(target);
    await Deno.rename(folder, target);
  }
  const next = values["install-only"]
    ? `Next, or one of its overlays:\n  kubectl apply -f ${target}/install.yaml\n`
    : "";
  await print(`Wrote ${target}.\n${leftOut.map((line) => `Left out ${line}.\n`).join("")}${next}`);
}

async function removeFolder(folder: string): Promise<void> {
  await Deno.remove(folder, { recursive: true }).catch(() => undefined);
}

/** Writes the folder, and gives what was left out. */
async function release(
  options: ReleaseOptions,
  { isInstallOnly, isComplete }: { readonly isInstallOnly: boolean; readonly isComplete: boolean },
): Promise<readonly string[]> {
  const { folder } = options;
  const engine = await findEngine();
  if (engine === undefined) throw new Error("Cannot release: neither podman nor buildah nor docker answers");
  const lack = await missingOf(["kubectl"]);
  if (lack !== undefined) throw new Error(`Cannot render the manifests: ${lack}`);
  if (options.base?.includes("@sha256:") === false) {
    if (isComplete) throw new Error("Cannot release: the base is not pinned by digest. --base pins it.");
    await print("The base is not pinned by digest: --base pins it.\n");
  }
  if (isInstallOnly) {
    await writeInstallFiles(await releaseImage(engine, options, { wanted: options.form }), options);
    return [];
  }
  const steps: Steps = { isComplete, leftOut: [] };
  await writeNotes(await releaseAll(engine, options, steps), options);
  await writeChecksums(folder);
  return steps.leftOut;
}

function parseServiceForm(name: string): ReleaseOptions["form"] {
  if (name === "bundle" || name === "binary") return name;
  throw new Error(`Cannot release the form "${name}": the forms are bundle and binary`);
}

async function checkVersion(version: string): Promise<void> {
  const own = await readVersion();
  if (version !== own) throw new Error(`Cannot release "${version}": deno.json says ${own}`);
}

/** The results on the page of conformance must be those of the tests that are released. */
async function checkRecord(): Promise<void> {
  const args = ["run", "-A", join(ROOT, "tests", "conformance", "generate.ts"), "--check"];
  const { success } = await new Deno.Command(Deno.execPath(), { args, cwd: ROOT, stdin: "null" }).spawn().status;
  if (!success) throw new Error("Cannot release: these tests are not recorded. Pass --unrecorded, or record them.");
}

/** The folder that is written must be new. */
async function openFolder(folder: string): Promise<string> {
  await Deno.mkdir(folder, { recursive: true });
  for await (const { name } of Deno.readDir(folder)) {
    throw new Error(`Cannot write "${folder}": it holds "${name}". Name a new folder.`);
  }
  return folder;
}

if (import.meta.main) await runTask(main);
