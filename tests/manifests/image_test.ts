// What can be checked of the image without an engine: what is built from what, and that it runs on the base's libraries.
import assert from "node:assert/strict";
import { join } from "node:path";
import {
  build,
  parseArchitecture,
  parseForm,
  PERMISSIONS,
  renderBundleArguments,
  renderCompileArguments,
  ROOT,
} from "../../manifests/image/compile.ts";
import { type ImageOptions, renderBuildArguments, renderNextStep } from "../../manifests/image/image.ts";
import { BareRoot, missingForBareRoot } from "./support/bare_root.ts";

const CONTAINERFILE = Deno.readTextFileSync(join(ROOT, "manifests", "image", "Containerfile"));
const ENTRY = join(ROOT, "main.ts");
const IMAGE: ImageOptions = {
  name: "registry.test/archway:1",
  base: "base@sha256:00",
  form: "binary",
  architectures: ["amd64", "arm64"],
  version: "1",
  context: "/context",
};

Deno.test("renderCompileArguments() bundles, fixes the permissions and names the target", () => {
  const args = renderCompileArguments({ entry: "main.ts", output: "out", architecture: "arm64" });
  for (const wanted of ["--bundle", "--minify", "--target=aarch64-unknown-linux-gnu", "--output=out", ...PERMISSIONS]) {
    assert.ok(args.includes(wanted), wanted);
  }
  assert.ok(!args.includes("--allow-all") && !args.includes("--allow-ffi"));
  assert.equal(args.at(-1), "main.ts");
  assert.ok(!renderCompileArguments({ entry: "main.ts", output: "out" }).some((arg) => arg.startsWith("--target")));
  assert.equal(renderBundleArguments({ entry: "main.ts", output: "out" })[0], "bundle");
});

Deno.test("renderBuildArguments() builds for all architectures at once, on the base that was named", () => {
  for (const engine of ["podman", "buildah", "docker"] as const) {
    const args = renderBuildArguments(engine, IMAGE);
    assert.ok(args.includes("--platform=linux/amd64,linux/arm64"));
    assert.ok(args.includes("--build-arg=BASE_IMAGE=base@sha256:00"));
    assert.ok(args.includes("--target=binary"));
    assert.equal(args.at(-1), "/context");
    assert.ok(renderNextStep(engine, IMAGE).includes("docker://registry.test/archway:1"));
  }
  assert.ok(!renderBuildArguments("podman", { ...IMAGE, base: undefined }).some((arg) => arg.includes("BASE_IMAGE")));
});

Deno.test("parseArchitecture() and parseForm() refuse what is not built", () => {
  assert.throws(() => parseArchitecture("s390x"), /amd64, arm64/);
  assert.throws(() => parseForm("jar"), /binary, bundle/);
});

Deno.test("the Containerfile: distroless, not root, no shell, both forms, the files that are laid out", () => {
  assert.match(CONTAINERFILE, /^ARG BASE_IMAGE=gcr\.io\/distroless\/cc-debian12:nonroot$/m);
  assert.match(CONTAINERFILE, /^USER 65532:65532$/m);
  assert.doesNotMatch(CONTAINERFILE, /^RUN /m);
  const stages = [...CONTAINERFILE.matchAll(/^FROM \S+ AS (\w+)$/gm)].map(([, name]) => name);
  assert.deepEqual(stages, ["base", "bundle", "binary"]);
  const copied = [...CONTAINERFILE.matchAll(/^COPY --chmod=\d+ (\S+)/gm)].map(([, name]) => name);
  assert.deepEqual(copied, ["deno-linux-${TARGETARCH}", "archway.js", "archway-linux-${TARGETARCH}"]);
  for (const permission of PERMISSIONS) assert.ok(CONTAINERFILE.includes(`"${permission}"`), permission);
});

Deno.test("deno task image says what it needs where no engine is, and exits 2", async () => {
  const run = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", join(ROOT, "manifests", "image", "image.ts")],
    env: { PATH: "/nonexistent" },
    stdout: "piped",
    stderr: "null",
  }).output();
  assert.equal(run.code, 2);
  const said = new TextDecoder().decode(run.stdout);
  for (const word of ["podman", "distroless/cc", "DENORT_BIN", "deno task image"]) assert.ok(said.includes(word), word);
});

Deno.test("deno task compile assembles an executable on a stand-in base", async () => {
  const folder = await Deno.makeTempDir({ prefix: "archway-compile-" });
  try {
    const output = join(folder, "archway");
    const run = await new Deno.Command(Deno.execPath(), {
      args: [...renderCompileArguments({ entry: ENTRY, output })],
      cwd: ROOT,
      env: { DENORT_BIN: Deno.execPath() },
      stdout: "null",
      stderr: "piped",
    }).output();
    assert.ok(run.success, new TextDecoder().decode(run.stderr));
    const embedded = (await Deno.stat(output)).size - (await Deno.stat(Deno.execPath())).size;
    assert.ok(embedded > 0 && embedded < 12 * 1_048_576, `${embedded} bytes embedded`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

const missing = missingForBareRoot();

Deno.test({
  name: "the bundle runs on the libraries of distroless/cc alone, as uid 65532, and places its samples",
  ignore: missing !== undefined,
  fn: async () => {
    await using root = await BareRoot.open(Deno.execPath());
    await root.add(Deno.execPath(), "/usr/bin/deno");
    const bundle = join(root.folder, "bundle.js");
    const bytes = await build("bundle", { entry: ENTRY, output: bundle });
    assert.ok(bytes < 8 * 1_048_576, `${bytes} bytes`);
    await root.add(bundle, "/usr/share/archway/archway.js");
    const command = entrypointOf("bundle");
    const env = { DENO_DIR: "/var/cache/deno", DENO_NO_UPDATE_CHECK: "1" };

    const version = await root.run([...command, "--version"], env);
    assert.equal(version.code, 0, version.stderr);
    assert.match(version.stdout, /^archway \d/);
    const cache = "--cache-path=/var/cache/archway/images.kv";
    const samples = await root.run([...command, "dev", "--once", cache], env);
    assert.equal(samples.code, 0, samples.stderr + samples.stdout);
    assert.ok((await Deno.stat(join(root.folder, "var/cache/archway/images.kv"))).size > 0);
    const [size, start] = [(bytes / 1_048_576).toFixed(1), version.ms.toFixed(0)];
    await Deno.stdout.write(new TextEncoder().encode(`bundle ${size} MiB, first answer after ${start} ms\n`));
  },
});

/** The command of a stage of the Containerfile. */
function entrypointOf(stage: string): readonly string[] {
  const text = CONTAINERFILE.slice(CONTAINERFILE.indexOf(` AS ${stage}\n`)).replaceAll("\\\n", "");
  const command: unknown = JSON.parse(/^ENTRYPOINT (\[.*\])$/m.exec(text)?.[1] ?? "[]");
  assert.ok(Array.isArray(command) && command.length > 0);
  return command.map(String);
}
