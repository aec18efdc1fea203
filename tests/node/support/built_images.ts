// Reads what is in a registry with a login.
import { listAt, read } from "../../cluster/support/cluster_access.ts";
import { type RealRegistry, renderBasic } from "../../cluster/support/registry.ts";

export async function readIndex(
  registry: RealRegistry,
  reference: string,
): Promise<Readonly<Record<string, string>>> {
  const index = await readManifest(registry, reference);
  return Object.fromEntries(
    listAt(index, "manifests").map((each) => [
      String(read(each, "platform", "architecture")),
      String(read(each, "digest")),
    ]),
  );
}

export async function readLayers(registry: RealRegistry, reference: string): Promise<readonly string[]> {
  return listAt(await readManifest(registry, reference), "layers").map((each) => String(read(each, "digest")));
}

async function readManifest({ url, users }: RealRegistry, reference: string): Promise<unknown> {
  const [path = "", digest = ""] = reference.slice(reference.indexOf("/") + 1).split("@");
  const [[user, password] = ["", ""]] = Object.entries(users);
  const accept = ["index", "manifest"].map((kind) => `application/vnd.oci.image.${kind}.v1+json`).join(", ");
  const headers = { accept, authorization: renderBasic(user, password) };
  const response = await fetch(`${url}/v2/${path}/manifests/${digest}`, { headers });
  const text = await response.text();
  if (!response.ok) throw new Error(`Cannot read "${reference}": ${response.status} ${text}`);
  return JSON.parse(text);
}
