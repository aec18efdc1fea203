// A real KV Connect server (the self-hosted `denokv`) for tests of the shared cache: found, or built once with cargo and cached.
import { succeeds } from "../../support/commands.ts";
import { findFreePort } from "./ports.ts";
import { RunningProcess } from "./process.ts";

const VERSION = "0.14.0";

/** Where the server's program is, if it has been built: ARCHWAY_DENOKV or the cache. */
export function findBuiltDenokv(): string | undefined {
  const given = Deno.env.get("ARCHWAY_DENOKV");
  if (given !== undefined) return given;
  const program = `${cacheFolder()}/bin/denokv`;
  try {
    return Deno.statSync(program).isFile ? program : undefined;
  } catch {
    return undefined;
  }
}

/** As {@link findBuiltDenokv}, and builds it where there is `cargo`; undefined without any. */
export async function findDenokv(): Promise<string | undefined> {
  const built = findBuiltDenokv();
  if (built !== undefined) return built;
  return await build(cacheFolder()) ? findBuiltDenokv() : undefined;
}

function cacheFolder(): string {
  const cache = Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME") ?? "/tmp"}/.cache`;
  return `${cache}/archway/denokv-${VERSION}`;
}

async function build(root: string): Promise<boolean> {
  const args = ["install", "denokv", "--version", VERSION, "--locked", "--root", root];
  Deno.stderr.writeSync(new TextEncoder().encode(`building denokv ${VERSION} (first run only; up to 10 minutes)\n`));
  return await succeeds("cargo", args);
}

export class KvServer implements AsyncDisposable {
  readonly url: string;
  readonly #port = findFreePort();
  readonly #options: { readonly program: string; readonly folder: string; readonly token: string };
  #process: RunningProcess | undefined;

  private constructor(options: { readonly program: string; readonly folder: string; readonly token: string }) {
    this.#options = options;
    this.url = `http://127.0.0.1:${this.#port}`;
  }

  static async start(options: { readonly token: string }): Promise<KvServer> {
    const program = await findDenokv();
    if (program === undefined) throw new Error("Cannot start denokv: there is none, and no cargo to build it.");
    const folder = await Deno.makeTempDir({ prefix: "archway-denokv-" });
    const server = new KvServer({ ...options, program, folder });
    await server.restart();
    return server;
  }

  /** Starts it, again; resolves when it takes connections. */
  async restart(): Promise<void> {
    const { program, folder, token } = this.#options;
    const address = `127.0.0.1:${this.#port}`;
    const args = ["--sqlite-path", `${folder}/server.db`, "serve", "--access-token", token, "--addr", address];
    this.#process = RunningProcess.start({ name: "denokv", command: program, args, directory: folder });
    await this.#process.waitReady(() => takesConnections(this.#port));
  }

  async kill(): Promise<void> {
    this.#process?.kill("SIGKILL");
    await this.#process?.ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await Deno.remove(this.#options.folder, { recursive: true });
  }
}

async function takesConnections(port: number): Promise<boolean> {
  (await Deno.connect({ hostname: "127.0.0.1", port })).close();
  return true;
}
