// How tests start Archway as a process of its own: a whole run from the bundle that the image holds, which starts with two thirds
// of the processor time; a test that is run by itself from the sources.
import { runToEnd } from "./commands.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** Name of the environment variable with the entry of the bundle. */
export const BUNDLE_VARIABLE = "ARCHWAY_TEST_BUNDLE";

/** `all`: those of whoever runs the tests. `serve`: those of the image. */
export type Grants = "all" | "serve";

/** The program and its first arguments; Archway's own follow. */
export function archwayProgram(grants: Grants, flags: readonly string[] = []): readonly [string, ...string[]] {
  const entry = Deno.env.get(BUNDLE_VARIABLE) ?? `${ROOT}main.ts`;
  const permissions = grants === "all" ? "-A" : "-P=serve";
  const options = ["--quiet", "--no-check", "--no-prompt", `--config=${ROOT}deno.json`, permissions];
  return [Deno.execPath(), "run", ...options, ...flags, entry];
}

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `archway ARGS…` as a process of its own, with all permissions. */
export async function runArchway(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  const [command, ...leading] = archwayProgram("all");
  const ended = await runToEnd(command, [...leading, ...args], { env: { NO_COLOR: "1", ...env } });
  return { code: ended.code, stdout: ended.out, stderr: ended.err };
}
