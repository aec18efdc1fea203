// The images of a release: built, pushed, and named by the digest that the registry has. And which programs are missing
// for one.
import { join } from "node:path";
import { cutReference } from "../../lib/oci/reference.ts";
import type { Form, ImageArchitecture } from "../image/compile.ts";
import { ROOT } from "../tool.ts";
import { fillContext, type WantedForm } from "../image/context.ts";
import { buildAndPush, type Engine, type ImageOptions, readPushedDigest } from "../image/image.ts";

export interface ReleaseOptions {
  readonly version: string;
  /** `HOST/PATH` below which everything is pushed. */
  readonly registry: string;
  /** Of the image that manifests and chart name. */
  readonly form: Exclude<Form, "daemon">;
  readonly architectures: readonly ImageArchitecture[];
  readonly base: string | undefined;
  readonly isPlain: boolean;
  readonly url: string;
  readonly folder: string;
}

export interface ReleasedImage {
  /** Without its registry, as in `archway:0.2.0`. */
  readonly name: string;
  readonly pinned: string;
}

/** Builds a form for all architectures and pushes it; `suffix` goes behind the version in its tag. */
export async function releaseImage(
  engine: Engine,
  release: ReleaseOptions,
  { wanted, suffix = "" }: { readonly wanted: WantedForm; readonly suffix?: string },
): Promise<ReleasedImage> {
  const { version, registry } = release;
  const name = `${wanted === "daemon" ? "archway-daemon" : "archway"}:${version}${suffix}`;
  const options: ImageOptions = {
    ...release,
    name: `${registry}/${name}`,
    form: "bundle",
    permissions: wanted === "daemon" ? "daemon" : "serve",
    context: join(ROOT, "dist", "image"),
    isPushed: true,
  };
  const form = await fillContext(options, wanted);
  if (await buildAndPush(engine, { ...options, form }) !== 0) throw new Error(`Cannot release "${name}".`);
  return { name, pinned: `${registry}/${cutReference(name).name}@${await readPushedDigest(options)}` };
}

/** Which of these programs are missing, as a reason; undefined when none is. */
export async function missingOf(commands: readonly string[]): Promise<string | undefined> {
  const missing: string[] = [];
  for (const command of commands) if (!await hasTool(command)) missing.push(command);
  return missing.length === 0 ? undefined : `${missing.join(" and ")} not found`;
}

async function hasTool(command: string): Promise<boolean> {
  const args = ["-c", 'command -v "$1"', "sh", command];
  // eslint-disable-next-line no-restricted-syntax -- the program is a constant, the name its argument
  return (await new Deno.Command("sh", { args, stdout: "null" }).output()).success;
}
