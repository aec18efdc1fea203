// `deno task bundle`: writes Archway's OLM bundle, a file-based catalog, and a Containerfile for each. Needs kubectl.
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { cutReference } from "../../lib/oci/reference.ts";
import { print, readVersion, ROOT, runTask } from "../tool.ts";
import { renderBundleFiles } from "./bundle_files.ts";
import { imageOf, type ManifestObject, MANIFESTS, parseManifest, renderComposition } from "./kustomize.ts";

const USAGE = `\
Writes Archway's OLM bundle, a file-based catalog, and a Containerfile for each. Needs kubectl.

Usage: deno task bundle [flags]

  --image IMAGE           Archway's image; default that of the manifests
  --bundle-image IMAGE    where the image of the bundle goes; default beside Archway's image
  --out FOLDER            default dist/olm

Exit codes: 0 written, 1 failed.
`;

/** What differs from build to build; by default as in the manifests. */
interface BundleOptions {
  readonly image?: string | undefined;
  readonly bundleImage?: string | undefined;
}

/** The files: path → text. The same options give the same bytes. */
export async function renderBundle(options: BundleOptions = {}): Promise<ReadonlyMap<string, string>> {
  const version = await readVersion();
  const rendered = await renderComposition("base", ["components/tls-files", "olm"]);
  const named = imageOf(rendered);
  const image = options.image ?? named;
  const objects: readonly ManifestObject[] = JSON.parse(JSON.stringify(rendered).replaceAll(named, image));
  const bundleImage = options.bundleImage ?? `${cutReference(image).name}-bundle:v${version}`;
  const read = (file: string): Promise<string> => Deno.readTextFile(join(MANIFESTS, "olm", file));
  const [csv] = parseManifest(await read("csv.yaml"));
  if (csv === undefined) throw new Error("csv.yaml of manifests/olm has no object.");
  return new Map([
    ...renderBundleFiles({ objects, csv, version, image, bundleImage }),
    ["bundle/metadata/annotations.yaml", await read("annotations.yaml")],
    ["bundle.Containerfile", await read("bundle.Containerfile")],
    ["catalog.Containerfile", await read("catalog.Containerfile")],
  ]);
}

export async function writeBundle(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  for (const part of ["bundle", "catalog"]) {
    await Deno.remove(join(folder, part), { recursive: true }).catch((error: unknown) => {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    });
  }
  for (const [path, text] of files) {
    await Deno.mkdir(dirname(join(folder, path)), { recursive: true });
    await Deno.writeTextFile(join(folder, path), text);
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      "image": { type: "string" },
      "bundle-image": { type: "string" },
      "out": { type: "string", default: join(ROOT, "dist", "olm") },
      "help": { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return await print(USAGE);
  const bundleImage = values["bundle-image"];
  await writeBundle(values.out, await renderBundle({ image: values.image, bundleImage }));
  const name = bundleImage ?? "REGISTRY/archway-bundle:TAG";
  const steps = [
    `Wrote ${values.out}. Next:`,
    `  buildah build --file=${values.out}/bundle.Containerfile --tag=${name} ${values.out}`,
    `  buildah build --file=${values.out}/catalog.Containerfile --tag=REGISTRY/archway-catalog:TAG ${values.out}`,
    "",
  ];
  await print(steps.join("\n"));
}

if (import.meta.main) await runTask(main);
