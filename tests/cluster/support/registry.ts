// A real registry on loopback: Debian's docker-registry with TLS, Basic or token authentication, or as a pull-through cache.
import { stringify } from "yaml";
import { runCommand } from "../../support/commands.ts";
import { findOnPath } from "../../support/go_build.ts";
import { createAuthority, createSelfSigned, type IssuedCertificate } from "./pki.ts";
import { findFreePort, isPortFree } from "./ports.ts";
import { RunningProcess } from "./process.ts";
import { type Pushed, RegistryPush } from "./registry_push.ts";
import type { ImageDocument, ImageDocuments, ImageSpec } from "./image_documents.ts";
import { startTokenServer, type TokenServer, type TokenServerOptions } from "./token_server.ts";

export interface RegistryOptions {
  readonly auth?: "none" | "htpasswd" | "token";
  /** Where it listens and what its certificate names. Default 127.0.0.1. */
  readonly address?: string;
  /** Plain HTTP when false. Default true. */
  readonly tls?: boolean;
  /** Password by user; default one user `puller` with password `secret`. */
  readonly users?: Readonly<Record<string, string>>;
  /** Makes it a pull-through cache of another registry; nothing can be pushed then. */
  readonly proxy?: { readonly remoteUrl: string; readonly caFile: string };
  /** Asks every client for a certificate of its own authority; see {@link RealRegistry.clientCertificate}. */
  readonly clientCertificates?: "none" | "required";
  /** For `auth: "token"`. */
  readonly token?: Pick<
    TokenServerOptions,
    "publicRepositories" | "tokenMember" | "identityTokens"
  >;
}

/** A running registry. Dispose it to stop it and remove its storage. */
export interface RealRegistry extends AsyncDisposable {
  /** `ADDRESS:PORT`. */
  readonly host: string;
  /** The same registry as `localhost:PORT`; another host for credentials. */
  readonly localhost: string;
  readonly url: string;
  /** CA of its certificate; present also without TLS, where it is not needed. */
  readonly caFile: string;
  readonly caPem: string;
  readonly clientCertificate: IssuedCertificate;
  readonly users: Readonly<Record<string, string>>;
  readonly tokenServer: TokenServer | undefined;
  push(repository: string, tag: string, spec: ImageSpec): Promise<Pushed>;
  pushDocuments(repository: string, tag: string, documents: ImageDocuments): Promise<Pushed>;
  /** Pushes any bytes as a manifest: what no builder would make. */
  pushDocument(repository: string, tag: string, document: Omit<ImageDocument, "digest">): Promise<string>;
  /** Deletes a manifest, also one that an index still names: a truncated mirror. */
  deleteManifest(repository: string, digest: string): Promise<void>;
  /** Takes a tag away and leaves what it named, which its interface cannot; false where there is none. */
  untag(repository: string, tag: string): Promise<boolean>;
  /** Starts again with a certificate that is its own authority, which Deno's fetch refuses: push before. */
  serveSelfSigned(): Promise<void>;
  /** Ends the process; the port, the storage and the certificate stay for {@link start}. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

const DEFAULT_USERS = { puller: "secret" };
const SERVICE = "archway-test-registry";
const ISSUER = "archway-test-issuer";

export async function missingForRegistry(): Promise<string | undefined> {
  for (
    const [command, packageName] of [["docker-registry", "docker-registry"], ["htpasswd", "apache2-utils"]] as const
  ) {
    if (await findOnPath(command) !== undefined) continue;
    return `${command} is not on the PATH. Install the Debian package ${packageName}.`;
  }
  return undefined;
}

export async function startRegistry(options: RegistryOptions = {}): Promise<RealRegistry> {
  const missing = await missingForRegistry();
  if (missing !== undefined) throw new Error(`Cannot run a registry: ${missing}`);
  await using undo = new AsyncDisposableStack();
  const directory = await Deno.makeTempDir({ prefix: "archway-registry-" });
  undo.defer(() => Deno.remove(directory, { recursive: true }));
  const files = await writeRegistryFiles(directory, options);
  const { tokenServer, caPem, users, scheme, clientCertificate } = files;
  if (tokenServer !== undefined) undo.use(tokenServer);
  const server = undo.use(new RegistryServer(directory, { ...files, proxyCaFile: options.proxy?.caFile }));
  await server.start();
  const host = `${files.address}:${files.port}`;
  const url = `${scheme}://${host}`;
  const push = undo.use(new RegistryPush({ url, caPem, clientCertificate, authorize: authorizer(options, files) }));
  const opened = undo.move();
  return {
    host,
    localhost: `localhost:${files.port}`,
    url,
    caFile: `${directory}/ca.crt`,
    caPem,
    clientCertificate,
    users,
    tokenServer,
    push: (repository, tag, spec) => push.pushImage({ repository, tag }, spec),
    pushDocuments: (repository, tag, documents) => push.pushDocuments({ repository, tag }, documents),
    pushDocument: (repository, tag, document) => push.pushManifest({ repository, reference: tag }, document),
    deleteManifest: (repository, digest) => push.deleteManifest({ repository, reference: digest }),
    untag: async (repository, tag) => {
      const tags = `${directory}/storage/docker/registry/v2/repositories/${repository}/_manifests/tags`;
      return await Deno.remove(`${tags}/${tag}`, { recursive: true }).then(() => true, (error: unknown) => {
        if (error instanceof Deno.errors.NotFound) return false;
        throw error;
      });
    },
    serveSelfSigned: async () => {
      await server.stop();
      const { certificatePem, keyPem } = await createSelfSigned(["localhost", "127.0.0.1", files.address]);
      await Deno.writeTextFile(`${directory}/serving.crt`, certificatePem);
      await Deno.writeTextFile(`${directory}/serving.key`, keyPem);
      await Deno.writeTextFile(`${directory}/ca.crt`, certificatePem);
      await server.start({ probe: "connect" });
    },
    stop: () => server.stop(),
    start: () => server.start(),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

interface RegistryFiles {
  readonly address: string;
  readonly port: number;
  readonly scheme: "http" | "https";
  readonly caPem: string;
  readonly clientCertificate: IssuedCertificate;
  readonly users: Readonly<Record<string, string>>;
  readonly tokenServer: TokenServer | undefined;
}

async function writeRegistryFiles(directory: string, options: RegistryOptions): Promise<RegistryFiles> {
  const authority = await createAuthority("archway test registry");
  const { address = "127.0.0.1" } = options;
  const names = ["localhost", "127.0.0.1", address];
  const serving = await authority.issue({ commonName: "registry", usage: "server", names });
  const clientCertificate = await authority.issue({ commonName: "client", usage: "client" });
  const { users = DEFAULT_USERS, auth = "none", tls = true, clientCertificates = "none" } = options;
  const port = findFreePort();
  const tokenServer = auth !== "token" ? undefined : await startTokenServer({
    service: SERVICE,
    issuer: ISSUER,
    users,
    address,
    ...(tls ? { authority } : {}),
    ...options.token,
  });
  const files: Record<string, string> = {
    "ca.crt": authority.certificatePem,
    "serving.crt": serving.certificatePem,
    "serving.key": serving.keyPem,
    "config.yml": stringify(
      renderConfig(directory, {
        address,
        port,
        tls,
        auth,
        clientCertificates,
        realm: tokenServer?.realm,
        proxy: options.proxy,
      }),
    ),
  };
  if (auth === "htpasswd") files["htpasswd"] = await hashPasswords(users);
  if (tokenServer !== undefined) files["token-roots.crt"] = tokenServer.rootCertificatePem;
  for (const [name, text] of Object.entries(files)) {
    await Deno.writeTextFile(`${directory}/${name}`, text, { mode: 0o600 });
  }
  const scheme = tls ? "https" : "http";
  return { address, port, scheme, caPem: authority.certificatePem, clientCertificate, users, tokenServer };
}

interface ConfigInput {
  readonly address: string;
  readonly port: number;
  readonly tls: boolean;
  readonly auth: "none" | "htpasswd" | "token";
  readonly clientCertificates: "none" | "required";
  readonly realm: string | undefined;
  readonly proxy: RegistryOptions["proxy"];
}

/** The configuration file. Source: distribution 2.8 configuration reference. */
function renderConfig(
  directory: string,
  { address, port, tls, auth, clientCertificates, realm, proxy }: ConfigInput,
): unknown {
  const certificate = {
    certificate: `${directory}/serving.crt`,
    key: `${directory}/serving.key`,
    ...(clientCertificates === "none" ? {} : { clientcas: [`${directory}/ca.crt`] }),
  };
  return {
    version: "0.1",
    log: { level: "warn", accesslog: { disabled: true } },
    compatibility: { schema1: { enabled: true } },
    storage: {
      filesystem: { rootdirectory: `${directory}/storage`, maxthreads: 200 },
      delete: { enabled: true },
      cache: { blobdescriptor: "inmemory" },
      maintenance: { uploadpurging: { enabled: false } },
    },
    http: {
      addr: `${address}:${port}`,
      relativeurls: true,
      secret: "one process, one secret",
      ...(tls ? { tls: certificate } : {}),
    },
    ...renderAuth(directory, { auth, realm }),
    ...(proxy === undefined ? {} : { proxy: { remoteurl: proxy.remoteUrl } }),
  };
}

function renderAuth(
  directory: string,
  { auth, realm }: Pick<ConfigInput, "auth" | "realm">,
): Readonly<Record<string, unknown>> {
  switch (auth) {
    case "none":
      return {};
    case "htpasswd":
      return { auth: { htpasswd: { realm: "archway test", path: `${directory}/htpasswd` } } };
    case "token":
      return {
        auth: { token: { realm, service: SERVICE, issuer: ISSUER, rootcertbundle: `${directory}/token-roots.crt` } },
      };
  }
}

async function hashPasswords(users: Readonly<Record<string, string>>): Promise<string> {
  const lines: string[] = [];
  for (const [user, password] of Object.entries(users)) {
    // Cost 4: a test cares for the protocol, not for the strength.
    lines.push((await runCommand("htpasswd", ["-C", "4", "-Bbn", user, password])).trim());
  }
  return `${lines.join("\n")}\n`;
}

function authorizer(
  { auth = "none" }: RegistryOptions,
  { users, tokenServer }: RegistryFiles,
): (repository: string) => Promise<string | undefined> {
  return async (repository) => {
    if (tokenServer !== undefined) {
      const actions = ["pull", "push", "delete"];
      return `Bearer ${await tokenServer.issue([{ type: "repository", name: repository, actions }])}`;
    }
    const [first] = Object.entries(users);
    return auth === "none" || first === undefined ? undefined : renderBasic(...first);
  };
}

export function renderBasic(user: string, password: string): string {
  return `Basic ${new TextEncoder().encode(`${user}:${password}`).toBase64()}`;
}

class RegistryServer implements AsyncDisposable {
  readonly #directory: string;
  readonly #options: RegistryFiles & { readonly proxyCaFile: string | undefined };
  #running: RunningProcess | undefined;

  constructor(directory: string, options: RegistryFiles & { readonly proxyCaFile: string | undefined }) {
    this.#directory = directory;
    this.#options = options;
  }

  async start({ probe = "fetch" }: { readonly probe?: "fetch" | "connect" } = {}): Promise<void> {
    const { address, port, scheme, caPem, clientCertificate, proxyCaFile } = this.#options;
    if (!isPortFree(port)) throw new Error(`Cannot start the registry: port ${port} is taken`);
    const running = RunningProcess.start({
      name: "docker-registry",
      command: "docker-registry",
      args: ["serve", `${this.#directory}/config.yml`],
      directory: this.#directory,
      // Go reads the roots it trusts from this file: the upstream of a pull-through cache has a private CA too.
      env: { OTEL_TRACES_EXPORTER: "none", ...(proxyCaFile === undefined ? {} : { SSL_CERT_FILE: proxyCaFile }) },
    });
    this.#running = running;
    const { certificatePem: cert, keyPem: key } = clientCertificate;
    using client = Deno.createHttpClient({ caCerts: [caPem], cert, key, http2: false, poolMaxIdlePerHost: 0 });
    await running.waitReady(async () => {
      if (probe === "connect") {
        (await Deno.connect({ hostname: address, port })).close();
        return true;
      }
      const response = await fetch(`${scheme}://${address}:${port}/v2/`, { client });
      await response.body?.cancel();
      return response.status === 200 || response.status === 401;
    });
  }

  async stop(): Promise<void> {
    this.#running?.kill("SIGKILL");
    await this.#running?.stop();
    this.#running = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
