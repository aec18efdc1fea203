// What lies in the context of a build: executables, or scripts beside a runtime, for every architecture of the image.
import { join } from "node:path";
import { writeAnalysis } from "./analysis_cache.ts";
import { layOutBpftrace } from "./bpftrace.ts";
import {
  bundle,
  compile,
  type Form,
  type ImageArchitecture,
  largeChunks,
  MissingBaseError,
  type PermissionSet,
  readPermissions,
  renderPermissions,
} from "./compile.ts";
import { print, ROOT } from "../tool.ts";
import { findPinned, readPinnedDeno } from "./runtime.ts";

const INSTALLED = "/usr/share/archway";
export const PACKAGE_CACHE = join(ROOT, "dist", "debian");

/** The form that was asked for; `any` is the best that this machine can make. */
export type WantedForm = Form | "any";

export interface ContextOptions {
  readonly architectures: readonly ImageArchitecture[];
  readonly permissions: PermissionSet;
  readonly context: string;
}

/**
 * The launcher of the bundle and the configuration beside it. The interpreter line of a script holds one argument only.
 */
export function renderLauncher(permissions: unknown): Readonly<Record<"archway" | "deno.json", string>> {
  const configuration = {
    unstable: ["kv"],
    lock: false,
    nodeModulesDir: "none",
    permissions: { default: permissions },
  };
  return {
    archway: "#!/usr/bin/deno -qP\n",
    "deno.json": `${JSON.stringify(configuration, undefined, 2)}\n`,
  };
}

/** Lays out what the image is made of; returns the form that it has. */
export async function fillContext(options: ContextOptions, wanted: WantedForm): Promise<Form> {
  const { architectures, context } = options;
  const scripts = join(context, "archway");
  const sizes = await bundle(scripts);
  const grants = await readPermissions(options.permissions);
  await writeLauncher(scripts, grants);
  await writeAnalysis({ scripts, installed: INSTALLED, folder: join(context, "analysis") });
  if ((wanted === "binary" || wanted === "any") && await compileAll(options, { scripts, sizes, grants, wanted })) {
    return "binary";
  }
  const form = wanted === "daemon" ? "daemon" : "bundle";
  const pinned = await readPinnedDeno();
  for (const architecture of architectures) {
    // For machines that cannot reach npm's registry.
    const given = Deno.env.get(`DENO_BIN_${architecture.toUpperCase()}`);
    await Deno.copyFile(
      given ?? await findPinned(`linux-${architecture}`, pinned),
      join(context, `deno-linux-${architecture}`),
    );
    if (form === "daemon") await fillBpftrace(architecture, context);
  }
  return form;
}

interface Scripts {
  readonly scripts: string;
  readonly sizes: Readonly<Record<string, number>>;
  readonly grants: Awaited<ReturnType<typeof readPermissions>>;
  readonly wanted: WantedForm;
}

/** Makes the executables; false where another form will do and Deno's base of executables is not available. */
async function compileAll({ architectures, context }: ContextOptions, given: Scripts): Promise<boolean> {
  const { scripts, sizes, grants, wanted } = given;
  const permissions = renderPermissions(grants);
  const included = largeChunks(sizes).map((name) => join(scripts, name));
  try {
    for (const architecture of architectures) {
      const output = join(context, `archway-linux-${architecture}`);
      await compile({ entry: join(scripts, "main.js"), output, architecture, permissions, included });
    }
  } catch (error) {
    if (wanted === "binary" || !(error instanceof MissingBaseError)) throw error;
    await print(`Form: bundle, scripts beside a runtime. ${error.message.split(" Either\n")[0]}\n`);
    return false;
  }
  await print("Form: binary, one executable.\n");
  return true;
}

async function fillBpftrace(architecture: ImageArchitecture, context: string): Promise<void> {
  const root = join(context, `bpftrace-linux-${architecture}`);
  await Deno.remove(root, { recursive: true }).catch(() => {});
  await layOutBpftrace(root, { architecture, cache: PACKAGE_CACHE });
}

/** The bundle's entry once more, as a program: its first line names the runtime. */
async function writeLauncher(scripts: string, grants: unknown): Promise<void> {
  const files = renderLauncher(grants);
  await Deno.writeTextFile(join(scripts, "deno.json"), files["deno.json"]);
  const entry = await Deno.readTextFile(join(scripts, "main.js"));
  await Deno.writeTextFile(join(scripts, "archway"), files.archway + entry);
  await Deno.chmod(join(scripts, "archway"), 0o755);
}
