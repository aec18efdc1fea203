// The builder of the tests as an image for both architectures, in a registry.
import type { RealRegistry } from "../../cluster/support/registry.ts";
import { ensureGoProgram, pinnedCacheDirectory } from "../../support/go_build.ts";
import { buildProgramImage, type NodeArch } from "./program_images.ts";

const MODULE = new URL("../programs/image_builder/", import.meta.url);
const REPOSITORY = "tests/builder";

/** What image builds are configured with, in the file of `--config`. */
export interface BuilderSettings {
  readonly builderImage: string;
  readonly builderCommand: readonly string[];
  readonly digestCommand: readonly string[];
}

/** Pushes it, built at its first use on a machine. */
export async function pushBuilder(registry: RealRegistry): Promise<BuilderSettings> {
  const platforms = [{ claims: "amd64" }, { claims: "arm64" }] as const;
  const documents = await buildProgramImage({ kind: "index", platforms }, await ensureBuilder());
  await registry.pushDocuments(REPOSITORY, "v1", documents);
  return {
    builderImage: `${registry.host}/${REPOSITORY}:v1`,
    builderCommand: ["/app", "build"],
    digestCommand: ["/app", "hand-over"],
  };
}

async function ensureBuilder(): Promise<Readonly<Record<NodeArch, string>>> {
  const sources = ["go.mod", "go.sum", "main.go", "registry.go", "image.go"].map((file) => new URL(file, MODULE));
  const directory = await pinnedCacheDirectory("image-builder", sources);
  const build = (arch: NodeArch): Promise<string> => {
    const environment = { GOARCH: arch };
    const program = { name: `builder-${arch}`, module: MODULE, package: ".", linkerFlags: "-s -w", environment };
    return ensureGoProgram(program, { directory, onProgress: () => {} });
  };
  return { amd64: await build("amd64"), arm64: await build("arm64") };
}
