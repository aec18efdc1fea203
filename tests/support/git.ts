// What git says of this checkout, for records that name a commit.
import { runCommand, succeeds } from "./commands.ts";

const ROOT = new URL("../..", import.meta.url).pathname;

export async function git(...args: readonly string[]): Promise<string> {
  return (await runCommand("git", args, { cwd: ROOT })).trim();
}

/** Whether this checkout comes from the commit; false as well of one that git does not have. */
export async function isAncestor(commit: string): Promise<boolean> {
  const args = ["merge-base", "--is-ancestor", commit, "HEAD"];
  return await succeeds("git", args, { cwd: ROOT });
}

/** Whether all commits that this checkout comes from are there: not in an archive, nor in a clone of the last commit alone. */
export function hasHistory(): boolean {
  const args = ["rev-parse", "--is-shallow-repository"];
  const { stdout } = new Deno.Command("git", { args, cwd: ROOT, stderr: "null" }).outputSync();
  return new TextDecoder().decode(stdout).trim() === "false";
}
