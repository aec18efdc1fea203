// A policy of another component, under which a pod that is there cannot be changed.
import { type ClusterAccess } from "./cluster_access.ts";
import { denyPods } from "./objects.ts";
import { renderPod } from "./pods.ts";
import { waitUntil } from "./wait.ts";

const NAME = "frozen";
/** Only to see that the policy is at work. */
const PROBE = "frozen-probe";

export const FROZEN: Readonly<Record<string, string>> = { [NAME]: "yes" };

/** From now on pods with the label {@link FROZEN} stay as they are; gives the way to lift that. */
export async function refuseUpdates(cluster: ClusterAccess, namespace: string): Promise<() => Promise<void>> {
  const label = `(request.operation == 'CREATE' ? '${PROBE}' : '${NAME}')`;
  const lift = await denyPods(cluster, {
    ...{ name: NAME, operations: ["CREATE", "UPDATE"], message: "it stays as it is" },
    expression: `!(${label} in object.metadata.?labels.orValue({}))`,
  });
  await waitUntil("the policy to refuse", async () => {
    const pod = renderPod({ name: "probe", images: ["probe.invalid/a"], labels: { [PROBE]: "yes" } });
    return (await cluster.request("POST", `/api/v1/namespaces/${namespace}/pods?dryRun=All`, pod)).status >= 400;
  });
  return lift;
}
