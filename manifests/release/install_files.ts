// The files to install from: the manifests of each overlay in one file, and the chart as a package, with images by
// digest.
import { join } from "node:path";
import { stringify } from "yaml";
import { cutReference } from "../../lib/oci/reference.ts";
import { CHART } from "../generate/helm.ts";
import { imageOf, type ManifestObject, renderFolder } from "../generate/kustomize.ts";
import type { ImageArchitecture } from "../image/compile.ts";
import { runTool } from "../tool.ts";
import type { ReleasedImage, ReleaseOptions } from "./images.ts";

/** File and folder of manifests/; `vanilla` is the same as the base. */
const OVERLAYS = {
  "install.yaml": "base",
  "install-openshift.yaml": "overlays/openshift",
  "install-cert-manager.yaml": "overlays/cert-manager",
  "install-gke.yaml": "overlays/gke",
  "install-monitoring.yaml": "overlays/monitoring",
} as const;

const PLACEHOLDER = "registry.example.com/archway";

/** Writes a file for each overlay, and a component for kustomizations in a checkout. */
export async function writeInstallFiles(
  { pinned }: ReleasedImage,
  { folder, architectures }: ReleaseOptions,
): Promise<void> {
  for (const [file, overlay] of Object.entries(OVERLAYS)) {
    const objects = await renderFolder(overlay);
    const text = narrow(objects, architectures)
      .map((object) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })).join("---\n");
    await Deno.writeTextFile(join(folder, file), text.replaceAll(imageOf(objects), pinned));
  }
  await Deno.writeTextFile(join(folder, "kustomization.yaml"), stringify(renderComponent(pinned, architectures)));
}

/** Sets the image in a user's own kustomization, and keeps replicas on nodes that it has an architecture for. */
function renderComponent(pinned: string, architectures: readonly ImageArchitecture[]): unknown {
  const { name: newName, digest } = cutReference(pinned);
  const affinity = "/spec/template/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution";
  const path = `${affinity}/nodeSelectorTerms/0/matchExpressions/0/values`;
  return {
    apiVersion: "kustomize.config.k8s.io/v1alpha1",
    kind: "Component",
    images: [{ name: PLACEHOLDER, newName, digest }],
    patches: [{ target: { kind: "Deployment" }, patch: stringify([{ op: "replace", path, value: architectures }]) }],
  };
}

/** Keeps the Deployments on nodes that the image has an architecture for. Pure. */
export function narrow(
  objects: readonly ManifestObject[],
  architectures: readonly ImageArchitecture[],
): readonly ManifestObject[] {
  const wanted = `"values":${JSON.stringify(architectures)}`;
  return JSON.parse(JSON.stringify(objects).replaceAll('"values":["amd64","arm64"]', wanted));
}

/** Packages the chart with these images, and pushes it; returns its reference by digest. */
export async function releaseChart(images: readonly ReleasedImage[], options: ReleaseOptions): Promise<string> {
  const { folder, registry, version, isPlain } = options;
  const copy = await Deno.makeTempDir({ prefix: "archway-chart-" });
  try {
    await runTool("cp", ["-R", CHART, copy]);
    const chart = join(copy, "archway");
    const values = await Deno.readTextFile(join(chart, "values.yaml"));
    await Deno.writeTextFile(join(chart, "values.yaml"), fillValues(values, images, options));
    await runTool("helm", ["package", chart, "--destination", folder]);
  } finally {
    await Deno.remove(copy, { recursive: true });
  }
  const plain = isPlain ? ["--plain-http"] : [];
  const repository = `${registry}/charts`;
  const push = ["push", join(folder, `archway-${version}.tgz`), `oci://${repository}`, ...plain];
  const { out, err } = await runTool("helm", push);
  return `${repository}/archway@${/sha256:[0-9a-f]{64}/.exec(`${out}${err}`)?.[0] ?? version}`;
}

/** The chart's values with images by digest; without the other architecture where the images have one only. */
function fillValues(
  values: string,
  images: readonly ReleasedImage[],
  { version, architectures }: ReleaseOptions,
): string {
  const [only] = architectures.length === 1 ? architectures : [];
  const narrowed = only === undefined
    ? values
    : values.replace("nodeSelector: {}", `nodeSelector: { kubernetes.io/arch: ${only} }`);
  return [["archway", "image"], ["archway-daemon", "execFormatImage"]].reduce((text, [name, value]) => {
    const pinned = images.find((image) => image.name === `${name}:${version}`)?.pinned;
    return pinned === undefined ? text : text.replace(new RegExp(`^${value}: .*$`, "m"), `${value}: ${pinned}`);
  }, narrowed);
}
