// The bundle for tests that look into it: a copy of the run's, where a run has made one, for making it takes five seconds.
import { dirname, join } from "node:path";
import { bundle } from "../../../manifests/image/compile.ts";
import { BUNDLE_VARIABLE } from "../../support/archway_program.ts";

/** Fills a folder with it, and gives the bytes of each file. */
export async function bundleTo(folder: string): Promise<Readonly<Record<string, number>>> {
  const entry = Deno.env.get(BUNDLE_VARIABLE);
  if (entry === undefined) return await bundle(folder);
  await Deno.mkdir(folder, { recursive: true });
  const sizes: Record<string, number> = {};
  for await (const { name } of Deno.readDir(dirname(entry))) {
    await Deno.copyFile(join(dirname(entry), name), join(folder, name));
    sizes[name] = (await Deno.stat(join(folder, name))).size;
  }
  return sizes;
}
