// The files and flags of each server of a control plane. Pure but for writing the files.
import type { Coordinates } from "./cluster_access.ts";
import { createAuthority, exportKeyPem, generateSigningKeys } from "./pki.ts";

export interface ServerPorts {
  readonly etcd: number;
  readonly etcdPeer: number;
  readonly apiServer: number;
  readonly controllerManager: number;
  readonly scheduler: number;
  readonly kwok: number;
}

export interface ServerFlags {
  readonly "etcd"?: readonly string[];
  readonly "kube-apiserver"?: readonly string[];
  readonly "kube-controller-manager"?: readonly string[];
  readonly "kube-scheduler"?: readonly string[];
  readonly "kwok"?: readonly string[];
}

/** What a control plane with real kubelets has besides. */
export interface RealNodes {
  /** Address of the API server that the nodes and pods reach. */
  readonly address: string;
  /** Node names; each gets the token `NAME-token`. */
  readonly names: readonly string[];
}

export interface ServerPlan {
  readonly realNodes: RealNodes | undefined;
  readonly directory: string;
  readonly ports: ServerPorts;
  readonly caFile: string;
  readonly caPem: string;
  readonly adminToken: string;
  readonly kubeconfigFile: string;
}

const AUDIT_POLICY = JSON.stringify({
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [{ level: "Metadata" }],
});

export async function writeServerFiles(
  directory: string,
  { ports, realNodes }: { readonly ports: ServerPorts; readonly realNodes?: RealNodes | undefined },
): Promise<ServerPlan> {
  const authority = await createAuthority("archway test control plane");
  const serving = await authority.issue({
    commonName: "kube-apiserver",
    usage: "server",
    names: [
      ...["localhost", "127.0.0.1", "kubernetes.default.svc", "10.0.0.1"],
      ...(realNodes === undefined ? [] : [realNodes.address, FIRST_SERVICE_ADDRESS]),
    ],
  });
  const kubeletClient = await authority.issue({ commonName: "kube-apiserver-kubelet-client", usage: "client" });
  const serviceAccountKeys = await generateSigningKeys();
  const adminToken = crypto.getRandomValues(new Uint8Array(24)).toHex();
  const files: Readonly<Record<string, string>> = {
    "ca.crt": authority.certificatePem,
    "serving.crt": serving.certificatePem,
    "serving.key": serving.keyPem,
    "service-account.key": await exportKeyPem(serviceAccountKeys.privateKey),
    "service-account.pub": await exportKeyPem(serviceAccountKeys.publicKey),
    "kubelet-client.crt": kubeletClient.certificatePem,
    "kubelet-client.key": kubeletClient.keyPem,
    "tokens.csv": renderTokens(adminToken, realNodes),
    "audit-policy.json": AUDIT_POLICY,
  };
  for (const [name, text] of Object.entries(files)) {
    await Deno.writeTextFile(`${directory}/${name}`, text, { mode: 0o600 });
  }
  return {
    realNodes,
    directory,
    ports,
    caFile: `${directory}/ca.crt`,
    caPem: authority.certificatePem,
    adminToken,
    kubeconfigFile: `${directory}/admin.kubeconfig`,
  };
}

/** Of the Service "kubernetes" when there are real nodes. */
const FIRST_SERVICE_ADDRESS = "10.96.0.1";

function renderTokens(adminToken: string, realNodes: RealNodes | undefined): string {
  const nodes = realNodes?.names ?? [];
  const lines = [
    `${adminToken},admin,admin,system:masters`,
    ...nodes.map((name) => `${name}-token,system:node:${name},${name},system:nodes`),
    ...(nodes.length === 0 ? [] : ["proxy-token,system:kube-proxy,proxy"]),
  ];
  return `${lines.join("\n")}\n`;
}

/** The flags of one server. Source: the servers' `--help`, v1.36.3, v3.6.4, v0.7.0. */
export function renderFlags(name: keyof ServerFlags, plan: ServerPlan, coordinates: Coordinates): readonly string[] {
  switch (name) {
    case "etcd":
      return renderEtcd(plan);
    case "kube-apiserver":
      return renderApiServer(plan, coordinates);
    case "kube-controller-manager":
      return [
        ...renderClient(plan, plan.ports.controllerManager),
        `--service-account-private-key-file=${plan.directory}/service-account.key`,
        `--root-ca-file=${plan.caFile}`,
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
        // The kubelets report every two seconds; 50 s would be waited for whenever a test takes a node away.
        ...(plan.realNodes === undefined ? [] : ["--node-monitor-grace-period=16s"]),
      ];
    case "kube-scheduler":
      return [...renderClient(plan, plan.ports.scheduler), "--kube-api-qps=2000", "--kube-api-burst=4000"];
    case "kwok":
      return [
        `--kubeconfig=${plan.kubeconfigFile}`,
        "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
        `--server-address=127.0.0.1:${plan.ports.kwok}`,
      ];
  }
}

function renderEtcd({ directory, ports }: ServerPlan): readonly string[] {
  const client = `http://127.0.0.1:${ports.etcd}`;
  const peer = `http://127.0.0.1:${ports.etcdPeer}`;
  return [
    `--data-dir=${directory}/etcd`,
    "--unsafe-no-fsync",
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    "--quota-backend-bytes=8589934592",
  ];
}

function renderApiServer(plan: ServerPlan, { auditLogFile }: Coordinates): readonly string[] {
  const { directory, ports, caFile } = plan;
  return [
    `--etcd-servers=http://127.0.0.1:${ports.etcd}`,
    `--secure-port=${ports.apiServer}`,
    `--cert-dir=${directory}`,
    `--tls-cert-file=${directory}/serving.crt`,
    `--tls-private-key-file=${directory}/serving.key`,
    `--client-ca-file=${caFile}`,
    `--token-auth-file=${directory}/tokens.csv`,
    `--service-account-key-file=${directory}/service-account.pub`,
    `--service-account-signing-key-file=${directory}/service-account.key`,
    // Without it an orderly end waits a minute for the watches of the other servers.
    "--shutdown-watch-termination-grace-period=1s",
    ...(plan.realNodes === undefined ? renderAlone(ports) : renderWithNodes(directory, plan.realNodes)),
    ...(auditLogFile === undefined ? [] : [
      `--audit-policy-file=${directory}/audit-policy.json`,
      `--audit-log-path=${auditLogFile}`,
      "--audit-log-maxsize=10000",
    ]),
  ];
}

/** Nothing but the tests reaches the API server, and pods need no ServiceAccount, so a new namespace takes pods at once. */
function renderAlone(ports: ServerPorts): readonly string[] {
  return [
    "--bind-address=127.0.0.1",
    "--advertise-address=127.0.0.1",
    // The endpoints of the Service "kubernetes" may not be loopback addresses.
    "--endpoint-reconciler-type=none",
    `--service-account-issuer=https://127.0.0.1:${ports.apiServer}`,
    "--authorization-mode=RBAC",
    "--service-cluster-ip-range=10.0.0.0/24",
    "--disable-admission-plugins=ServiceAccount",
  ];
}

function renderWithNodes(directory: string, { address }: RealNodes): readonly string[] {
  return [
    "--bind-address=0.0.0.0",
    `--advertise-address=${address}`,
    "--service-account-issuer=https://kubernetes.default.svc",
    "--authorization-mode=Node,RBAC",
    "--enable-admission-plugins=NodeRestriction",
    "--service-cluster-ip-range=10.96.0.0/24",
    `--kubelet-client-certificate=${directory}/kubelet-client.crt`,
    `--kubelet-client-key=${directory}/kubelet-client.key`,
    "--kubelet-preferred-address-types=InternalIP",
    "--allow-privileged=true",
  ];
}

function renderClient({ directory, kubeconfigFile }: ServerPlan, port: number): readonly string[] {
  return [
    `--kubeconfig=${kubeconfigFile}`,
    `--authentication-kubeconfig=${kubeconfigFile}`,
    `--authorization-kubeconfig=${kubeconfigFile}`,
    "--leader-elect=false",
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`,
    `--tls-cert-file=${directory}/serving.crt`,
    `--tls-private-key-file=${directory}/serving.key`,
  ];
}
