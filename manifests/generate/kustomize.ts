// Renders kustomizations of manifests/ with kubectl, as objects.
import { join, relative } from "node:path";
import { parseAllDocuments, stringify } from "yaml";
import * as z from "zod";
import { ROOT, runTool } from "../tool.ts";

export const MANIFESTS: string = join(ROOT, "manifests");

const OBJECT = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
});

export type ManifestObject = z.infer<typeof OBJECT>;

/** The key of an object in a manifest: kind and name, as in `deployment-archway`. */
export function slugOf({ kind, metadata }: ManifestObject): string {
  return `${kind.toLowerCase()}-${metadata.name}`;
}

/** The objects of a YAML stream; empty documents are left out. Throws on what is no object. */
export function parseManifest(text: string): readonly ManifestObject[] {
  return parseAllDocuments(text).flatMap((document) => {
    if (document.errors[0] !== undefined) throw document.errors[0];
    const value: unknown = document.toJS();
    return value === null ? [] : [OBJECT.parse(value)];
  });
}

export function toYaml(value: unknown): string {
  return stringify(value, { sortMapEntries: true, lineWidth: 0, aliasDuplicateObjects: false });
}

export function ofKind(objects: readonly ManifestObject[], kind: string): readonly ManifestObject[] {
  return objects.filter((object) => object.kind === kind);
}

const DEPLOYMENT = z.object({
  spec: z.object({
    template: z.object({ spec: z.object({ containers: z.tuple([z.object({ image: z.string() })]) }) }),
  }),
});

export function imageOf(objects: readonly ManifestObject[]): string {
  return DEPLOYMENT.parse(ofKind(objects, "Deployment")[0]).spec.template.spec.containers[0].image;
}

/** Renders one folder: `base`, `overlays/gke`. Throws with what kubectl says. */
export async function renderFolder(path: string): Promise<readonly ManifestObject[]> {
  return parseManifest(await runKustomize(join(MANIFESTS, path)));
}

/**
 * Renders one folder with components, in this order, as a user's own kustomization would. `namespace` moves all of it.
 */
export async function renderComposition(
  path: string,
  components: readonly string[],
  options: { readonly namespace?: string } = {},
): Promise<readonly ManifestObject[]> {
  const folder = await Deno.makeTempDir({ prefix: "archway-kustomize-" });
  try {
    const kustomization = {
      apiVersion: "kustomize.config.k8s.io/v1beta1",
      kind: "Kustomization",
      resources: [relative(await Deno.realPath(folder), join(MANIFESTS, path))],
      components: components.map((component) => relative(folder, join(MANIFESTS, component))),
      ...options,
    };
    await Deno.writeTextFile(join(folder, "kustomization.yaml"), JSON.stringify(kustomization));
    return parseManifest(await runKustomize(folder));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function runKustomize(folder: string): Promise<string> {
  return (await runTool("kubectl", ["kustomize", folder])).out;
}
