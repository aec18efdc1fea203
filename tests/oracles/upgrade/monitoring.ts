// A real Prometheus and a real Alertmanager (Debian packages) where both programs look for those of OpenShift: by the names of
// their Services, with the CA that a ConfigMap holds. Prometheus scrapes the operator, which asks it what it has notified of.
import { Upgrades } from "../../../lib/upgrades/names.ts";
import type { ClusterAccess } from "../../cluster/support/cluster_access.ts";
import { createAuthority } from "../../cluster/support/pki.ts";
import { findFreePort } from "../../cluster/support/ports.ts";
import { RunningProcess } from "../../cluster/support/process.ts";

const NAMESPACE = "openshift-monitoring";
const SERVERS = { prometheus: "prometheus-k8s", alertmanager: "alertmanager-main" } as const;
const NAMES = Object.values(SERVERS).flatMap((
  name,
) => [`${name}.${NAMESPACE}.svc`, `${name}.${NAMESPACE}.svc.cluster.local`]);

export interface Monitoring extends AsyncDisposable {
  /** A line of `/etc/hosts`. */
  readonly hosts: string;
  silences(): Promise<readonly unknown[]>;
}

/** Starts both, and leads the Services of the cluster to them. */
export async function startMonitoring(cluster: ClusterAccess, scraped: readonly string[]): Promise<Monitoring> {
  await using undo = new AsyncDisposableStack();
  const directory = await Deno.makeTempDir({ prefix: "archway-upgrade-monitoring-" });
  undo.defer(() => Deno.remove(directory, { recursive: true }));
  const authority = await createAuthority("archway oracle service CA");
  const serving = await authority.issue({ commonName: "monitoring", usage: "server", names: [...NAMES, "127.0.0.1"] });
  const targets = JSON.stringify(scraped);
  const files = {
    "prometheus.yml": "global: { scrape_interval: 1s }\n" +
      `scrape_configs: [{ job_name: ${Upgrades.namespace}, static_configs: [{ targets: ${targets} }] }]\n`,
    "alertmanager.yml": "route: { receiver: none }\nreceivers: [{ name: none }]\n",
    "web.yml": "tls_server_config: { cert_file: serving.crt, key_file: serving.key }\n",
    "serving.crt": serving.certificatePem,
    "serving.key": serving.keyPem,
  };
  for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${directory}/${name}`, text);
  const client = undo.adopt(Deno.createHttpClient({ caCerts: [authority.certificatePem] }), (one) => one.close());
  const start = async (command: string, args: readonly string[]): Promise<number> => {
    const port = findFreePort();
    const web = [`--web.listen-address=127.0.0.1:${port}`, `--web.config.file=${directory}/web.yml`];
    const running = undo.use(RunningProcess.start({ name: command, command, args: [...args, ...web], directory }));
    await running.waitReady(async () => {
      const response = await fetch(`https://127.0.0.1:${port}/-/ready`, { client });
      await response.body?.cancel();
      return response.ok;
    });
    return port;
  };
  const prometheus = await start("prometheus", [
    `--config.file=${directory}/prometheus.yml`,
    `--storage.tsdb.path=${directory}/prometheus`,
  ]);
  const alertmanager = await start("prometheus-alertmanager", [
    `--config.file=${directory}/alertmanager.yml`,
    `--storage.path=${directory}/alertmanager`,
    "--cluster.listen-address=",
  ]);
  await cluster.apply([
    ...[[SERVERS.prometheus, prometheus] as const, [SERVERS.alertmanager, alertmanager] as const].map((
      [name, port],
    ) => ({
      ...{ apiVersion: "v1", kind: "Service", metadata: { namespace: NAMESPACE, name } },
      spec: { ports: [{ name: "web", port }] },
    })),
    {
      ...{ apiVersion: "v1", kind: "ConfigMap", data: { "service-ca.crt": authority.certificatePem } },
      metadata: { namespace: NAMESPACE, name: "serving-certs-ca-bundle" },
    },
  ]);
  const owned = undo.move();
  return {
    hosts: `127.0.0.1 ${NAMES.join(" ")}\n`,
    silences: async () => {
      const response = await fetch(`https://127.0.0.1:${alertmanager}/api/v2/silences`, { client });
      return [await response.json()].flat();
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
