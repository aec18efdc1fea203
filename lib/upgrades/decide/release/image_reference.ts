// Whether an image of a release is named as it must be: by registry, namespace, name and digest.

const DIGEST = /^[a-z0-9]+(?:[.+_-][a-z0-9]+)*:[0-9a-fA-F]{32,}$/;

/** What is wrong with the name of a release image, for the one who wrote it; undefined when nothing is. */
export function releaseImageProblem(image: string): string | undefined {
  const [name = "", digest, ...more] = image.split("@");
  if (digest === undefined) return "has no digest: write it as registry/namespace/name@sha256:…";
  if (more.length > 0 || !DIGEST.test(digest)) {
    return "has a malformed digest: write it as registry/namespace/name@sha256:…";
  }
  const [registry = "", ...path] = name.split("/");
  if (!/[.:]|^localhost$/.test(registry)) return "names no registry: write it as registry/namespace/name@sha256:…";
  const isComplete = path.length >= 2 && path.every((part) => /^[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*$/.test(part));
  return isComplete ? undefined : "lacks a namespace or a name: write it as registry/namespace/name@sha256:…";
}
