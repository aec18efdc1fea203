// The objects of the Multiarch Tuning Operator, as its manifests and its operator lay them out; none of its processes. Used by
// the tests of taking over from it and of going back.
import { renderFolder } from "../../../manifests/generate/kustomize.ts";
import { Finalizer, WebhookName } from "../../../lib/names.ts";
import { type ClusterAccess } from "./cluster_access.ts";
import { CONFIG, workload } from "./objects.ts";

export const REFERENCE_NAMESPACE = "openshift-multiarch-tuning-operator";

/** Leaves the status of the config as the MTO does: its own condition stays true when nothing of it runs. */
export async function claimAvailable(cluster: Pick<ClusterAccess, "patch">): Promise<void> {
  const condition = {
    ...{ type: "Available", status: "True", reason: "AllComponentsReady", message: "" },
    lastTransitionTime: "2026-01-01T00:00:00Z",
  };
  await cluster.patch(`${CONFIG}/status`, { status: { conditions: [condition] } });
}

const OPERATOR = "multiarch-tuning-operator-controller-manager";
const SERVICE = { namespace: REFERENCE_NAMESPACE, name: `${OPERATOR}-service`, port: 443 };
const INJECT = { "service.beta.openshift.io/inject-cabundle": "true" };
const OPERAND = { "multiarch.openshift.io/operand": "pod-placement-controller" };

/** What `kubectl apply` of its manifests brings, as far as it meets objects of Archway by name, and its Deployment. */
export async function renderReferenceManifests(): Promise<readonly unknown[]> {
  const labels = { "control-plane": "controller-manager" };
  const definitions = (await renderFolder("base/crds")).map((definition) => ({
    ...definition,
    metadata: { name: definition.metadata.name, annotations: INJECT },
    spec: { ...Object(definition["spec"]), ...conversionOf(definition.metadata.name) },
  }));
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: REFERENCE_NAMESPACE } },
    ...definitions,
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: SERVICE.name, namespace: REFERENCE_NAMESPACE },
      spec: { selector: labels, ports: [{ name: "webhook", port: 443, targetPort: 9443 }] },
    },
    renderDeployment(OPERATOR, { labels, finalizers: [] }),
    renderValidatingWebhooks(),
  ];
}

function conversionOf(definition: string): Readonly<Record<string, unknown>> {
  if (!definition.startsWith("clusterpodplacementconfigs")) return {};
  const webhook = { conversionReviewVersions: ["v1"], clientConfig: { service: { ...SERVICE, path: "/convert" } } };
  return { conversion: { strategy: "Webhook", webhook } };
}

function renderValidatingWebhooks(): unknown {
  const webhooks = ["clusterpodplacementconfig", "podplacementconfig"].map((kind) => ({
    name: `validate-${kind}.multiarch.openshift.io`,
    admissionReviewVersions: ["v1"],
    clientConfig: { service: { ...SERVICE, path: `/validate-multiarch-openshift-io-v1beta1-${kind}` } },
    failurePolicy: "Fail",
    sideEffects: "None",
    rules: [{
      ...{ apiGroups: ["multiarch.openshift.io"], apiVersions: ["v1beta1"] },
      ...{ operations: ["CREATE", "UPDATE", "DELETE"], resources: [`${kind}s`] },
    }],
  }));
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: WebhookName.validatingConfiguration, annotations: INJECT },
    webhooks,
  };
}

/** The Deployment of an operand with the finalizer that its operator puts on it. Without pods: nothing runs. */
export function renderOperand(): unknown {
  const labels = { ...OPERAND, controller: "pod-placement-controller" };
  return renderDeployment("pod-placement-controller", { labels, finalizers: [Finalizer.podPlacement] });
}

function renderDeployment(
  name: string,
  { labels, finalizers }: { readonly labels: Readonly<Record<string, string>>; readonly finalizers: readonly string[] },
): unknown {
  const metadata = { namespace: REFERENCE_NAMESPACE, labels, finalizers };
  return workload("Deployment", name, { replicas: 0, labels, metadata });
}

/** The webhook configuration that its operator writes for a config of that uid. */
export function renderReferenceWebhook(
  uid: string,
  namespaceSelector: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: {
      name: WebhookName.configuration,
      labels: { ...OPERAND, controller: "pod-placement-web-hook" },
      annotations: INJECT,
      ownerReferences: [{
        apiVersion: "multiarch.openshift.io/v1beta1",
        kind: "ClusterPodPlacementConfig",
        name: "cluster",
        uid,
        controller: true,
        blockOwnerDeletion: true,
      }],
    },
    webhooks: [{
      name: "pod-placement-scheduling-gate.multiarch.openshift.io",
      admissionReviewVersions: ["v1"],
      clientConfig: {
        service: { namespace: REFERENCE_NAMESPACE, name: "pod-placement-web-hook", path: "/add-pod-scheduling-gate" },
      },
      namespaceSelector,
      failurePolicy: "Ignore",
      sideEffects: "None",
      rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] }],
    }],
  };
}
