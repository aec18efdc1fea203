// What can be checked of the image without an engine: what is built from what, and that it runs on the base's libraries.
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ANALYSIS_FILES, writeAnalysis } from "../../manifests/image/analysis_cache.ts";
import {
  compile,
  hideImports,
  largeChunks,
  parseArchitecture,
  parseForm,
  parsePermissionSet,
  readPermissions,
  renderBundleArguments,
  renderCompileArguments,
  renderFailure,
  renderPermissions,
} from "../../manifests/image/compile.ts";
import { ROOT } from "../../manifests/tool.ts";
import {
  type ImageOptions,
  renderBuildArguments,
  renderNeeds,
  renderNextSteps,
  renderPushArguments,
  renderRemovalArguments,
} from "../../manifests/image/image.ts";
import { renderLauncher } from "../../manifests/image/context.ts";
import { type Ended, runToEnd } from "../support/commands.ts";
import { lacks } from "../support/needs.ts";
import { BareRoot } from "./support/bare_root.ts";
import { buildAgain, pushUntold } from "./support/built_images.ts";
import { bundleTo } from "./support/bundle_copy.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

const CONTAINERFILE = Deno.readTextFileSync(join(ROOT, "manifests", "image", "Containerfile"));
const IMAGE: ImageOptions = {
  name: "registry.test/archway:1",
  base: "base@sha256:00",
  form: "binary",
  architectures: ["amd64", "arm64"],
  version: "1",
  permissions: "serve",
  context: "/context",
  isPushed: false,
};

Deno.test("renderCompileArguments() fixes the permissions, names the target and takes nothing from outside", async () => {
  const permissions = renderPermissions(await readPermissions("serve"));
  const common = { entry: "main.js", output: "out", permissions, included: ["dist.js"] };
  const args = renderCompileArguments({ ...common, architecture: "arm64" });
  const wanted = ["--target=aarch64-unknown-linux-gnu", "--output=out", "--unstable-kv", "--no-lock", ...permissions];
  assert.ok(args.includes("--include=dist.js"));
  for (const flag of wanted) assert.ok(args.includes(flag), flag);
  assert.ok(!args.includes("--allow-all") && !args.includes("--allow-ffi"));
  assert.equal(args.at(-1), "main.js");
  assert.ok(!renderCompileArguments(common).some((arg) => arg.startsWith("--target")));
});

Deno.test("renderBundleArguments() never minifies, which would leave what is opened open", () => {
  assert.deepEqual(renderBundleArguments("main.ts", "out").filter((arg) => arg.startsWith("--minify")), []);
});

Deno.test("renderBuildArguments() builds for all architectures at once, on the base that was named", () => {
  for (const engine of ["podman", "buildah", "docker"] as const) {
    const args = renderBuildArguments(engine, IMAGE);
    assert.ok(args.includes("--platform=linux/amd64,linux/arm64"));
    assert.ok(args.includes("--build-arg=BASE_IMAGE=base@sha256:00"));
    assert.ok(args.includes("--target=binary"));
    assert.equal(args.at(-1), "/context");
    const next = renderNextSteps(engine, IMAGE).join();
    assert.match(next, /docker:\/\/registry\.test\/archway:1 .*without TLS: \S*tls-verify/);
  }
  assert.ok(!renderBuildArguments("podman", { ...IMAGE, base: undefined }).some((arg) => arg.includes("BASE_IMAGE")));
});

Deno.test("parseArchitecture() and parseForm() refuse what is not built", () => {
  assert.throws(() => parseArchitecture("s390x"), /amd64, arm64/);
  assert.throws(() => parseForm("jar"), /binary, bundle, daemon/);
  assert.throws(() => parsePermissionSet("all"), /serve, plugins, daemon/);
});

Deno.test("the Containerfile: distroless, not root, no shell, both forms, the files that are laid out", () => {
  assert.match(CONTAINERFILE, /^ARG BASE_IMAGE=gcr\.io\/distroless\/cc-debian12:nonroot@sha256:[0-9a-f]{64}$/m);
  assert.match(CONTAINERFILE, /^USER 65532:65532$/m);
  assert.doesNotMatch(CONTAINERFILE, /^RUN /m);
  const stages = [...CONTAINERFILE.matchAll(/^FROM \S+ AS (\w+)$/gm)].map(([, name]) => name);
  assert.deepEqual(stages, ["base", "bundle", "daemon", "binary"]);
  assert.deepEqual([...CONTAINERFILE.matchAll(/^COPY (?:--chmod=\d+ )?(\S+)/gm)].map(([, name]) => name), [
    ...["deno-linux-${TARGETARCH}", "archway", "analysis"],
    "bpftrace-linux-${TARGETARCH}",
    "archway-linux-${TARGETARCH}",
  ]);
});

Deno.test("renderPermissions() lets the service run programs only where plugins are wanted, and write only where it must", async () => {
  const [serve, plugins] = [await readPermissions("serve"), await readPermissions("plugins")].map(renderPermissions);
  assert.ok(!serve?.some((flag) => flag.startsWith("--allow-run")));
  assert.deepEqual(plugins?.filter((flag) => !serve?.includes(flag)), ["--allow-run"]);
  assert.ok(serve?.includes("--allow-write=/var/cache/archway,/tmp"));
});

Deno.test("the daemon's image alone is root's, and may run bpftrace and write nowhere", async () => {
  const stages = CONTAINERFILE.split(/^FROM /m).filter((stage) => stage.includes("USER 0:0"));
  assert.deepEqual(stages.map((stage) => stage.split("\n")[0]), ["bundle AS daemon"]);
  const flags = renderPermissions(await readPermissions("daemon"));
  assert.ok(flags.includes("--allow-run=/usr/bin/bpftrace"));
  assert.ok(!flags.some((flag) => flag.startsWith("--allow-write")));
});

Deno.test("renderLauncher() gives the command of the image its permissions without a shell", async () => {
  const grants = await readPermissions("serve");
  const { archway, "deno.json": configuration } = renderLauncher(grants);
  assert.match(archway, /^#!\/usr\/bin\/deno \S+\n$/);
  assert.deepEqual(JSON.parse(configuration).permissions, { default: grants });
  assert.deepEqual(entrypointOf("bundle"), ["/usr/share/archway/archway"]);
  assert.match(CONTAINERFILE, /^ *PATH=\/usr\/share\/archway:/m);
});

Deno.test("hideImports() keeps large chunks out of the graph that every start parses", () => {
  const large = largeChunks({ "main.js": 1_000, "dist-1.js": 17_000_000 });
  assert.deepEqual(large, ["dist-1.js"]);
  const text = 'await import("./dist-1.js"); await import("./main.js");';
  assert.equal(hideImports(text, large), 'await import(["./dist-1.js"].join("")); await import("./main.js");');
});

Deno.test("renderRemovalArguments() makes a build replace what has its name, where the engine would add to it", () => {
  for (const engine of ["podman", "buildah"] as const) {
    assert.deepEqual(renderRemovalArguments(engine, IMAGE), ["manifest", "rm", IMAGE.name]);
  }
  assert.equal(renderRemovalArguments("docker", IMAGE), undefined);
});

const CANNOT_BUILD = lacks("buildah") || lacks("registry");
Deno.test("built again, an image has one entry an architecture, pushed anew", { ignore: CANNOT_BUILD }, async () => {
  const indexes = await buildAgain(["first", "second"]);
  for (const index of indexes) assert.deepEqual(index.map((each) => each.architecture).sort(), ["amd64", "arm64"]);
  assert.equal(new Set(indexes.flat().map(({ digest }) => digest)).size, 4);
});

Deno.test("a push that failed is told, also where the engine says nothing", { ignore: CANNOT_BUILD }, async () => {
  const { code, said } = await pushUntold();
  assert.equal(code, 1, said);
  assert.match(said, /The push to .* failed: .* no TLS, or wants a login\. The image is built\.\n/);
});

Deno.test("renderNextSteps() says what keeps replicas where an image for one architecture can start", () => {
  assert.equal(renderNextSteps("podman", IMAGE).length, 1);
  const step = renderNextSteps("podman", { ...IMAGE, architectures: ["arm64"] }).at(-1) ?? "";
  assert.match(step, /deno task release with --arch=arm64.*--set-string 'nodeSelector\.kubernetes\\\.io\/arch=arm64'/);
});

Deno.test("renderNextSteps() leaves the Deployments alone for an image of the daemon, which none of them has", () => {
  const daemon: ImageOptions = { ...IMAGE, form: "daemon", architectures: ["arm64"] };
  assert.deepEqual(renderNextSteps("podman", { ...daemon, isPushed: true }), []);
  assert.doesNotMatch(renderNextSteps("podman", daemon).join(), /deployment\.yaml|nodeSelector/);
});

Deno.test("renderNeeds() names what the form needs, and ends with the arguments as they were given", () => {
  const args = ["--form=bundle", "--name", "registry.test/archway:1", "--push"];
  const [binary, bundle, daemon] = [renderNeeds("binary", []), renderNeeds("bundle", args), renderNeeds("daemon", [])];
  assert.match(bundle, /digest\.\nThen: deno task image --form=bundle --name registry\.test\/archway:1 --push\n$/);
  assert.match(binary, /DENORT_BIN_ARM64\.\nThen: deno task image --name REGISTRY\/archway:TAG\n$/);
  const naming = (word: string): readonly string[] =>
    Object.entries({ binary, bundle, daemon }).filter(([, text]) => text.includes(word)).map(([form]) => form);
  assert.deepEqual(naming("dl.deno.land"), ["binary"]);
  assert.deepEqual(naming("apt-get"), ["daemon"]);
});

Deno.test("--push sends all architectures to the registry, with whatever engine is there, and leaves no step to print", () => {
  const pushed = { ...IMAGE, isPushed: true };
  for (const engine of ["podman", "buildah"] as const) {
    const sent = ["--all", "--digestfile=/context.digest", IMAGE.name, `docker://${IMAGE.name}`];
    assert.deepEqual(renderPushArguments(engine, pushed), ["manifest", "push", ...sent]);
  }
  assert.equal(renderPushArguments("docker", pushed), undefined);
  assert.ok(renderBuildArguments("docker", pushed).includes("--push"));
  assert.ok(!renderBuildArguments("docker", pushed).some((arg) => arg.startsWith("--output")));
  for (const engine of ["podman", "buildah", "docker"] as const) assert.deepEqual(renderNextSteps(engine, pushed), []);
});

Deno.test("the lock file is frozen: a dependency that it lacks fails the run", () => {
  assert.equal(JSON.parse(Deno.readTextFileSync(join(ROOT, "deno.json"))).lock.frozen, true);
});

Deno.test("renderFailure() begins with what to do where the base of executables cannot be fetched", () => {
  const url = "https://dl.deno.land/release/v2.9.6/denort-x86_64-unknown-linux-gnu.zip";
  const stderr = `Download ${url}\nerror: client error (Connect)\n\nStack backtrace:\n   0: <unknown>\n`;
  const [first = "", ...rest] = renderFailure("compile", stderr).split("\n");
  assert.match(first, /^Cannot compile an executable: its base "denort-x86_64-unknown-linux-gnu" .* dl\.deno\.land/);
  for (const way of ["DENORT_BIN", "--form=bundle"]) assert.ok(rest.some((line) => line.includes(way)), way);
  assert.ok(rest.includes("  error: client error (Connect)"));
  assert.ok(!rest.some((line) => line.includes("backtrace")));
  assert.equal(renderFailure("bundle", "error: no such file\n"), 'Cannot run "deno bundle":\nerror: no such file');
});

function runTask(script: string, env: Readonly<Record<string, string>>): Promise<Ended> {
  return runToEnd(Deno.execPath(), ["run", "-A", "--no-check", join(ROOT, "manifests/image", script)], { env });
}

Deno.test("deno task compile ends with 1 and says what to do where the base cannot be had", async () => {
  // Nothing is fetched then, wherever this runs.
  const { code, err } = await runTask("compile.ts", { DENORT_BIN: "/nonexistent/denort" });
  assert.equal(code, 1);
  assert.match(err, /Cannot run "deno compile"[\s\S]*\/nonexistent\/denort/);
});

Deno.test("deno task image reports what it needs where no engine is, and exits 2", async () => {
  const { code, out } = await runTask("image.ts", { PATH: "/nonexistent" });
  assert.equal(code, 2);
  for (const word of ["podman", "distroless/cc", "deno task image"]) assert.ok(out.includes(word), word);
});

Deno.test("deno task compile assembles an executable on a stand-in base", async () => {
  await using folder = await temporaryFolder();
  const before = Deno.env.get("DENORT_BIN_AMD64");
  try {
    Deno.env.set("DENORT_BIN_AMD64", Deno.execPath());
    const bundle = join(folder.path, "bundle");
    const included = largeChunks(await bundleTo(bundle)).map((name) => join(bundle, name));
    const permissions = renderPermissions(await readPermissions("serve"));
    const [entry, output] = [join(bundle, "main.js"), join(folder.path, "archway")];
    const bytes = await compile({ entry, output, architecture: "amd64", permissions, included });
    const embedded = bytes - (await Deno.stat(Deno.execPath())).size;
    assert.ok(embedded > 0 && embedded < 32 * 1_048_576, `${embedded} bytes embedded`);
  } finally {
    if (before === undefined) Deno.env.delete("DENORT_BIN_AMD64");
    else Deno.env.set("DENORT_BIN_AMD64", before);
  }
});

const QUIET = { DENO_DIR: "/var/cache/deno", DENO_NO_UPDATE_CHECK: "1", DENO_NO_PROMPT: "1" };

/** Puts Deno, the scripts and their launcher where the image has them. */
async function layOut(
  root: BareRoot,
): Promise<{ readonly scripts: string; readonly sizes: Readonly<Record<string, number>> }> {
  await root.add(Deno.execPath(), "/usr/bin/deno");
  const scripts = join(root.folder, "usr/share/archway");
  const sizes = await bundleTo(scripts);
  const launcher = renderLauncher(await readPermissions("serve"));
  await Deno.writeTextFile(join(scripts, "deno.json"), launcher["deno.json"]);
  const program = launcher.archway + await Deno.readTextFile(join(scripts, "main.js"));
  await Deno.writeTextFile(join(scripts, "archway"), program, { mode: 0o755 });
  return { scripts, sizes };
}

Deno.test("the bundle runs on the libraries of distroless/cc alone, as uid 65532, and places its samples", {
  ignore: lacks("root"),
}, async () => {
  await using root = await BareRoot.open(Deno.execPath());
  const { sizes } = await layOut(root);
  const first = sizes["main.js"] ?? Infinity;
  assert.ok(first < 6 * 1_048_576, `${first} bytes are read at every start`);
  const command = entrypointOf("bundle");
  const version = await root.run([...command, "--version"], QUIET);
  assert.equal(version.code, 0, version.err);
  assert.match(version.out, /^archway \d/);
  const cache = "--cache-path=/var/cache/archway/images.kv";
  const samples = await root.run([...command, "dev", "--once", cache], QUIET);
  assert.equal(samples.code, 0, samples.said);
  assert.ok((await Deno.stat(join(root.folder, "var/cache/archway/images.kv"))).size > 0);
  const [size, start] = [(first / 1_048_576).toFixed(1), version.ms.toFixed(0)];
  await Deno.stdout.write(new TextEncoder().encode(`main.js ${size} MiB, first answer after ${start} ms\n`));
});

Deno.test("the image's user reads what the runtime knows of the scripts, where nothing can be written", {
  ignore: lacks("root"),
}, async () => {
  await using root = await BareRoot.open(Deno.execPath());
  const { scripts } = await layOut(root);
  const folder = join(root.folder, "var/cache/deno");
  await writeAnalysis({ scripts, installed: "/usr/share/archway", folder });
  const command = [...entrypointOf("bundle"), "--version"];
  assert.equal((await root.run(command, QUIET)).code, 0);
  // Said to import what is not there, the program cannot start: so this is what is read, and the scripts are not parsed.
  await misinform(folder);
  const misled = await root.run(command, QUIET);
  assert.notEqual(misled.code, 0);
  assert.match(misled.err, /Module not found "file:\/\/\/usr\/share\/archway\/absent-/);
});

/** Makes the stored analysis of every script name chunks that do not exist. */
async function misinform(folder: string): Promise<void> {
  await using own = await temporaryFolder();
  for (const name of ANALYSIS_FILES) await Deno.rename(join(folder, name), join(own.path, name));
  const database = new DatabaseSync(join(own.path, ANALYSIS_FILES[0] ?? ""));
  database.exec("UPDATE moduleinfocache SET module_info = replace(module_info, './chunk-', './absent-')");
  for (const name of ANALYSIS_FILES) await Deno.copyFile(join(own.path, name), join(folder, name));
  database.close();
}

function entrypointOf(stage: string): readonly string[] {
  const text = CONTAINERFILE.slice(CONTAINERFILE.indexOf(` AS ${stage}\n`)).replaceAll("\\\n", "");
  const command: unknown = JSON.parse(/^ENTRYPOINT (\[.*\])$/m.exec(text)?.[1] ?? "[]");
  assert.ok(Array.isArray(command) && command.length > 0);
  return command.map(String);
}
