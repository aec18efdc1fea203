// Images as `deno task image` builds and pushes them, with small files for what they hold; no other storage is touched.
import assert from "node:assert/strict";
import { join } from "node:path";
import * as z from "zod";
import { ROOT } from "../../../manifests/tool.ts";
import type { ImageOptions } from "../../../manifests/image/image.ts";
import { type RealRegistry, startRegistry } from "../../cluster/support/registry.ts";
import { type Ended, runToEnd } from "../../support/commands.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";

export interface PushedEntry {
  readonly digest: string;
  readonly architecture: string;
}

const INDEX = z.object({
  manifests: z.array(z.object({ digest: z.string(), platform: z.object({ architecture: z.string() }) })),
});
const ACCEPT = "application/vnd.oci.image.index.v1+json,application/vnd.docker.distribution.manifest.list.v2+json";

/** Builds and pushes one name as often as there are contents; gives the index that was there after each. */
export async function buildAgain(contents: readonly string[]): Promise<readonly (readonly PushedEntry[])[]> {
  await using folder = await temporaryFolder();
  await using registry = await startRegistry({ tls: false });
  const env = await writeSettings(folder.path, registry);
  const indexes: (readonly PushedEntry[])[] = [];
  for (const content of contents) {
    const context = await fillContext(join(folder.path, "context"), content);
    const { code, said } = await build({ context, name: `${registry.host}/archway:1`, env });
    assert.equal(code, 0, said);
    indexes.push(await readIndex(`${registry.url}/v2/archway/manifests/1`));
  }
  return indexes;
}

/** Pushes to a registry whose lack of TLS the engine has not been told. */
export async function pushUntold(): Promise<Ended> {
  await using folder = await temporaryFolder();
  await using registry = await startRegistry({ tls: false });
  const env = await writeSettings(folder.path, { host: "registry.example.com" });
  const context = await fillContext(join(folder.path, "context"), "first");
  return await build({ context, name: `${registry.host}/archway:1`, env });
}

/** A storage of its own for the engine, and its settings for the registry, in the folder. */
export async function writeSettings(
  folder: string,
  { host }: Pick<RealRegistry, "host">,
): Promise<Readonly<Record<string, string>>> {
  const [storage, settings] = [join(folder, "storage.conf"), join(folder, ".config", "containers")];
  const roots = ["graph", "run"].map((name) => `${name}root = "${join(folder, name)}"\n`).join("");
  await Deno.writeTextFile(storage, `[storage]\ndriver = "vfs"\n${roots}`);
  await Deno.mkdir(settings, { recursive: true });
  const plain = `[[registry]]\nlocation = "${host}"\ninsecure = true\n`;
  await Deno.writeTextFile(join(settings, "registries.conf"), plain);
  const cache = Deno.env.get("DENO_DIR") ?? join(Deno.env.get("HOME") ?? "", ".cache", "deno");
  return { CONTAINERS_STORAGE_CONF: storage, HOME: folder, DENO_DIR: cache };
}

async function fillContext(context: string, content: string): Promise<string> {
  for (const name of ["archway", "analysis"]) await Deno.mkdir(join(context, name), { recursive: true });
  const files = ["deno-linux-amd64", "deno-linux-arm64", "archway/archway", "analysis/any"];
  for (const name of files) await Deno.writeTextFile(join(context, name), content);
  return context;
}

/** In a process of its own: the engine prints. */
async function build(
  { env, ...more }: Pick<ImageOptions, "context" | "name"> & { readonly env: Readonly<Record<string, string>> },
): Promise<Ended> {
  const options: ImageOptions = {
    ...{ base: "scratch", form: "bundle", architectures: ["amd64", "arm64"], version: "1" },
    ...{ permissions: "serve", isPushed: true, ...more },
  };
  const script = `import { buildAndPush } from ${JSON.stringify(new URL("manifests/image/image.ts", `file://${ROOT}`))};
    Deno.exit(await buildAndPush("buildah", ${JSON.stringify(options)}));`;
  return await runToEnd(Deno.execPath(), ["eval", script], { cwd: ROOT, env: { ...env } });
}

async function readIndex(url: string): Promise<readonly PushedEntry[]> {
  const response = await fetch(url, { headers: { accept: ACCEPT } });
  const { manifests } = INDEX.parse(await response.json());
  return manifests.map(({ digest, platform: { architecture } }) => ({ digest, architecture }));
}
