// kubectl's plugin: an archive for each system, usable without a checkout, and the manifest of krew that lists them.
import { createHash } from "node:crypto";
import { join } from "node:path";
import { stringify } from "yaml";
import { bundle, compile, type ImageArchitecture, largeChunks, MissingBaseError } from "../image/compile.ts";
import { findPinned, readPinnedDeno, type Target } from "../image/runtime.ts";
import { ROOT, runTool } from "../tool.ts";
import type { ReleaseOptions } from "./images.ts";
import LAUNCHER from "./launcher.sh" with { type: "text" };

const SYSTEMS = ["linux", "darwin"] as const;
const ARCHITECTURES = ["amd64", "arm64"] as const;

interface Archive {
  readonly os: typeof SYSTEMS[number];
  readonly architecture: ImageArchitecture;
  readonly file: string;
  readonly sha256: string;
}

/** Writes the archives and `archway.yaml`; returns what kubectl-archway is in them. */
export async function writePlugin(options: ReleaseOptions): Promise<string> {
  const scripts = join(ROOT, "dist", "plugin");
  const large = largeChunks(await bundle(scripts));
  const archives: Archive[] = [];
  const forms = new Set<string>();
  for (const os of SYSTEMS) {
    for (const architecture of ARCHITECTURES) {
      const content = await Deno.makeTempDir({ prefix: "archway-plugin-" });
      try {
        const included = large.map((name) => join(scripts, name));
        forms.add(await fillArchive(content, { scripts, included, os, architecture }));
        const file = `kubectl-archway-${os}-${architecture}.tar.gz`;
        await runTool("tar", ["-C", content, "-czf", join(options.folder, file), "."]);
        const sha256 = createHash("sha256").update(await Deno.readFile(join(options.folder, file))).digest("hex");
        archives.push({ os, architecture, file, sha256 });
      } finally {
        await Deno.remove(content, { recursive: true });
      }
    }
  }
  await Deno.writeTextFile(join(options.folder, "archway.yaml"), stringify(renderKrew(archives, options)));
  return [...forms].join(" and ");
}

interface ArchiveContent {
  readonly scripts: string;
  readonly included: readonly string[];
  readonly os: typeof SYSTEMS[number];
  readonly architecture: ImageArchitecture;
}

async function fillArchive(content: string, archive: ArchiveContent): Promise<string> {
  const { scripts, included, os, architecture } = archive;
  const output = join(content, "kubectl-archway");
  await Deno.copyFile(join(ROOT, "LICENSE"), join(content, "LICENSE"));
  try {
    const entry = join(scripts, "main.js");
    await compile({ entry, output, os, architecture, permissions: ["--allow-all"], included });
    return "an executable";
  } catch (error) {
    if (!(error instanceof MissingBaseError)) throw error;
  }
  const target: Target = `${os}-${architecture}`;
  await runTool("cp", ["-R", scripts, join(content, "archway")]);
  await Deno.copyFile(await findPinned(target, await readPinnedDeno()), join(content, "deno"));
  await Deno.chmod(join(content, "deno"), 0o755);
  await Deno.writeTextFile(output, LAUNCHER, { mode: 0o755 });
  return "scripts beside Deno";
}

function renderKrew(archives: readonly Archive[], { version, url }: ReleaseOptions): unknown {
  return {
    apiVersion: "krew.googlecontainertools.github.com/v1alpha2",
    kind: "Plugin",
    metadata: { name: "archway" },
    spec: {
      version: `v${version}`,
      shortDescription: "Explain where pods are placed by their images' architectures",
      description: "Explains why a pod is gated, pending or placed, and reports what keeps workloads from an\n" +
        "architecture. The Archway service need not be installed for `report` and `inspect`.\n",
      platforms: archives.map(({ os, architecture, file, sha256 }) => ({
        selector: { matchLabels: { os, arch: architecture } },
        uri: `${url}/${file}`,
        sha256,
        bin: "kubectl-archway",
      })),
    },
  };
}
