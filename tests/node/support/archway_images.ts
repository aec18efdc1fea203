// Archway's own images for the labs of a run. Each is built once, into a storage of buildah's that these labs share, by whoever
// needs it first; others wait meanwhile. Whoever needs that of the daemon needs the other one before it: both are laid out in the
// same folder of the checkout, one after the other. As a program it builds all.
import { BASE_IMAGE, buildBaseImage, findDeno } from "./base_image.ts";
import { buildBuilderImages } from "./builder_images.ts";
import { runCommand } from "../../support/commands.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;

/** Name of the environment variable with the file that says where images are kept; buildah reads it. */
export const STORAGE_VARIABLE = "CONTAINERS_STORAGE_CONF";

/** The image of this checkout, and that of the daemon, in forms of `deno task image`. */
const FORMS = { dev: "bundle", daemon: "daemon" } as const;
export type ArchwayImage = keyof typeof FORMS;

/** Has images kept in a folder. Gives the file for {@link STORAGE_VARIABLE}. */
export async function writeStorage(folder: string): Promise<string> {
  const file = `${folder}/storage.conf`;
  const [graph, run] = [`${folder}/images`, `${folder}/images-run`];
  await Deno.writeTextFile(file, `[storage]\ndriver = "overlay"\ngraphroot = "${graph}"\nrunroot = "${run}"\n`);
  return file;
}

/** Builds an image for both architectures unless it is there. Gives its name in the storage. */
export async function ensureBuilt(tag: ArchwayImage): Promise<string> {
  await ensureBase();
  const name = `localhost/archway:${tag}`;
  await once(tag, async () => {
    const task = ["task", "image", `--name=${name}`, `--form=${FORMS[tag]}`, `--base=${BASE_IMAGE}`];
    await runCommand(Deno.execPath(), task, { cwd: ROOT, env: { DENO_BIN_ARM64: await findDeno("arm64") } });
  });
  return name;
}

export async function ensureBase(): Promise<string> {
  await once("base", buildBaseImage);
  return BASE_IMAGE;
}

/** The images that node images are built with, and on. */
export async function ensureBuilderImages(): Promise<void> {
  await once("builder", buildBuilderImages);
}

/** Pushes what is in the storage to a registry of the tests. */
export async function push(image: string, reference: string, login: readonly string[] = []): Promise<void> {
  const options = ["--all", "--tls-verify=false", ...login];
  await runCommand("buildah", ["manifest", "push", ...options, image, `docker://${reference}`]);
}

/** Does something unless it has been done for this storage. */
async function once(what: string, act: () => Promise<void>): Promise<void> {
  const storage = Deno.env.get(STORAGE_VARIABLE);
  if (storage === undefined) throw new Error(`Cannot build images: ${STORAGE_VARIABLE} is not set`);
  using lock = await Deno.open(`${storage}.${what}.lock`, { create: true, write: true });
  await lock.lock(true);
  const done = `${storage}.${what}`;
  if (await Deno.stat(done).then(() => true, () => false)) return;
  await act();
  await Deno.writeTextFile(done, "");
}

if (import.meta.main) {
  await ensureBuilt("dev");
  await ensureBuilt("daemon");
  await ensureBuilderImages();
}
