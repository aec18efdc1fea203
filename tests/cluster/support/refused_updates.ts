// A policy of another component, under which a pod that is there cannot be changed.
import { type ClusterAccess } from "./cluster_access.ts";
import { renderPod } from "./pods.ts";
import { waitUntil } from "./wait.ts";

const NAME = "frozen";
const ADMISSION = "/apis/admissionregistration.k8s.io/v1";
const POLICIES = `${ADMISSION}/validatingadmissionpolicies`;
const BINDINGS = `${ADMISSION}/validatingadmissionpolicybindings`;
/** Only to see that the policy is at work. */
const PROBE = "frozen-probe";

export const FROZEN: Readonly<Record<string, string>> = { [NAME]: "yes" };

/** From now on pods with the label {@link FROZEN} stay as they are; gives the way to lift that. */
export async function refuseUpdates(cluster: ClusterAccess, namespace: string): Promise<() => Promise<void>> {
  const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["pods"] };
  const label = `(request.operation == 'CREATE' ? '${PROBE}' : '${NAME}')`;
  const policy = {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: NAME },
    spec: {
      matchConstraints: { resourceRules: [rule] },
      validations: [{ expression: `!(${label} in object.metadata.?labels.orValue({}))`, message: "it stays as it is" }],
    },
  };
  const binding = {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name: NAME },
    spec: { policyName: NAME, validationActions: ["Deny"] },
  };
  await cluster.create(POLICIES, policy);
  await cluster.create(BINDINGS, binding);
  await waitUntil("the policy to refuse", async () => {
    const pod = renderPod({ name: "probe", images: ["probe.invalid/a"], labels: { [PROBE]: "yes" } });
    return (await cluster.request("POST", `/api/v1/namespaces/${namespace}/pods?dryRun=All`, pod)).status >= 400;
  });
  return async () => {
    for (const path of [BINDINGS, POLICIES]) {
      await cluster.delete(`${path}/${NAME}`);
    }
  };
}
