// Images as skopeo makes and carries them, in a real docker-registry: every form says the platforms it was built with, and
// the digest is the one that skopeo sees.
import assert from "node:assert/strict";
import type { Inspection } from "../../lib/oci/inspection.ts";
import {
  flagsFor,
  openImages,
  platformsIn,
  type TemporaryFiles,
  type TestImages,
  writeTemporaryFiles,
} from "./support/inspecting.ts";
import { type RealRegistry, startRegistry } from "./support/registry.ts";
import { lacks } from "../support/needs.ts";
import { at, skopeo, writeOciLayout } from "./support/skopeo.ts";

const PLATFORMS = [
  { architecture: "amd64" },
  { architecture: "arm64", variant: "v8" },
  { architecture: "arm", variant: "v7" },
  { os: "windows", architecture: "amd64" },
];
const SAID = "linux/amd64,linux/arm64/v8,linux/arm/v7,windows/amd64";
const TO = "--dest-tls-verify=false";
const FROM = "--src-tls-verify=false";

interface Bed extends AsyncDisposable {
  readonly registry: RealRegistry;
  readonly files: TemporaryFiles;
  readonly multi: string;
  readonly single: string;
  readonly images: TestImages;
}

async function openBed(): Promise<Bed> {
  await using undo = new AsyncDisposableStack();
  const registry = undo.use(await startRegistry());
  const files = undo.use(await writeTemporaryFiles({}));
  const multi = await writeOciLayout(`${files.path}/multi`, "v1", { platforms: PLATFORMS });
  const single = await writeOciLayout(`${files.path}/single`, "v1", { single: { architecture: "s390x" } });
  const images = undo.use(await openImages(flagsFor(registry)));
  const opened = undo.move();
  return { registry, files, multi, single, images, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

function test(name: string, body: (bed: Bed) => Promise<void>): void {
  Deno.test(`registry formats: ${name}`, { ignore: lacks("skopeo") }, async () => {
    await using bed = await openBed();
    await body(bed);
  });
}

type Good = Exclude<Inspection, { readonly kind: "failed" }>;

async function inspectLikeSkopeo({ registry, images }: Bed, name: string): Promise<Good> {
  const { inspection } = await images.inspect(`${registry.host}/${name}`);
  if (inspection.kind === "failed") throw new Error(inspection.failure.message);
  const raw = await skopeo(["inspect", "--raw", "--tls-verify=false", at(registry, name)]);
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(raw)));
  assert.equal(inspection.digest, `sha256:${hash.toHex()}`);
  return inspection;
}

const OCI = "application/vnd.oci.image";
const DOCKER = "application/vnd.docker.distribution.manifest";

test("copies of all platforms say all platforms, as OCI, as Docker and by way of a dir: layout", async (bed) => {
  const { registry, files, multi, images } = bed;
  await skopeo(["copy", "--all", TO, multi, at(registry, "team/oci:v1")]);
  await skopeo(["copy", "--all", "--format", "v2s2", TO, multi, at(registry, "team/docker:v1")]);
  await skopeo(["copy", "--all", multi, `dir:${files.path}/dir`]);
  await skopeo(["copy", "--all", TO, `dir:${files.path}/dir`, at(registry, "team/dir:v1")]);
  const types = { oci: `${OCI}.index.v1+json`, docker: `${DOCKER}.list.v2+json`, dir: `${OCI}.index.v1+json` };
  for (const [name, mediaType] of Object.entries(types)) {
    assert.equal((await inspectLikeSkopeo(bed, `team/${name}:v1`)).mediaType, mediaType);
    assert.equal(platformsIn(await images.inspect(`${registry.host}/team/${name}:v1`)), SAID);
  }
});

test("a copy of one platform out of many says that one alone, from its config", async (bed) => {
  const { registry, multi, images } = bed;
  const picks = {
    arm64: ["--override-arch", "arm64"],
    armv7: ["--override-arch", "arm", "--override-variant", "v7"],
    windows: ["--override-os", "windows", "--override-arch", "amd64"],
  };
  for (const [name, pick] of Object.entries(picks)) {
    await skopeo([...pick, "copy", TO, multi, at(registry, `team/${name}:v1`)]);
    assert.equal((await inspectLikeSkopeo(bed, `team/${name}:v1`)).mediaType, `${OCI}.manifest.v1+json`);
  }
  const said = async (name: string): Promise<string> =>
    platformsIn(await images.inspect(`${registry.host}/team/${name}:v1`));
  assert.deepEqual([await said("arm64"), await said("armv7"), await said("windows")], [
    "linux/arm64/v8",
    "linux/arm/v7",
    "windows/amd64",
  ]);
});

test("a single image says its platform as OCI, as Docker schema 2 and, with a warning, as schema 1", async (bed) => {
  const { registry, single, images } = bed;
  const forms = {
    oci: [`${OCI}.manifest.v1+json`, []],
    v2s2: [`${DOCKER}.v2+json`, []],
    v2s1: [`${DOCKER}.v1+json`, ["Schema1"]],
  } as const;
  for (const [format, [mediaType, findings]] of Object.entries(forms)) {
    const image = `team/${format}:v1`;
    await skopeo(["copy", "--format", format, TO, single, at(registry, image)]);
    const report = await images.inspect(`${registry.host}/${image}`);
    assert.equal(platformsIn(report), "linux/s390x");
    assert.ok(report.inspection.kind === "platforms");
    assert.equal(report.inspection.mediaType, mediaType);
    assert.deepEqual(report.inspection.findings.map(({ kind }) => kind), findings);
  }
});

test("a copy by digest into another registry keeps its digest and its platforms", async (bed) => {
  const { registry, multi } = bed;
  await using other = await startRegistry();
  await skopeo(["copy", "--all", TO, multi, at(registry, "team/app:v1")]);
  const { digest } = await inspectLikeSkopeo(bed, "team/app:v1");
  const from = at(registry, `team/app@${digest}`);
  await skopeo(["copy", "--all", "--preserve-digests", FROM, TO, from, at(other, "copied/app:v1")]);
  await using images = await openImages(flagsFor(other));
  for (const name of ["copied/app:v1", `copied/app@${digest}`, `copied/app:gone@${digest}`]) {
    const report = await images.inspect(`${other.host}/${name}`);
    assert.equal(platformsIn(report), SAID);
    assert.ok(report.inspection.kind === "platforms");
    assert.equal(report.inspection.digest, digest);
  }
});
