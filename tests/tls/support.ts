// The Go program of tests/tls/server: built once, started, asked through its standard streams.
import { ensureGoProgram, pinnedCacheDirectory } from "../support/go_build.ts";
import { linesOf } from "../support/lines.ts";

export interface TlsConfiguration {
  readonly name: string;
  /** How clients must call it; it leads to 127.0.0.1, through the proxy when it does not resolve. */
  readonly host: string;
  readonly port: number;
  readonly ca: string;
  /** PEM; empty: none. */
  readonly clientCertificate: string;
  readonly clientKey: string;
  /** What Go's client says: `ok` or its error. */
  readonly go: string;
}

export interface TlsServers extends AsyncDisposable {
  readonly configurations: readonly TlsConfiguration[];
  /** A proxy whose tunnels lead to 127.0.0.1 whatever name is asked for. */
  readonly proxy: string;
  /** How many requests of Archway each has answered, by name. */
  requests(): Promise<Readonly<Record<string, number>>>;
}

const MODULE = new URL("server/", import.meta.url);
const FILES = [...Deno.readDirSync(MODULE)].map(({ name }) => name).sort();

/** Starts all servers; those of another start have other certificates, private keys are kept. */
export async function startTlsServers(): Promise<TlsServers> {
  const directory = await pinnedCacheDirectory("tls", FILES.map((name) => new URL(name, MODULE)));
  const tlsserver = { name: "tlsserver", module: MODULE, package: ".", linkerFlags: "-s -w" };
  const child = new Deno.Command(await ensureGoProgram(tlsserver, directory), {
    args: [`${directory}/../tls-keys`],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const input = child.stdin.getWriter();
  const lines = linesOf(child.stdout);
  const next = async (): Promise<string> => (await lines.next()).value ?? "{}";
  const { configurations, proxy } = JSON.parse(await next());
  return {
    configurations,
    proxy,
    requests: async () => {
      await input.write(new TextEncoder().encode("\n"));
      return JSON.parse(await next());
    },
    [Symbol.asyncDispose]: async () => {
      await input.close();
      while (!(await lines.next()).done);
      await child.status;
    },
  };
}
