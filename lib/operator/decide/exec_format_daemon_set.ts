// The DaemonSet of the exec format error monitor, under the MTO's name and labels: one daemon on each Linux node that its
// image is built for, with the least that tracing the kernel takes.
import type { V1Container, V1DaemonSet, V1EnvVar, V1NodeSelector, V1Probe } from "@kubernetes/client-node";
import { KNOWN_ARCHITECTURES } from "../../arch.ts";
import type { KubeObject, Wire } from "../../k8s/types.ts";
import { ExecFormatMonitor, NODE_ARCH_LABEL, NODE_OS_LABEL } from "../../names.ts";
import type { OperandConfig } from "./config_view.ts";
import { renderOwnerReference } from "./webhooks.ts";

export interface DaemonSettings {
  readonly namespace: string;
  /** Archway's image with `bpftrace` in it. */
  readonly image: string;
}

/** What the image of the daemon is built for. Elsewhere the agentless part serves. */
const BUILT_FOR: readonly string[] = KNOWN_ARCHITECTURES.slice(0, 2);
const PORT = 8080;
const TRACING = "/sys/kernel/tracing";

/** The object that shall exist while the plugin is on. */
export function renderDaemonSet(config: OperandConfig, { namespace, image }: DaemonSettings): KubeObject {
  const name = ExecFormatMonitor.daemon;
  const labels = { app: name };
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name, namespace, labels, ownerReferences: [renderOwnerReference(config)] },
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "10%" } },
      template: {
        metadata: { labels, annotations: { "openshift.io/required-scc": "privileged" } },
        spec: {
          serviceAccountName: name,
          automountServiceAccountToken: true,
          priorityClassName: "system-node-critical",
          terminationGracePeriodSeconds: 10,
          // Also nodes that are kept for others: the wrong image may be on any.
          tolerations: [{ operator: "Exists" }],
          affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: NODES } },
          containers: [renderContainer(image)],
          volumes: [{ name: "tracing", hostPath: { path: TRACING, type: "Directory" } }],
        },
      },
    },
  } satisfies Wire<V1DaemonSet>;
}

const NODES: Wire<V1NodeSelector> = {
  nodeSelectorTerms: [{
    matchExpressions: [
      { key: NODE_ARCH_LABEL, operator: "In", values: [...BUILT_FOR] },
      { key: NODE_OS_LABEL, operator: "In", values: ["linux"] },
    ],
  }],
};

function renderContainer(image: string): Wire<V1Container> {
  const field = (name: string, fieldPath: string): Wire<V1EnvVar> => ({
    name,
    valueFrom: { fieldRef: { fieldPath } },
  });
  const probe = (path: string): Wire<V1Probe> => ({
    httpGet: { path, port: "admin" },
    periodSeconds: 10,
    timeoutSeconds: 5,
  });
  return {
    name: ExecFormatMonitor.daemon,
    image,
    imagePullPolicy: "IfNotPresent",
    args: ["enoexec-daemon", "--node-name=$(NODE_NAME)", "--namespace=$(NAMESPACE)"],
    env: [field("NODE_NAME", "spec.nodeName"), field("NAMESPACE", "metadata.namespace")],
    ports: [{ name: "admin", containerPort: PORT }],
    readinessProbe: probe("/readyz"),
    livenessProbe: probe("/healthz"),
    // Measured: 145 MB, and 115 MB of libraries that the kernel may drop.
    resources: { requests: { cpu: "10m", memory: "192Mi" }, limits: { memory: "320Mi" } },
    // Not privileged: BPF loads the programs, PERFMON attaches them and reads what they find.
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"], add: ["BPF", "PERFMON"] },
      readOnlyRootFilesystem: true,
      runAsNonRoot: false,
      runAsUser: 0,
    },
    volumeMounts: [{ name: "tracing", mountPath: TRACING, readOnly: true }],
  };
}
