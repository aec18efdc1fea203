// The subject of the walks on a real control plane: Archway under its ServiceAccount, the walks' registries, and kwok's nodes,
// on which the real scheduler puts the pods.
import assert from "node:assert/strict";
import { systemClock } from "../../../lib/clock.ts";
import { issueLoopbackCertificates } from "../../../playground/listen.ts";
import { textAtPath } from "../../../playground/json_path.ts";
import { DEAD_HOST, openWalkRegistries, renderRegistriesConf } from "../../support/walk/registries.ts";
import type { WalkSetting, WalkSubject } from "../../support/walk/subject.ts";
import { Archway, installArchway } from "./archway.ts";
import { startControlPlane } from "./control_plane.ts";
import { listNodeArchitectures } from "./pods.ts";
import { SHARED_NODES } from "./shared_nodes.ts";
import { waitUntil } from "./wait.ts";
import { type ClusterWalk, clusterWalk, layOut, openNamespaces } from "./walk_objects.ts";
import { settingsFlag } from "../../support/settings_file.ts";

/** Longer than the walks on the playground take: forty pods are gated at once here, by processes that share the machine. */
const MAX_GATE_AGE = "--max-gate-age=15s";
/** Some pods are privileged; and pods name owners that are not made, for which the garbage collector would delete them. */
const FLAGS = {
  "kube-apiserver": ["--allow-privileged=true"],
  "kube-controller-manager": ["--controllers=*,-garbage-collector-controller"],
};
const PATIENCE_MS = 60_000;
/** Kwok lets the pods of a Job end, and pulls no image. */
const RAN = ["Running", "Succeeded"];

export interface WalkCluster extends AsyncDisposable {
  begin(setting: WalkSetting, prepare?: (walk: WalkSubject) => Promise<void>): Promise<WalkSubject>;
}

export async function openWalkCluster(): Promise<WalkCluster> {
  await using undo = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir({ prefix: "archway-walk-" });
  undo.defer(() => Deno.remove(folder, { recursive: true }));
  const certificates = await issueLoopbackCertificates(systemClock.nowMs());
  const registries = undo.use(await openWalkRegistries(certificates.serving));
  const cluster = undo.use(await startControlPlane({ flags: FLAGS }));
  const [kubeconfigFile] = await Promise.all([installArchway(cluster), cluster.addNodes(SHARED_NODES)]);
  await openNamespaces(cluster);
  await Deno.writeTextFile(`${folder}/ca.crt`, certificates.authority);
  await Deno.writeTextFile(`${folder}/registries.conf`, renderRegistriesConf(registries));
  undo.use(
    await Archway.start({
      kubeconfigFile,
      registries: [
        { host: registries.host, caFile: `${folder}/ca.crt` },
        { host: registries.untrustedHost },
        { host: DEAD_HOST },
      ],
      args: [
        `--insecure-registry=${registries.insecureHost}`,
        settingsFlag(folder, { registriesConf: `${folder}/registries.conf` }),
        MAX_GATE_AGE,
      ],
    }),
  );
  const nodes = await listNodeArchitectures(cluster);
  let begun = 0;
  const owned = undo.move();
  return {
    begin: async (setting, prepare) => {
      const walk = clusterWalk(cluster, { registries, node: "amd64-1", number: ++begun });
      const subject = { ...walk, assertFate: assertFateBy(walk, nodes) };
      await layOut(subject, setting, prepare);
      return subject;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function assertFateBy(
  walk: ClusterWalk,
  nodes: ReadonlyMap<string, string>,
): NonNullable<WalkSubject["assertFate"]> {
  return async (pod, { on }) => {
    const ran = await waitUntil(`pod "${pod.name}" runs`, async () => {
      const now = await walk.read(pod);
      return RAN.includes(textAtPath(now, "status", "phase") ?? "") ? now : undefined;
    }, { deadlineMs: PATIENCE_MS });
    const node = textAtPath(ran, "spec", "nodeName") ?? "";
    assert.ok(on.includes(nodes.get(node) ?? ""), `"${pod.name}" runs on ${node}, but may on ${on}`);
  };
}
