// Registries that both the nodes' runtimes and Archway pull from: real ones on the nodes' network, and hosts that are mirrored.
import { type RealRegistry, type RegistryOptions, startRegistry } from "../../cluster/support/registry.ts";
import { LAB_IMAGES } from "./lab.ts";
import type { OpenLab } from "./open_lab.ts";
import { buildProgramImage } from "./program_images.ts";
import { ensureNodePrograms } from "./programs.ts";

/** A registry with some of LAB_IMAGES, as `t/NAME:v1`. The nodes trust it. */
export async function openNodeRegistry(
  lab: OpenLab,
  { images, ...options }: RegistryOptions & { readonly images: readonly string[] },
): Promise<RealRegistry> {
  const [first] = lab.lab.hosts;
  const registry = await startRegistry({ ...options, address: first?.address ?? "" });
  const { app } = await ensureNodePrograms();
  for (const name of images) {
    const image = LAB_IMAGES[name];
    if (image === undefined) throw new Error(`Cannot push "${name}": it is none of LAB_IMAGES`);
    await registry.pushDocuments(`t/${name}`, "v1", await buildProgramImage(image, app));
  }
  const text = `server = "${registry.url}"\n[host."${registry.url}"]\nca = "${registry.caFile}"\n`;
  await trustOnNodes(lab, registry.host, text);
  return registry;
}

/** Has the nodes pull what is named by `host`, which need not exist, from the lab's registry. */
export async function mirrorOnNodes(lab: OpenLab, host: string): Promise<void> {
  const mirror = `[host."http://${lab.lab.registry}"]\ncapabilities = ["pull", "resolve"]\n`;
  await trustOnNodes(lab, host, `server = "https://${host}"\n${mirror}`);
}

export function renderRegistriesConf(lab: OpenLab, host: string): string {
  return [
    "[[registry]]",
    `prefix = "${host}"`,
    `location = "${host}"`,
    "[[registry.mirror]]",
    `location = "${lab.lab.registry}"`,
    "insecure = true",
    "",
  ].join("\n");
}

/** Writes the hosts.toml of a host for the runtime of every node. */
export async function trustOnNodes(lab: OpenLab, host: string, text: string): Promise<void> {
  for (const { directory } of lab.lab.hosts) {
    await Deno.mkdir(`${directory}/certs.d/${host}`, { recursive: true });
    await Deno.writeTextFile(`${directory}/certs.d/${host}/hosts.toml`, text);
  }
}

/** Digests of LAB_IMAGES in the lab's registry, by name. */
export async function readDigests(lab: OpenLab): Promise<ReadonlyMap<string, string>> {
  const accept = ["index", "manifest"].map((kind) => `application/vnd.oci.image.${kind}.v1+json`).join(", ");
  const entries = await Promise.all(
    Object.keys(LAB_IMAGES).map(async (name) => {
      const response = await fetch(`http://${lab.lab.registry}/v2/t/${name}/manifests/v1`, { headers: { accept } });
      await response.body?.cancel();
      return [name, response.headers.get("docker-content-digest") ?? ""] as const;
    }),
  );
  return new Map(entries);
}
