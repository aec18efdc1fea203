import assert from "node:assert/strict";
import { Registry } from "prom-client";
import { ImageBuilds } from "../../../controllers/builds/controller.ts";
import { BuildLabel } from "../../../lib/builds/decide/names.ts";
import { mcoBuildName } from "../../../lib/builds/decide/plan/mco_build_name.ts";
import { BuildMetrics } from "../../../lib/builds/metrics.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import { silentLogger } from "../../../lib/log.ts";
import { openRegistryAccess } from "../../../lib/oci/registry_access.ts";
import { requireKubeObject } from "../../../playground/cluster.ts";
import { openRegistry } from "../../../playground/registry.ts";
import { REGISTRY_USER, samplePullSecret } from "../../../playground/sample_cluster.ts";
import {
  configOf,
  poolObject,
  rawBuild,
  rawBuildNode,
  rawConfig,
  rawPool,
  rawRendered,
  renderedOf,
  SETTINGS,
} from "../../lib/builds/decide/make.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import { MemoryCluster } from "../../support/memory_kube_api.ts";
import { until } from "../../support/until.ts";

const MINUTE = 60_000;
const LABELS = {
  [BuildLabel.pool]: "worker",
  [BuildLabel.rendered]: "rendered-worker-1",
  [BuildLabel.config]: "worker",
};

/** Keeps what is slept for. */
class NotedClock extends FakeClock {
  readonly slept: number[] = [];

  override sleep(ms: number, signal: AbortSignal): Promise<void> {
    this.slept.push(ms);
    return super.sleep(ms, signal);
  }
}

const image = { repository: "org/os", architectures: ["amd64"], form: "oci-manifest" } as const;

Deno.test("a tag that somebody moves becomes a condition within the hour, and goes when it is back", async () => {
  const clock = new NotedClock();
  let requests = 0;
  let isDown = false;
  const intercept = (): Response | undefined => {
    requests++;
    return isDown ? new Response(null, { status: 503 }) : undefined;
  };
  const options = { images: [], user: REGISTRY_USER, intercept };
  await using registry = await openRegistry(options);
  const given = { pushSpec: `${registry.host}/org/os:latest` };
  const tag = mcoBuildName({ config: configOf(given), pool: poolObject(), rendered: renderedOf() });
  const reference = `${registry.host}/org/os@${await registry.push({ ...image, tag })}`;
  const cluster = new MemoryCluster();
  const annotations = { "machineconfiguration.openshift.io/current-machine-os-build": tag };
  cluster.put(Resource.machineOsConfigs, {
    ...rawConfig({ ...given, annotations }),
    status: { currentImagePullSpec: reference, observedGeneration: 1, machineOSBuild: { name: tag } },
  });
  const status = { conditions: [{ type: "Succeeded", status: "True" }], digestedImagePushSpec: reference };
  const named = { name: tag, uid: "mco", repository: `${registry.host}/org/os` };
  cluster.put(Resource.machineOsBuilds, rawBuild({ ...named, metadata: { labels: LABELS }, status }));
  cluster.put(Resource.machineConfigPools, rawPool());
  cluster.put(Resource.machineConfigs, rawRendered());
  cluster.put(Resource.nodes, rawBuildNode({ reported: "amd64" }));
  const { namespace } = SETTINGS;
  const secret = requireKubeObject(samplePullSecret(registry.host));
  for (const name of ["push", "global-pull-secret-copy"]) {
    cluster.put(Resource.secrets, { ...secret, metadata: { ...secret.metadata, name, namespace } });
  }
  const config = { registry: [registry.host], registryCa: [], insecureRegistry: [registry.host] };
  const shared = { clock, log: silentLogger };
  using access = openRegistryAccess({ config, ...shared, userAgent: "archway/test", clusterCredentials: () => [] });
  const controller = new ImageBuilds({
    ...shared,
    api: cluster.api,
    access,
    events: { record: () => {} },
    metrics: new BuildMetrics(new Registry()),
    settings: SETTINGS,
    findBuilder: () => Promise.resolve(""),
  });
  const stop = new AbortController();
  const running = controller.run(stop.signal);
  const condition = (): unknown => {
    const { conditions = [] } = Object(cluster.find("machineosconfigs", "worker")?.["status"]);
    return conditions.find(({ type }: { type: string }) => type === "PublishedImageChanged");
  };
  const reason = (): unknown => Object(condition()).reason;
  await until("is checked at the start", () => requests > 0, () => clock.advance(100));
  const comesAgain = (): boolean => clock.slept.some((ms) => ms >= 25 * MINUTE && ms <= 60 * MINUTE);
  await until("comes again by itself", comesAgain, () => clock.advance(100));
  await registry.push({ ...image, tag, labels: { other: "content" } });
  const before = requests;
  const later = async (minutes: number): Promise<void> => {
    clock.jumpWall(minutes * MINUTE);
    controller.enqueue("worker");
    await clock.advance(100);
  };
  await later(25);
  assert.deepEqual([requests, condition()], [before, undefined]);
  isDown = true;
  await later(35);
  const isOver = (): boolean => requests > before + 3;
  await until("the registry was asked, four times", isOver, () => clock.advance(1_000));
  isDown = false;
  const upMs = clock.nowMs();
  const comesSoon = (): boolean => reason() === "Altered";
  await until("the move is said", comesSoon, () => clock.advance(10_000));
  assert.ok(clock.nowMs() - upMs < 10 * MINUTE, "a registry without an answer is asked again soon");
  await registry.push({ ...image, tag });
  await later(60);
  await until("it is said no more", () => reason() === "AsExpected");
  stop.abort();
  await running;
});
