// Images made and copied by skopeo, the tool that mirrors are filled with.
import { buildImage, type ImageSpec } from "./image_documents.ts";
import { runCommand } from "../../support/commands.ts";

export async function skopeo(args: readonly string[]): Promise<string> {
  // --insecure-policy: no trust policy need be on the machine.
  return await runCommand("skopeo", ["--insecure-policy", ...args]);
}

export function at(registry: { readonly host: string }, name: string): string {
  return `docker://${registry.host}/${name}`;
}

/** An OCI image layout on disk, as builders write it. `name` becomes its tag. */
export async function writeOciLayout(folder: string, name: string, spec: ImageSpec): Promise<string> {
  const { blobs, children, top } = await buildImage(name, spec);
  await Deno.mkdir(`${folder}/blobs/sha256`, { recursive: true });
  for (const { digest, bytes } of [...blobs, ...children, top]) {
    await Deno.writeFile(`${folder}/blobs/${digest.replace(":", "/")}`, bytes);
  }
  const { mediaType, digest, bytes } = top;
  const annotations = { "org.opencontainers.image.ref.name": name };
  const index = { schemaVersion: 2, manifests: [{ mediaType, digest, size: bytes.length, annotations }] };
  await Deno.writeTextFile(`${folder}/index.json`, JSON.stringify(index));
  await Deno.writeTextFile(`${folder}/oci-layout`, JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  return `oci:${folder}:${name}`;
}
