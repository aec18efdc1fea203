// `deno task bench:indexes`: how fast an index is assembled of images that are in the registry already, and how fast images are
// copied from one registry to another, beside skopeo, on the same machine. Keeps results/indexes.json; `--short` only proves that it runs.
import { fileURLToPath } from "node:url";
import { archwayIndex } from "../cluster/support/indexing.ts";
import { flagsFor } from "../cluster/support/inspecting.ts";
import { toBlob } from "../cluster/support/image_documents.ts";
import { missingForRegistry, type RealRegistry, startRegistry } from "../cluster/support/registry.ts";
import { skopeo } from "../cluster/support/skopeo.ts";
import { pause } from "../cluster/support/wait.ts";
import { findOnPath } from "../support/go_build.ts";
import { print } from "../support/print.ts";
import { FILES } from "./figures.ts";
import { readMachineFacts } from "./machine.ts";
import { mergeResults } from "./results_file.ts";
import { atMost, renderRows, type Row, rowOf } from "./table.ts";
import { median } from "./statistics.ts";
import { readMemoryMb } from "./process_usage.ts";

const MAIN = fileURLToPath(new URL("../../main.ts", import.meta.url));
const ARCHITECTURES = ["amd64", "arm64", "ppc64le", "s390x"];
const MIB = 1024 * 1024;
const ROUNDS = 5;
const COPIES = 3;
const LAYERS = 4;

async function benchIndexes(copiedMib: number): Promise<readonly Row[]> {
  if (await missingForRegistry() !== undefined) return [];
  await using source = await startRegistry();
  const assembling = await benchAssembling(source);
  if (await findOnPath("skopeo") === undefined) return assembling;
  return [...assembling, ...await benchCopying(source, copiedMib)];
}

async function benchAssembling(registry: RealRegistry): Promise<readonly Row[]> {
  for (const architecture of ARCHITECTURES) await registry.push("team/app", architecture, { single: { architecture } });
  const images = ARCHITECTURES.map((architecture) => `${registry.host}/team/app:${architecture}`);
  const seconds: number[] = [];
  let requests = 0;
  for (let round = 0; round <= ROUNDS; round++) {
    const to = `${registry.host}/team/app:round-${round}`;
    const startedMs = performance.now();
    const { code, stdout, stderr } = await archwayIndex([
      ...["assemble", "-o", "json", "--to", to, ...flagsFor(registry)],
      ...images,
    ]);
    if (code !== 0) throw new Error(`Cannot assemble: ${stderr}`);
    // The first round warms up.
    if (round > 0) seconds.push((performance.now() - startedMs) / 1_000);
    requests = JSON.parse(stdout).requests;
  }
  return [
    rowOf("assemble an index of 4 images, requests", requests, atMost(12)),
    rowOf("assemble an index of 4 images, s", median(seconds), atMost(0.2)),
  ];
}

/** Each copy goes to a registry of its own, so that nothing is there that could be mounted; both programs take turns. */
async function benchCopying(source: RealRegistry, copiedMib: number): Promise<readonly Row[]> {
  await pushLarge(source, copiedMib);
  const from = `${source.host}/large/app:v1`;
  const idle = await run(["index", "inspect", ...flagsFor(source), from]);
  const peak = `copy ${copiedMib} MiB, peak memory above that of reading the image, MiB`;
  const theirs: number[] = [];
  const ours: Ran[] = [];
  for (let round = 0; round < COPIES; round++) {
    theirs.push(await copyBySkopeo(from));
    ours.push(await copyByArchway(source, from));
  }
  return [
    {
      measure: `copy ${copiedMib} MiB between registries, MiB/s`,
      archway: copiedMib / median(ours.map(({ seconds }) => seconds)),
      baseline: { name: "skopeo copy", value: copiedMib / median(theirs) },
      target: { kind: "atLeastTimesBaseline", factor: 0.7 },
    },
    rowOf(peak, Math.max(...ours.map(({ peakMb }) => peakMb)) - idle.peakMb, atMost(64)),
  ];
}

async function copyBySkopeo(from: string): Promise<number> {
  await using target = await startRegistry();
  const unverified = ["--src-tls-verify=false", "--dest-tls-verify=false"];
  return await timed(() => skopeo(["copy", ...unverified, `docker://${from}`, `docker://${target.host}/by/skopeo:v1`]));
}

async function copyByArchway(source: RealRegistry, from: string): Promise<Ran> {
  await using target = await startRegistry();
  const flags = [source, target].flatMap(flagsFor);
  return await run(["index", "assemble", ...flags, "--to", `${target.host}/by/archway:v1`, from]);
}

async function pushLarge(registry: RealRegistry, mib: number): Promise<void> {
  const type = "application/vnd.oci.image";
  const text = (value: unknown): Uint8Array<ArrayBuffer> => new TextEncoder().encode(JSON.stringify(value));
  const config = await toBlob(text({ os: "linux", architecture: "amd64", rootfs: { type: "layers", diff_ids: [] } }));
  const layers = [];
  for (let layer = 0; layer < LAYERS; layer++) layers.push(await toBlob(randomBytes(mib * MIB / LAYERS)));
  const described = (mediaType: string, { digest, bytes }: typeof config): unknown => (
    { mediaType, digest, size: bytes.length }
  );
  const mediaType = `${type}.manifest.v1+json`;
  const manifest = await toBlob(text({
    schemaVersion: 2,
    mediaType,
    config: described(`${type}.config.v1+json`, config),
    layers: layers.map((layer) => described(`${type}.layer.v1.tar`, layer)),
  }));
  const documents = { blobs: [config, ...layers], children: [], top: { ...manifest, mediaType } };
  await registry.pushDocuments("large/app", "v1", documents);
}

function randomBytes(size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  const most = 65_536;
  for (let at = 0; at < size; at += most) crypto.getRandomValues(bytes.subarray(at, Math.min(size, at + most)));
  return bytes;
}

interface Ran {
  readonly seconds: number;
  readonly peakMb: number;
}

async function run(args: readonly string[]): Promise<Ran> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--quiet", MAIN, ...args],
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const ended = child.output();
  let isOver = false;
  let peakMb = 0;
  const watching = (async () => {
    while (!isOver) {
      const mostMb = await readMemoryMb(child.pid, "VmHWM").catch(() => NaN);
      if (mostMb > peakMb) peakMb = mostMb;
      await pause(20);
    }
  })();
  const seconds = await timed(async () => {
    const { success, stderr } = await ended;
    if (!success) throw new Error(new TextDecoder().decode(stderr));
  }).finally(() => isOver = true);
  await watching;
  return { seconds, peakMb };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return (performance.now() - startedMs) / 1_000;
}

const short = Deno.args.includes("--short");
const rows = await benchIndexes(short ? 16 : 1_024);
print(renderRows(rows));
if (!short) await mergeResults(FILES.indexes, { indexes: { machine: await readMachineFacts(), rows } });
