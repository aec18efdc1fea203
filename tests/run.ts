// Runs the tests: `deno run -A tests/run.ts all|unit|cluster [deno test arguments]`. Ends with one line of counts.

/** Tests of pure code: they get no permission at all, so a file that touches the world fails. */
const PURE = ["tests/lib/placement", "tests/lib/operand"];
const SHELL_PERMISSIONS = ["--allow-all"];

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** One line on standard output. */
function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

/** Where JUnit files of the run go, for `deno task conformance`. */
const JUNIT_FOLDER = Deno.env.get("ARCHWAY_JUNIT_DIR");

/** A run of single files has a file of its own, so that runs file by file add up to a whole one. */
function junit(part: string, extra: readonly string[]): readonly string[] {
  if (JUNIT_FOLDER === undefined) return [];
  const files = extra.filter((argument) => argument.endsWith("_test.ts")).map((file) => file.split("/").at(-1));
  return [`--junit-path=${JUNIT_FOLDER}/${[part, ...files].join("-")}.xml`];
}

const NOTHING: Counts = { passed: 0, failed: 0, skipped: 0 };

/** Runs `deno ARGS`, shows its output as it comes and reads the totals of its summary line. */
async function runDeno(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Counts> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [...args],
    env: { ...environment, NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  let tail = "";
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    await Deno.stdout.write(new TextEncoder().encode(text));
    tail = (tail + text).slice(-20_000);
  }
  const { success } = await child.status;
  const summary = [
    ...tail.matchAll(
      /^(?:ok|FAILED) \| (\d+) passed(?: \(\d+ steps?\))? \| (\d+) failed(?: \(\d+ steps?\))?(?: \| (\d+) ignored)?/gm,
    ),
  ].at(-1);
  const [passed = 0, failed = 0, skipped = 0] = summary?.slice(1).map((text) => Number(text ?? 0)) ?? [];
  return { passed, failed: success ? failed : Math.max(1, failed), skipped };
}

function add(a: Counts, b: Counts): Counts {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped };
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

async function runUnit(extra: readonly string[]): Promise<Counts> {
  const pure: string[] = [];
  for (const folder of PURE) if (await exists(folder)) pure.push(folder);
  const noWorld = await runDeno([
    "test",
    "--quiet",
    "--no-prompt",
    "--parallel",
    ...junit("pure", extra),
    ...extra,
    ...pure,
  ]);
  const ignore = [...PURE, "tests/cluster", "tests/chaos", "tests/bench"].join(",");
  const shell = await runDeno(
    [
      ...["test", "--quiet", "--no-prompt", "--parallel", ...SHELL_PERMISSIONS, `--ignore=${ignore}`],
      ...[...junit("shell", extra), ...extra, "tests"],
    ],
    { DENO_JOBS: "2" },
  );
  return add(noWorld, shell);
}

/** What the control plane lacks on this machine, or undefined when it can be had. */
async function missingControlPlane(): Promise<string | undefined> {
  const { missingForControlPlane } = await import("./cluster/support/binaries.ts");
  return await missingForControlPlane();
}

/** Files of tests/cluster that share no control plane and spend most of their time waiting. */
const PATIENT = /^(ha|kv|life|registry|rights)_.*test\.ts$/;

async function patientFiles(): Promise<readonly string[]> {
  const names = (await Array.fromAsync(Deno.readDir("tests/cluster"))).map(({ name }) => name);
  return names.filter((name) => PATIENT.test(name)).sort().map((name) => `tests/cluster/${name}`);
}

async function runCluster(extra: readonly string[]): Promise<Counts> {
  const cluster = ["run", "-A", "tests/cluster/support/run.ts", ...junit("cluster", extra), ...extra];
  if (extra.some((argument) => argument.startsWith("tests/"))) return await runDeno(cluster);
  const patient = await patientFiles();
  const busy = await runDeno([...cluster, `--ignore=${patient.join()}`]);
  return add(busy, await runPatient(extra, patient));
}

/** These side by side with the soak and the chaos table, which take minutes and little of the machine. */
async function runPatient(extra: readonly string[], files: readonly string[]): Promise<Counts> {
  const chaos = ["test", "--no-prompt", "--parallel", ...SHELL_PERMISSIONS, ...junit("chaos", extra)];
  return await runDeno([...chaos, ...extra, "tests/chaos", ...files], { DENO_JOBS: "3" });
}

async function main(): Promise<Counts> {
  const [what = "all", ...extra] = Deno.args;
  if (what === "unit") return await runUnit(extra);
  const missing = await missingControlPlane();
  if (what === "cluster") {
    if (missing === undefined) return await runCluster(extra);
    print(`Cannot run the cluster tests: ${missing}`);
    return { ...NOTHING, failed: 1 };
  }
  const unit = await runUnit(extra);
  if (missing === undefined) return add(unit, await runCluster(extra));
  print(`Cluster tests were skipped: ${missing}`);
  return unit;
}

const { passed, failed, skipped } = await main();
print(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
Deno.exit(failed > 0 ? 1 : 0);
