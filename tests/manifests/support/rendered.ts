// Renderings of manifests/, each made once for the tests of a file: kubectl takes a third of a second of processor time for one.
import { type ManifestObject, renderComposition, renderFolder } from "../../../manifests/generate/kustomize.ts";

const made = new Map<string, Promise<readonly ManifestObject[]>>();

function once(
  key: readonly string[],
  render: () => Promise<readonly ManifestObject[]>,
): Promise<readonly ManifestObject[]> {
  const text = JSON.stringify(key);
  const known = made.get(text) ?? render();
  made.set(text, known);
  return known;
}

export function renderedFolder(path: string): Promise<readonly ManifestObject[]> {
  return once([path], () => renderFolder(path));
}

/** As {@link renderComposition}, in the namespace of the manifests. */
export function renderedComposition(path: string, components: readonly string[]): Promise<readonly ManifestObject[]> {
  return once([path, "with", ...components], () => renderComposition(path, components));
}
