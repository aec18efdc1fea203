// What Archway says of each server of the matrix: `ok` or the sentence of the failed inspection.
import { openImages, type TemporaryFiles, writeTemporaryFiles } from "../cluster/support/inspecting.ts";
import { runArchway } from "../support/archway_program.ts";
import type { TlsConfiguration, TlsServers } from "./support.ts";
import { settingsFlag } from "../support/settings_file.ts";

/** At a time: each is a new image service. */
const PARALLEL = 6;

/** By name of the configuration. */
export async function askAll(servers: TlsServers): Promise<ReadonlyMap<string, string>> {
  const answers = new Map<string, string>();
  const local = servers.configurations.filter(resolves).values();
  const work = async (): Promise<void> => {
    for (const one of local) answers.set(one.name, await askHere(one));
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  for (const [name, answer] of await askThroughProxy(servers)) answers.set(name, answer);
  return answers;
}

function resolves({ host }: TlsConfiguration): boolean {
  return host === "localhost" || host === "127.0.0.1";
}

function addressOf({ host, port }: TlsConfiguration): string {
  return `${host}:${port}`;
}

async function askHere(one: TlsConfiguration): Promise<string> {
  const at = addressOf(one);
  await using folder: TemporaryFiles = await writeTemporaryFiles({ "ca.pem": one.ca, ...clientFiles(one) });
  const flags = ["--registry", at, "--registry-ca", `${folder.path}/ca.pem`];
  await using images = await openImages([...flags, settingsFlag(folder.path, { certsDir: `${folder.path}/certs.d` })]);
  const { inspection } = await images.inspect(`${at}/team/app:v1`);
  return answerOf(inspection.kind === "failed" ? inspection.failure.message : "ok", one);
}

function clientFiles(one: TlsConfiguration): Readonly<Record<string, string>> {
  if (one.clientCertificate === "") return { "certs.d/none:1/unused.txt": "" };
  const folder = `certs.d/${addressOf(one)}`;
  return { [`${folder}/client.cert`]: one.clientCertificate, [`${folder}/client.key`]: one.clientKey };
}

/** All in one process: `fetch` takes its proxy from the environment, as in a pod. */
async function askThroughProxy(servers: TlsServers): Promise<ReadonlyMap<string, string>> {
  const far = servers.configurations.filter((one) => !resolves(one));
  await using folder = await writeTemporaryFiles(
    Object.fromEntries(far.map((one) => [`${addressOf(one)}/ca.crt`, one.ca])),
  );
  const images = far.map((one) => `${addressOf(one)}/team/app:v1`);
  const { stdout, stderr } = await runArchway([
    "inspect",
    "-o",
    "json",
    settingsFlag(folder.path, { certsDir: folder.path }),
    ...images,
  ], {
    HTTPS_PROXY: servers.proxy,
    NO_PROXY: "",
    no_proxy: "",
  });
  const rows: readonly { readonly error?: { readonly message: string } }[] = JSON.parse(stdout);
  if (rows.length !== far.length) throw new Error(`${rows.length} answers for ${far.length} images: ${stderr}`);
  return new Map(far.map((one, at) => [one.name, answerOf(rows[at]?.error?.message ?? "ok", one)]));
}

/** Without the address, which is another one each time. */
function answerOf(text: string, one: TlsConfiguration): string {
  return text.replaceAll(addressOf(one), "HOST").replace(/^Cannot (read|pull) "HOST\/[^"]*": /, "");
}
