// What OpenShift has where node images are built, on the nodes of the lab: its definitions, the namespace with the secrets and the
// account of builds, a pool of all nodes; and a registry with a login, a base image for both architectures and the tests' builder.
import { BUILD_NAMESPACE } from "../../cluster/support/build_objects.ts";
import { BUILD_KINDS } from "../../cluster/support/build_plane.ts";
import { expectStatus, read } from "../../cluster/support/cluster_access.ts";
import { applyDefinitions, readDefinition } from "../../cluster/support/openshift_crds.ts";
import { createPullSecret } from "../../cluster/support/pods.ts";
import type { RealRegistry } from "../../cluster/support/registry.ts";
import { readManifest } from "../../cluster/support/registry_platforms.ts";
import { waitUntil } from "../../cluster/support/wait.ts";
import {
  API_VERSION,
  POOL,
  POOL_LABEL,
  PUSH_SECRET,
  renderAccount,
  renderConfig,
  renderControllerConfig,
  renderImages,
  renderPool,
} from "./image_build_objects.ts";
import { ensureBuilderImages, push } from "./archway_images.ts";
import { BUILDER_IMAGE, OS_IMAGE } from "./builder_images.ts";
import { type Installation, kubectl, NAMESPACE } from "./install.ts";
import { openNodeRegistry } from "./node_registries.ts";
import type { OpenLab } from "./open_lab.ts";
import type { NodeArch } from "./program_images.ts";

export const BUILDS = "archway-image-builds";

/** A build on the emulated node takes half a minute when the machine has nothing else to do. */
const PATIENCE = { deadlineMs: 600_000, intervalMs: 500 };

export interface ImageBuildBed extends AsyncDisposable {
  /** With a login and a certificate of its own CA, which the cluster's bundle has. */
  readonly registry: RealRegistry;
  /** The base image, an index of both architectures. */
  readonly base: string;
}

export async function openImageBuildBed(lab: OpenLab): Promise<ImageBuildBed> {
  await using undo = new AsyncDisposableStack();
  const options = { auth: "htpasswd", users: { builder: "secret" }, images: [] } as const;
  const registry = undo.use(await openNodeRegistry(lab, options));
  const [builder, base] = await pushImages(registry);
  undo.defer(() => removeObjects(lab));
  await applyDefinitions(lab, BUILD_KINDS);
  await kubectl(lab, "label", "nodes", "--all", "--overwrite", `${POOL_LABEL}=`);
  await kubectl(lab, "create", "namespace", BUILD_NAMESPACE);
  // The API server refuses a pod that asks for more rights than containers have.
  await kubectl(lab, "label", "namespace", BUILD_NAMESPACE, "pod-security.kubernetes.io/enforce=baseline");
  for (const name of [PUSH_SECRET, "global-pull-secret-copy"]) {
    await createPullSecret(lab, BUILD_NAMESPACE, { ...registry, name });
  }
  await lab.apply([...renderAccount(), renderImages(builder), ...renderPool(base)]);
  const path = `/apis/${API_VERSION}/controllerconfigs`;
  expectStatus("say which CA", await lab.request("POST", path, renderControllerConfig(registry.caPem)), [201]);
  const opened = undo.move();
  return { registry, base, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** For install(): the registry's CA where OpenShift puts what the cluster trusts. */
export function trusting({ registry }: ImageBuildBed): NonNullable<Installation["others"]> {
  const patch = [{ op: "add", path: "/data", value: { "ca-bundle.crt": registry.caPem } }];
  return [{ kind: "ConfigMap", name: `${BUILDS}-trusted-ca`, patch }];
}

/** References of the builder's image and of the base image. */
async function pushImages(registry: RealRegistry): Promise<readonly [builder: string, base: string]> {
  await ensureBuilderImages();
  const login = Object.entries(registry.users).flatMap(([user, password]) => ["--creds", `${user}:${password}`]);
  const [builder, os] = [`${registry.host}/tests/builder:v1`, `${registry.host}/base/os:v1`];
  await Promise.all([push(BUILDER_IMAGE, builder, login), push(OS_IMAGE, os, login)]);
  return [builder, `${registry.host}/base/os@${(await readManifest(registry, os))?.digest}`];
}

async function removeObjects(lab: OpenLab): Promise<void> {
  const names = (await Promise.all(BUILD_KINDS.map(readDefinition))).map((each) =>
    String(read(each, "metadata", "name"))
  );
  const gone = ["--ignore-not-found", "--timeout=60s"];
  await lab.kubectl(["delete", "namespace", BUILD_NAMESPACE, ...gone]);
  await lab.kubectl(["delete", "customresourcedefinitions", ...names, ...gone]);
  await lab.kubectl(["label", "nodes", "--all", `${POOL_LABEL}-`]);
}

/** Has the pool's image built, or built anew, with a text of its own for each architecture. */
export async function wantImage(
  lab: OpenLab,
  { registry }: ImageBuildBed,
  texts: Readonly<Record<NodeArch, string>>,
): Promise<void> {
  await lab.apply([renderConfig(`${registry.host}/team/os:latest`, texts)]);
}

/** Waits until the pool is given another image than `before`, and gives its reference. */
export async function waitForImage(lab: OpenLab, before = ""): Promise<string> {
  const path = `/apis/${API_VERSION}/machineosconfigs/${POOL}`;
  return await waitUntil("an image of the pool", async () => {
    const now = read(await lab.get(path), "status", "currentImagePullSpec");
    return typeof now === "string" && now !== "" && now !== before && now;
  }, PATIENCE).catch(async (cause: unknown) => {
    const looks = await Promise.all([
      ["get", "machineosconfigs,machineosbuilds,nodes", "-o", "yaml"],
      ["-n", BUILD_NAMESPACE, "describe", "jobs,pods"],
      ["-n", NAMESPACE, "logs", `deployment/${BUILDS}`, "--tail=60"],
    ].map(async (args) => (await lab.kubectl(args)).stdout.slice(-20_000)));
    throw new Error(`${String(cause)}\n${looks.join("\n")}`, { cause });
  });
}
