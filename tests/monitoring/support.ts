// A real Alertmanager and a real Prometheus (Debian packages) on loopback, with TLS and a login, for one test.
import { createAuthority } from "../cluster/support/pki.ts";
import { findFreePort } from "../cluster/support/ports.ts";
import { RunningProcess } from "../cluster/support/process.ts";
import { systemClock } from "../../lib/clock.ts";
import { fixedEndpoint, Upstream, type UpstreamEndpoint } from "../../lib/upgrades/outside/http/upstream.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

/** A running server. Dispose it to stop it and remove its files. */
export interface MonitoringServer extends AsyncDisposable {
  /** Where it is, with its CA and the login that it takes. */
  readonly endpoint: UpstreamEndpoint & { readonly authorization: string };
  /** When its start began (epoch ms). */
  readonly startedMs: number;
  stop(): Promise<void>;
}

const LIMITS = { timeoutMs: 30_000, maxBytes: 1024 * 1024 };

/** The product's client of it. */
export function openUpstream({ endpoint }: Pick<MonitoringServer, "endpoint">, server: string): Upstream {
  const source = fixedEndpoint(endpoint);
  return new Upstream({ server, source, limits: LIMITS, userAgent: "archway-test", clock: systemClock });
}

const PASSWORD = "window-test";
/** Of the password, by bcrypt at the lowest cost: `htpasswd -C 4 -Bbn operator window-test`. */
const HASH = "$2y$04$qhcifDtEaSuYKGEYusC6oecNpFkSw9YwxJDrL1sS.ZN3Laj2kKi7q";

const BASIC = `Basic ${btoa(`operator:${PASSWORD}`)}`;

export async function startAlertmanager(): Promise<MonitoringServer> {
  return await start({
    command: "prometheus-alertmanager",
    config: "route: { receiver: none }\nreceivers: [{ name: none }]\n",
    argsFor: (directory) => [
      `--config.file=${directory}/config.yml`,
      `--storage.path=${directory}/data`,
      "--cluster.listen-address=",
    ],
  });
}

/** Starts Prometheus with rules of one group, evaluated every second. */
export async function startPrometheus(rules: string): Promise<MonitoringServer> {
  return await start({
    command: "prometheus",
    config: "global: { evaluation_interval: 1s }\nrule_files: [rules.yml]\n",
    more: { "rules.yml": rules },
    argsFor: (directory) => [`--config.file=${directory}/config.yml`, `--storage.tsdb.path=${directory}/data`],
  });
}

interface Program {
  readonly command: string;
  readonly config: string;
  readonly more?: Readonly<Record<string, string>>;
  readonly argsFor: (directory: string) => readonly string[];
}

async function start({ command, config, more = {}, argsFor }: Program): Promise<MonitoringServer> {
  const startedMs = Date.now();
  await using undo = new AsyncDisposableStack();
  const { path: directory } = undo.use(await temporaryFolder());
  const authority = await createAuthority("archway test monitoring");
  const serving = await authority.issue({ commonName: command, usage: "server" });
  const files = {
    "config.yml": config,
    "web.yml": "tls_server_config: { cert_file: serving.crt, key_file: serving.key }\n" +
      `basic_auth_users: { operator: "${HASH}" }\n`,
    "serving.crt": serving.certificatePem,
    "serving.key": serving.keyPem,
    ...more,
  };
  for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${directory}/${name}`, text);
  const port = findFreePort();
  const args = [`--web.listen-address=127.0.0.1:${port}`, `--web.config.file=${directory}/web.yml`];
  const all = [...argsFor(directory), ...args];
  const running = undo.use(RunningProcess.start({ name: command, command, args: all, directory }));
  const baseUrl = `https://127.0.0.1:${port}`;
  using client = Deno.createHttpClient({ caCerts: [authority.certificatePem], http2: false, poolMaxIdlePerHost: 0 });
  await running.waitReady(async () => {
    const response = await fetch(`${baseUrl}/-/ready`, { client, headers: { authorization: BASIC } });
    await response.body?.cancel();
    return response.status === 200;
  });
  const opened = undo.move();
  return {
    endpoint: { baseUrl, caCerts: [authority.certificatePem], authorization: BASIC },
    startedMs,
    stop: async () => void await running.stop(),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
