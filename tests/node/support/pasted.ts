// Runs what README says in a shell, as it stands there, in a copy of the checkout. What the environment has of its own is
// set outside: where the base comes from, the kubeconfig.
import { dirname } from "node:path";
import { ensureBase } from "./archway_images.ts";
import { findDeno } from "./base_image.ts";
import { runCommand } from "../../support/commands.ts";
import type { OpenLab } from "./open_lab.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;
/** The base that manifests/image/Containerfile names, which no test machine can reach. */
const BASE = { host: "gcr.io/distroless", name: "distroless/cc-debian12:nonroot" } as const;

/** A shell in a copy of the checkout. Dispose it to remove the copy. */
export interface PasteShell extends AsyncDisposable {
  /** Runs the text; gives what it printed. Throws with that when a command of it fails. */
  paste(text: string): Promise<string>;
  write(file: string, text: string): Promise<void>;
}

/** Copies the checkout and serves the image's base from the lab's registry, as a mirror would. */
export async function openPasteShell(lab: OpenLab): Promise<PasteShell> {
  const folder = await Deno.makeTempDir({ prefix: "archway-pasted-" });
  const leaveOut = [".git", "dist", ".ci"].map((name) => `--exclude=./${name}`);
  const copy = `tar -C "$1" ${leaveOut.join(" ")} -cf - . | tar -C "$2" -xf -`;
  await runCommand("sh", ["-c", copy, "sh", ROOT, folder]);
  // The look-alike has a digest of its own.
  const containerfile = `${folder}/manifests/image/Containerfile`;
  const pinned = await Deno.readTextFile(containerfile);
  await Deno.writeTextFile(containerfile, pinned.replace(/@sha256:[0-9a-f]{64}$/m, ""));
  const home = await Deno.makeTempDir({ prefix: "archway-home-" });
  await Deno.mkdir(`${home}/.config/containers`, { recursive: true });
  await Deno.writeTextFile(`${home}/.config/containers/registries.conf`, renderRegistries(lab.lab.registry));
  const base = await ensureBase();
  const mirrored = `docker://${lab.lab.registry}/${BASE.name}`;
  await runCommand("buildah", ["manifest", "push", "--all", base, mirrored], { env: { HOME: home } });
  const env = {
    HOME: home,
    DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME") ?? ""}/.cache/deno`,
    // The nodes' network does not lead to npm's registry.
    DENO_BIN_ARM64: await findDeno("arm64"),
    KUBECONFIG: lab.kubeconfigFile,
    PATH: `${dirname(lab.kubectlFile)}:${dirname(Deno.execPath())}:${Deno.env.get("PATH") ?? ""}`,
  };
  return {
    paste: (text) => runCommand("bash", ["-ec", text], { cwd: folder, env }),
    write: (file, text) => Deno.writeTextFile(`${folder}/${file}`, text),
    [Symbol.asyncDispose]: async () => {
      await Deno.remove(folder, { recursive: true });
      await Deno.remove(home, { recursive: true });
    },
  };
}

/** What engines read of registries: the base is mirrored by the lab's registry, by plain HTTP. */
function renderRegistries(registry: string): string {
  const mirror = `[[registry]]\nprefix = "${BASE.host}"\nlocation = "${registry}/distroless"\ninsecure = true\n`;
  return `${mirror}[[registry]]\nlocation = "${registry}"\ninsecure = true\n`;
}
