// The Managed Upgrade Operator's own binary, as a pod of its Deployment would run it. Its stand-ins: see ../README.md.
import { Upgrades } from "../../../lib/upgrades/names.ts";
import type { ClusterAccess } from "../../cluster/support/cluster_access.ts";
import { mountAccount } from "../../cluster/support/mounted_account.ts";
import { RunningProcess } from "../../cluster/support/process.ts";
import { waitUntil } from "../../cluster/support/wait.ts";

const NAME = "managed-upgrade-operator";
export const OPERATOR_ACCOUNT = `system:serviceaccount:${Upgrades.namespace}:${NAME}`;
/** That of the metrics of the plan cannot be chosen. */
export const STATE_METRICS = "127.0.0.1:8089";
const WITH_HOSTS = `set -e; mount --bind "$1" /etc/hosts; shift; exec setpriv --pdeathsig KILL -- "$@"`;
const MONITORS = "/apis/monitoring.coreos.com/v1/servicemonitors";

/** What it writes about itself, and has the rights for. */
async function installFor(cluster: ClusterAccess): Promise<void> {
  const names = {
    plural: "servicemonitors",
    singular: "servicemonitor",
    kind: "ServiceMonitor",
    listKind: "ServiceMonitorList",
  };
  const openAPIV3Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const metadata = { name: NAME };
  await cluster.apply([
    {
      ...{ apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition" },
      metadata: { name: "servicemonitors.monitoring.coreos.com" },
      spec: {
        ...{ group: "monitoring.coreos.com", scope: "Namespaced", names },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
      },
    },
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { ...metadata, namespace: Upgrades.namespace } },
    {
      ...{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRoleBinding", metadata },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
      subjects: [{ kind: "ServiceAccount", namespace: Upgrades.namespace, name: NAME }],
    },
  ]);
  await waitUntil("the kind ServiceMonitor to be served", () => cluster.exists(MONITORS));
}

export interface OperatorOptions {
  readonly program: string;
  readonly directory: string;
  /** The contents of `/etc/hosts`. */
  readonly hosts: string;
  readonly metrics: string;
  readonly probe: string;
}

export async function startOperator(
  cluster: ClusterAccess,
  { program, directory, hosts, metrics, probe }: OperatorOptions,
): Promise<RunningProcess> {
  await installFor(cluster);
  const kubeconfig = await cluster.serviceAccountKubeconfig({ namespace: Upgrades.namespace, name: NAME });
  const account = await mountAccount(kubeconfig, directory);
  await Deno.writeTextFile(`${directory}/hosts`, hosts);
  const [command, ...leading] = account.prefix;
  return RunningProcess.start({
    ...{ name: NAME, command, directory },
    args: [
      ...[...leading, "sh", "-c", WITH_HOSTS, "sh", `${directory}/hosts`, program],
      ...[`--metrics-bind-address=${metrics}`, `--health-probe-bind-address=${probe}`],
    ],
    env: {
      ...{
        WATCH_NAMESPACE: Upgrades.namespace,
        OPERATOR_NAMESPACE: Upgrades.namespace,
        OPERATOR_NAME: NAME,
        POD_NAME: "one",
      },
      ...{ NO_PROXY: "127.0.0.1,.svc,.cluster.local", no_proxy: "127.0.0.1,.svc,.cluster.local" },
      ...account.env,
    },
  });
}
