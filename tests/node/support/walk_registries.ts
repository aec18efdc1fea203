// The registries of the walks as real ones on the nodes' network, the nodes' settings for them, and the login of the
// node to which pods go whose images need the global pull secret.
import { textAtPath } from "../../../playground/json_path.ts";
import type { ImageDescription } from "../../../playground/registry_images.ts";
import { type RealRegistry, type RegistryOptions, startRegistry } from "../../cluster/support/registry.ts";
import { DEAD_HOST, pullSecret, trustedImages, USER, type WalkRegistries } from "../../support/walk/registries.ts";
import { trustOnNodes } from "./node_registries.ts";
import type { OpenLab } from "./open_lab.ts";
import { killNode, startNode } from "./outages.ts";
import { buildProgramImage, type ProgramImage } from "./program_images.ts";
import { ensureNodePrograms } from "./programs.ts";

/** What can be pulled without a login: all but the repositories behind `global` and `local`. */
const PUBLIC = ["hello", "allow", "never", "blocked", "only/", "missing", "icsp", "idms", "library/"];
/** Where runtimes look for images of mirrors and of short names: they cannot map a repository to another one. */
const ELSEWHERE = ["icsp", "idms", "library/hello"];
const HOSTS = [DEAD_HOST, "docker.io"];
/** The image that most pods of the walks have. */
const FOUR = "m4";

/** The walks' registries, and the CA of the trusted one. */
export interface NodeWalkRegistries extends WalkRegistries {
  readonly caFile: string;
}

export async function openNodeWalkRegistries(lab: OpenLab): Promise<NodeWalkRegistries> {
  await using undo = new AsyncDisposableStack();
  const address = lab.lab.hosts[0]?.address ?? "";
  const open = async (options: RegistryOptions = {}): Promise<RealRegistry> =>
    undo.use(await startRegistry({ ...options, address }));
  const users = { [USER.name]: USER.password };
  const trusted = await open({ auth: "token", users, token: { publicRepositories: PUBLIC } });
  const [insecure, untrusted] = [await open(), await open()];
  const digests = await fill({ trusted, others: [insecure, untrusted] });
  await configureNodes(lab, { trusted, insecure });
  undo.defer(() => removeFromNodes(lab));
  const owned = undo.move();
  return {
    host: trusted.host,
    insecureHost: insecure.host,
    untrustedHost: untrusted.host,
    caFile: trusted.caFile,
    digestOf: (tag) => digests.get(tag) ?? "",
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Pushes the walks' images, with a program in each. Gives the digests by tag of `hello`. */
async function fill(
  { trusted, others }: { readonly trusted: RealRegistry; readonly others: readonly RealRegistry[] },
): Promise<ReadonlyMap<string, string>> {
  const { app } = await ensureNodePrograms();
  const digests = new Map<string, string>();
  for (const [tag, images] of Map.groupBy(trustedImages(), (image) => image.tag)) {
    const [first] = images;
    if (first === undefined) continue;
    // All images of a tag are the same.
    const documents = await buildProgramImage(describe(first), app);
    digests.set(tag, documents.top.digest);
    const repositories = [...images.map(({ repository }) => repository), ...tag === FOUR ? ELSEWHERE : []];
    for (const repository of repositories) await trusted.pushDocuments(repository, tag, documents);
    if (tag !== FOUR) continue;
    for (const registry of others) await registry.pushDocuments("hello", tag, documents);
  }
  return digests;
}

function describe({ architectures, form, labels }: ImageDescription): ProgramImage {
  const platforms = architectures.map((claims) => ({ claims }));
  const [platform] = platforms;
  return platform !== undefined && form.endsWith("manifest")
    ? { kind: "single", platform, labels }
    : { kind: "index", platforms, labels };
}

/** Configures the nodes for all but the untrusted one. */
async function configureNodes(
  lab: OpenLab,
  { trusted, insecure }: Readonly<Record<"trusted" | "insecure", RealRegistry>>,
): Promise<void> {
  const server = `[host."${trusted.url}"]\ncapabilities = ["pull", "resolve"]\nca = "${trusted.caFile}"\n`;
  await trustOnNodes(lab, trusted.host, `server = "${trusted.url}"\n${server}`);
  for (const host of HOSTS) await trustOnNodes(lab, host, `server = "https://${host}"\n${server}`);
  const { host, url } = insecure;
  await trustOnNodes(lab, host, `server = "${url}"\n[host."${url}"]\nskip_verify = true\n`);
}

async function removeFromNodes(lab: OpenLab): Promise<void> {
  for (const { directory } of lab.lab.hosts) {
    for (const host of HOSTS) await Deno.remove(`${directory}/certs.d/${host}`, { recursive: true });
  }
}

/** Logs a node in, as OpenShift does with the global pull secret. Its kubelet reads that when it starts. */
export async function logIn(lab: OpenLab, node: string, repository: string): Promise<void> {
  const directory = lab.lab.hosts.find(({ name }) => name === node)?.directory ?? "";
  const config = textAtPath(pullSecret("pull-secret", [repository]), "data", ".dockerconfigjson") ?? "";
  await killNode(lab, node);
  await Deno.writeTextFile(`${directory}/kubelet/config.json`, atob(config));
  await startNode(lab, node);
}
