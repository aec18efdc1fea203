// The images of a release: built, pushed, and named by the digest that the registry has.
import { join } from "node:path";
import { type Form, type ImageArchitecture, ROOT } from "../image/compile.ts";
import { fillContext, type WantedForm } from "../image/context.ts";
import { buildAndPush, type Engine, type ImageOptions, readPushedDigest } from "../image/image.ts";

export interface ReleaseOptions {
  readonly version: string;
  /** `HOST/PATH` below which everything is pushed. */
  readonly registry: string;
  readonly architectures: readonly ImageArchitecture[];
  readonly base: string | undefined;
  /** Whether the registry has no TLS. */
  readonly isPlain: boolean;
  /** Where the files will be downloaded from. */
  readonly url: string;
  /** The folder that is written. */
  readonly folder: string;
}

/** An image that was pushed. */
export interface ReleasedImage {
  readonly form: Form;
  /** Without its registry, as in `archway:0.2.0`. */
  readonly name: string;
  /** `REPOSITORY@DIGEST`. */
  readonly pinned: string;
}

/** Builds a form for all architectures and pushes it; `suffix` goes behind the version in its tag. */
export async function releaseImage(
  engine: Engine,
  { version, registry, architectures, base, isPlain }: ReleaseOptions,
  { wanted, suffix = "" }: { readonly wanted: WantedForm; readonly suffix?: string },
): Promise<ReleasedImage> {
  const name = `${wanted === "daemon" ? "archway-daemon" : "archway"}:${version}${suffix}`;
  const options: ImageOptions = {
    name: `${registry}/${name}`,
    base,
    form: "bundle",
    architectures,
    version,
    permissions: wanted === "daemon" ? "daemon" : "serve",
    context: join(ROOT, "dist", "image"),
    isPushed: true,
    isPlain,
  };
  const form = await fillContext(options, wanted);
  if (await buildAndPush(engine, { ...options, form }) !== 0) throw new Error(`Cannot release "${name}".`);
  return { form, name, pinned: `${registry}/${name.split(":")[0]}@${await readPushedDigest(options)}` };
}
