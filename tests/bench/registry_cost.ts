// B4: how many requests a registry gets for images that are new, known, or to be looked at again.
import { createDeployment, createPods, isReleased, type PodSpec, waitForPods } from "../cluster/support/pods.ts";
import { pause } from "../cluster/support/wait.ts";
import { index } from "../cluster/support/walk_bed.ts";
import type { Bench } from "./bench.ts";
import { removeNamespace } from "./burst.ts";
import { startArchwayContender } from "./contender.ts";
import { type Row, rowOf } from "./table.ts";

/** Pods of about the same second share one look at a tag. */
const SAME_MOMENT_MS = 2_000;

export async function benchRegistryCost(bench: Bench): Promise<readonly Row[]> {
  const { bed, options: { images: count, pods }, round } = bench;
  await using _contender = await startArchwayContender(bed);
  const numbers = Array.from({ length: count }, (_, number) => number);
  const indexes = await Promise.all(numbers.map((number) => pushLatest(bench, `cost/index-${round}-${number}`)));
  const singles = await Promise.all(
    numbers.map((number) => bed.push(`cost/single-${round}-${number}`, { single: { architecture: "arm64" } })),
  );
  const cold = await requestsFor(bench, indexes.map(({ tagged }) => tagged));
  const known = await requestsFor(bench, indexes.map(({ pinned }) => pinned));
  await pause(SAME_MOMENT_MS);
  const again = await requestsFor(bench, indexes.map(({ tagged }) => tagged));
  const single = await requestsFor(bench, singles);
  const replicas = await requestsOfReplicas(bench, pods);
  bench.keep("registryCost", { images: count, cold, known, again, single, replicas });
  const row = (measure: string, requests: number, value: number): Row =>
    rowOf(measure, requests, { kind: "exactly", value });
  return [
    row("B4 requests a cold public index", cold.all / count, 1),
    row("B4 requests a cold single manifest (it and its config)", single.all / count, 2),
    row("B4 requests a known digest", known.all / count, 0),
    row("B4 HEADs to look at a tag again", again.manifestHead / count, 1),
    row("B4 other requests to look at a tag again", (again.all - again.manifestHead) / count, 0),
    row(`B4 requests for ${pods} replicas of a cold image`, replicas.all, 1),
  ];
}

interface Counted {
  readonly all: number;
  readonly manifestHead: number;
}

/** An image under `latest`, which the API server pulls `Always`: its tag is looked at again for each pod. */
async function pushLatest(
  { bed }: Bench,
  repository: string,
): Promise<{ readonly tagged: string; readonly pinned: string }> {
  const { digest } = await bed.registry.push(repository, "latest", index("amd64", "arm64"));
  const name = `${bed.proxy.host}/${repository}`;
  return { tagged: `${name}:latest`, pinned: `${name}@${digest}` };
}

async function requestsFor({ bed, tell }: Bench, images: readonly string[]): Promise<Counted> {
  const { controlPlane, proxy } = bed;
  const namespace = await controlPlane.createNamespace("cost");
  const pods: readonly PodSpec[] = images.map((image, number) => ({ name: `pod-${number}`, images: [image] }));
  proxy.reset();
  await createPods(controlPlane, namespace, { pods });
  await waitForPods(controlPlane, namespace, { count: pods.length, until: isReleased });
  const counts = proxy.counts();
  tell(`${images.length} pods of ${images[0]} and the like: ${JSON.stringify(counts)}`);
  await removeNamespace(controlPlane, namespace);
  return { all: proxy.requests().length, manifestHead: counts.manifestHead };
}

async function requestsOfReplicas({ bed, round }: Bench, replicas: number): Promise<Counted> {
  const { controlPlane, proxy } = bed;
  const image = await bed.push(`cost/replicas-${round}`, index("amd64", "arm64"));
  const namespace = await controlPlane.createNamespace("replicas");
  proxy.reset();
  const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments?propagationPolicy=Background`;
  await createDeployment(controlPlane, namespace, { name: "app", images: [image], replicas });
  await waitForPods(controlPlane, namespace, {
    count: replicas,
    until: isReleased,
    deadlineMs: 300_000,
    intervalMs: 500,
  });
  const counted = { all: proxy.requests().length, manifestHead: proxy.counts().manifestHead };
  await controlPlane.request("DELETE", deployments);
  await removeNamespace(controlPlane, namespace);
  return counted;
}
