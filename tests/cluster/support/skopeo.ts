// Images made and copied by skopeo, the tool that mirrors are filled with.
import { buildImage, type ImageSpec, writeLayout } from "./image_documents.ts";
import { runCommand } from "../../support/commands.ts";

export async function skopeo(args: readonly string[]): Promise<string> {
  // --insecure-policy: no trust policy need be on the machine.
  return await runCommand("skopeo", ["--insecure-policy", ...args]);
}

export function at(registry: { readonly host: string }, name: string): string {
  return `docker://${registry.host}/${name}`;
}

/** An OCI image layout on disk. `name` becomes its tag. */
export async function writeOciLayout(folder: string, name: string, spec: ImageSpec): Promise<string> {
  await writeLayout(folder, await buildImage(name, spec), { "org.opencontainers.image.ref.name": name });
  return `oci:${folder}:${name}`;
}
