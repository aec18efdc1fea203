// Flags of optional capabilities, shown by the controller that each switches on.
import assert from "node:assert/strict";
import type { Config } from "../../../lib/config/parse.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import { silentLogger } from "../../../lib/log.ts";
import { withoutFailed } from "../../../serve/clients.ts";
import { NAMESPACE as MONITORED, openMonitorScene } from "../../controllers/enoexec/make.ts";
import { openScene } from "../../controllers/make.ts";
import { NAMESPACE, openBench } from "../../controllers/operator/make.ts";
import { openImageBed } from "../../support/image_bed.ts";
import { type Checks, serveConfig } from "./support.ts";

/** Lists of pods that the monitor of exec format errors asks for. */
async function podLists({ execFormatErrors: watchesPods, repairExecFormatErrors: repairs }: Config): Promise<number> {
  const { cluster } = openScene();
  let lists = 0;
  const api = cluster.client(({ verb, plural }) => void (lists += verb === "list" && plural === "pods" ? 1 : 0));
  const settings = { namespace: MONITORED, watchesPods, repairs };
  await openMonitorScene({ api, settings }).run(() => Promise.resolve());
  return lists;
}

/** DaemonSets that the operator makes while the plugin is on. */
async function daemonSets({ execFormatImage }: Config): Promise<number> {
  await using bench = await openBench({}, { execFormatImage });
  await bench.createConfig({ plugins: { execFormatErrorMonitor: { enabled: true } } });
  bench.start();
  await bench.until("a condition of the monitor", async () => (await bench.conditions()).length > 0);
  const list = async (): Promise<number> =>
    (await bench.api.list(Resource.daemonSets, { namespace: NAMESPACE }, bench.signal)).items.length;
  if (execFormatImage !== undefined) await bench.until("a DaemonSet", async () => await list() > 0);
  return await list();
}

/** Of the command line. */
export const CAPABILITY_FLAGS: Checks = {
  "exec-format-errors": async () => {
    assert.equal(await podLists(serveConfig()), 0);
    assert.ok(await podLists(serveConfig("--exec-format-errors")) > 0);
  },
  "exec-format-image": async () => {
    assert.equal(await daemonSets(serveConfig()), 0);
    assert.equal(await daemonSets(serveConfig("--exec-format-image=registry.example/archway:1")), 1);
  },
  "avoid-failed-architectures": () => {
    const { clock, images, known } = openImageBed();
    const failedBy = (config: Config): unknown => {
      const parts = { api: openScene().cluster.api, claimedImages: images, known };
      const log = { ...silentLogger, setLevel: () => {}, close: () => {} };
      return withoutFailed({ config, clock, log }, parts).failedImages;
    };
    assert.equal(failedBy(serveConfig()), undefined);
    assert.notEqual(failedBy(serveConfig("--avoid-failed-architectures")), undefined);
  },
};

/** Shown by a test on a real API server. Relative to tests/serve. */
export const SHOWN_ELSEWHERE: Readonly<Record<string, string>> = {
  "repair-exec-format-errors": "../cluster/enoexec_test.ts",
};
