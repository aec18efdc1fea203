// Runs cluster tests with control planes that are ready: `deno run -A tests/cluster/support/run.ts [--planes=N] [deno test
// arguments]`, as many as files run side by side (1). Exit code: that of the tests, or 1 when no control plane can be had.
import { runPassing } from "../../support/commands.ts";
import { PLANES_VARIABLE } from "./leased_plane.ts";
import { startReadyPlanes } from "./ready_planes.ts";

const PLANES = /^--planes=(\d+)$/;

function renderTestArguments(args: readonly string[]): readonly string[] {
  const namesFiles = args.some((arg) => !arg.startsWith("-") && (arg.startsWith("tests/") || arg.endsWith(".ts")));
  const own = ["--no-prompt", "--allow-all"].filter((flag) => !args.includes(flag));
  return ["test", ...own, ...args, ...(namesFiles ? [] : ["tests/cluster"])];
}

async function runTests(args: readonly string[]): Promise<number> {
  // All temporary files of the tests lie in one folder, which goes away even when a test was killed before it could tidy up.
  const temporary = await Deno.makeTempDir({ prefix: "archway-cluster-tests-" });
  Deno.env.set("TMPDIR", temporary);
  try {
    const folder = `${temporary}/planes`;
    await Deno.mkdir(folder);
    const count = args.map((arg) => PLANES.exec(arg)?.[1]).find((digits) => digits !== undefined) ?? "1";
    await using _planes = await startReadyPlanes(folder, Number(count));
    return await runDenoTest(args.filter((arg) => !PLANES.test(arg)), folder);
  } finally {
    if (Deno.env.get("ARCHWAY_TEST_KEEP") === undefined) await Deno.remove(temporary, { recursive: true });
  }
}

async function runDenoTest(args: readonly string[], planesFolder: string): Promise<number> {
  // Where setpriv exists the tests end with us, however we end.
  const launch = 'if command -v setpriv >/dev/null; then exec setpriv --pdeathsig TERM -- "$@"; else exec "$@"; fi';
  return await runPassing("sh", ["-c", launch, "sh", Deno.execPath(), ...renderTestArguments(args)], {
    env: { [PLANES_VARIABLE]: planesFolder },
    stdin: "null",
  });
}

if (import.meta.main) {
  const code = await runTests(Deno.args).catch((error: unknown) => {
    const text = error instanceof Error ? error.message : String(error);
    Deno.stderr.writeSync(new TextEncoder().encode(`${text}\n`));
    return 1;
  });
  Deno.exit(code);
}
