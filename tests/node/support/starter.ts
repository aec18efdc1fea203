// The program that tries to start others, in a folder that pods can mount.
import { ensureGoProgram, pinnedCacheDirectory } from "../../support/go_build.ts";

const MODULE = new URL("../programs/starter/", import.meta.url);

/** Finds or builds it; `directory` holds nothing else. */
export async function ensureStarter(): Promise<{ readonly directory: string }> {
  const directory = await pinnedCacheDirectory("starter", [new URL("main.go", MODULE)]);
  const program = { name: "starter", module: MODULE, package: ".", linkerFlags: "-s -w" };
  await ensureGoProgram(program, directory);
  return { directory };
}
