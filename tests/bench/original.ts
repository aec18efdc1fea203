// The Multiarch Tuning Operator as a contender: its webhook and its controller, built from a copy of its repository, a replica of each.
import { issueLoopbackCertificates } from "../../playground/listen.ts";
import { type ClusterAccess } from "../cluster/support/cluster_access.ts";
import { clusterConfig, CONFIG, CONFIGS } from "../cluster/support/objects.ts";
import { RunningProcess } from "../cluster/support/process.ts";
import { waitUntil } from "../cluster/support/wait.ts";
import { runCommand } from "../support/commands.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import type { Contender, StartContender } from "./contender.ts";
import { registerPodWebhook } from "./constant_webhook.ts";

/** Its port is fixed. */
const PORT = 9443;
const PATH = "/add-pod-scheduling-gate";
/** Without the C libraries that its images have; what it does here needs none of them. */
const BUILD_TAGS = "containers_image_openpgp,exclude_graphdriver_btrfs,exclude_graphdriver_devicemapper";
const BINARY = new URL("../../.archway/original", import.meta.url).pathname;

export interface OriginalContender extends Contender {
  readonly webhook: { readonly port: number; readonly path: string; readonly caPem: string };
}

export async function originalStarter(directory: string): Promise<StartContender<OriginalContender>> {
  const args = ["build", "-mod=vendor", "-tags", BUILD_TAGS, "-o", BINARY, "./cmd"];
  await runCommand("go", args, { cwd: directory });
  return async (bed, spec = {}) => {
    const { controlPlane, proxy } = bed;
    await using undo = new AsyncDisposableStack();
    const { path: home } = undo.use(await temporaryFolder());
    const { authority, serving } = await issueLoopbackCertificates(Date.now());
    await Deno.writeTextFile(`${home}/tls.crt`, serving.cert);
    await Deno.writeTextFile(`${home}/tls.key`, serving.key);
    await controlPlane.request("POST", CONFIGS, clusterConfig(spec));
    undo.defer(() => removeConfig(controlPlane));
    const namespace = await controlPlane.createNamespace("original");
    const env = {
      KUBECONFIG: controlPlane.kubeconfigFile,
      NAMESPACE: namespace,
      SSL_CERT_FILE: proxy.caFile,
      XDG_CACHE_HOME: home,
    };
    for (const part of ["webhook", "controllers"]) {
      const ports = ["--metrics-bind-address=0", "--health-probe-bind-address=0", `--cert-dir=${home}`];
      const args = [`--enable-ppc-${part}`, "--enable-cppc-informer", ...ports];
      undo.use(RunningProcess.start({ name: part, command: BINARY, args, directory: home, env }));
    }
    await waitUntil("its webhook to listen", isListening);
    const url = `https://127.0.0.1:${PORT}${PATH}`;
    undo.use(
      await registerPodWebhook(controlPlane, { name: "original", url, caPem: authority, failurePolicy: "Ignore" }),
    );
    const owned = undo.move();
    const webhook = { port: PORT, path: PATH, caPem: authority };
    return { name: "original", webhook, [Symbol.asyncDispose]: () => owned.disposeAsync() };
  };
}

async function isListening(): Promise<boolean> {
  try {
    (await Deno.connect({ hostname: "127.0.0.1", port: PORT })).close();
    return true;
  } catch {
    return false;
  }
}

/** An operator that is there lets go of its config; for one that does not, its finalizers are taken off. */
async function removeConfig(cluster: ClusterAccess): Promise<void> {
  await cluster.request("DELETE", CONFIG);
  const isGone = async (): Promise<boolean> => !await cluster.exists(CONFIG);
  await waitUntil("the config to go", isGone, { deadlineMs: 10_000 }).catch(async () => {
    await cluster.request("PATCH", CONFIG, { metadata: { finalizers: null } });
    await waitUntil("the config to go without its finalizers", isGone);
  });
}
