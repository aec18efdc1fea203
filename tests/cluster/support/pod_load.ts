// A steady stream of pod creations that counts what fails.
import type { ClusterAccess } from "./cluster_access.ts";
import { renderPod } from "./pods.ts";
import { repeatedly } from "./wait.ts";

export interface LoadResult {
  readonly created: number;
  /** Answers other than 201, and requests without an answer. */
  readonly failures: readonly string[];
}

export interface PodLoad {
  readonly created: () => number;
  stop(): Promise<LoadResult>;
}

export function startPodLoad(
  cluster: ClusterAccess,
  namespace: string,
  { images, everyMs = 50, specOf = () => ({}) }: {
    readonly images: readonly string[];
    readonly everyMs?: number;
    /** Other members of the pod's `spec`, by its number. */
    readonly specOf?: (number: number) => Readonly<Record<string, unknown>>;
  },
): PodLoad {
  const failures: string[] = [];
  const underWay: Promise<void>[] = [];
  let [created, next] = [0, 0];
  const create = async (number: number): Promise<void> => {
    const [image = ""] = images.slice(number % images.length);
    const pod = renderPod({ name: `${namespace}-${number}`, images: [image], spec: specOf(number) });
    try {
      const { status, body } = await cluster.request("POST", `/api/v1/namespaces/${namespace}/pods`, pod);
      if (status === 201) created++;
      else failures.push(`${status} ${JSON.stringify(body)}`);
    } catch (error) {
      failures.push(String(error));
    }
  };
  const running = repeatedly(everyMs, () => Promise.resolve(underWay.push(create(next++))));
  return {
    created: () => created,
    stop: async () => {
      await running[Symbol.asyncDispose]();
      await Promise.all(underWay);
      return { created, failures };
    },
  };
}

/** Webhook calls that the API server let pass unanswered (`failurePolicy: Ignore`) since it started. */
export async function failedWebhookCalls(cluster: ClusterAccess): Promise<number> {
  return String(await cluster.get("/metrics")).split("\n")
    .filter((line) => line.startsWith("apiserver_admission_webhook_fail_open_count{"))
    .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}
