// Lets the original's render controller, beside its node controller, render MachineConfigs on a control plane, turn by turn.
import { isDeepStrictEqual } from "node:util";
import { renderNode } from "../../cluster/support/build_objects.ts";
import { type ClusterAccess, listAt, read } from "../../cluster/support/cluster_access.ts";
import { controlPlaneWith } from "../../cluster/support/shared_control_plane.ts";
import { POOLS } from "../../cluster/support/simulated_openshift.ts";
import { UPGRADES_PLANE } from "../../cluster/support/upgrade_plane.ts";
import { pause } from "../../cluster/support/wait.ts";
import { headOf, renderRecord, startControllers } from "../rollout/controllers.ts";
import {
  BUILT_BY,
  hashOfProgram,
  OWN_IMAGE,
  readRendering,
  RECORD,
  RELEASES,
  type Rendering,
  RenderingSchema,
  ROLE,
  type SeenObject,
} from "./rendering.ts";

const API_VERSION = "machineconfiguration.openshift.io/v1";
const MARK = "machineconfiguration.openshift.io";
const CONFIGS = `/apis/${API_VERSION}/machineconfigs`;
const LOOK_MS = 500;
/** Longer than the controllers wait after a change before they do something about it. */
const SETTLED_LOOKS = 24;

type Json = Readonly<Record<string, unknown>>;

function configOf(name: string, { role = "worker", annotations = {}, ...spec }: Json = {}): Json {
  const files = [{ path: "/etc/containers/policy.json", contents: { source: "data:,%7B%7D" } }];
  return {
    ...{ apiVersion: API_VERSION, kind: "MachineConfig", metadata: { name, labels: { [ROLE]: role }, annotations } },
    spec: { config: { ignition: { version: "3.4.0" }, storage: { files } }, ...spec },
  };
}

function poolOf(name: string, roles: readonly string[]): Json {
  return {
    ...{ apiVersion: API_VERSION, kind: "MachineConfigPool", metadata: { name } },
    spec: {
      machineConfigSelector: { matchExpressions: [{ key: ROLE, operator: "In", values: roles }] },
      nodeSelector: { matchLabels: { [`node-role.kubernetes.io/${name}`]: "" } },
    },
  };
}

async function prepare(cluster: ClusterAccess): Promise<void> {
  for (const name of ["worker", "infra"]) {
    const node = renderNode({ name: `${name}-1`, arch: "amd64", pool: name }, new Date().toISOString());
    await cluster.create("/api/v1/nodes", node);
    await cluster.request("PATCH", `/api/v1/nodes/${name}-1/status`, { status: read(node, "status") });
    await cluster.create(POOLS, poolOf(name, [...new Set(["worker", name])]));
  }
  const annotations = { [BUILT_BY]: RELEASES.before.release };
  await cluster.create(CONFIGS, configOf("00-worker", { annotations, kernelArguments: ["quiet"] }));
}

type Act = (cluster: ClusterAccess) => Promise<unknown>;

const create = (name: string, rest: Json): Act => (cluster) => cluster.create(CONFIGS, configOf(name, rest));

/** What is done, in this order; without an act the next release's controllers come. */
const TURNS: Readonly<Record<string, Act | undefined>> = {
  "a template": () => Promise.resolve(),
  "a kernel and an extension": create("50-kernel", { kernelType: "realtime", extensions: ["usbguard"] }),
  "an image of its own": create("60-image", { role: "infra", osImageURL: OWN_IMAGE }),
  "the marks of Archway": async (cluster) => {
    await cluster.patch(`${POOLS}/worker`, { metadata: { annotations: { "archway.dev/architectures": "amd64" } } });
    const [one] = listAt(await cluster.get(`${POOLS}/worker`), "status", "conditions");
    const said = {
      ...one as Json,
      type: "ImageBuildDegraded",
      status: "False",
      reason: "BuildSuccess",
      message: "built",
    };
    const conditions = listAt(await cluster.get(`${POOLS}/worker`), "status", "conditions");
    await cluster.request("PATCH", `${POOLS}/worker/status`, { status: { conditions: [...conditions, said] } });
  },
  "no such kernel": create("70-kernel", { kernelType: "tiny" }),
  "without it": (cluster) => cluster.delete(`${CONFIGS}/70-kernel`),
  "the next release": undefined,
  "templates of it": (cluster) => {
    const annotations = { [BUILT_BY]: RELEASES.after.release };
    return cluster.patch(`${CONFIGS}/00-worker`, { metadata: { annotations } });
  },
};

/** As the daemons of nodes do, at once; a new node comes with the configuration of its pool. */
async function followNodes(cluster: ClusterAccess, pools: readonly unknown[]): Promise<void> {
  for (const pool of pools) {
    const path = `/api/v1/nodes/${String(read(pool, "metadata", "name"))}-1`;
    const marks = read(await cluster.get(path), "metadata", "annotations");
    const wanted = read(marks, `${MARK}/desiredConfig`) ?? read(pool, "spec", "configuration", "name");
    if (wanted === undefined || wanted === read(marks, `${MARK}/currentConfig`)) continue;
    const rest = { [`${MARK}/desiredConfig`]: wanted, [`${MARK}/state`]: "Done" };
    await cluster.patch(path, { metadata: { annotations: { [`${MARK}/currentConfig`]: wanted, ...rest } } });
  }
}

/** Without what differs from one run to the next. */
function seenOf(raw: unknown): SeenObject {
  const left = ["lastTransitionTime", "observedGeneration"];
  const plain = JSON.parse(JSON.stringify(raw, (name, value: unknown) => left.includes(name) ? undefined : value));
  const { metadata: { name, annotations = {} }, spec, status } = plain;
  status?.conditions.sort((one: unknown, other: unknown) =>
    String(read(one, "type")) < String(read(other, "type")) ? -1 : 1
  );
  return { metadata: { name, annotations }, spec, ...status === undefined ? {} : { status } };
}

async function untilSettled(cluster: ClusterAccess): Promise<SeenObject[]> {
  let before: SeenObject[] = [];
  for (let looks = 0; looks < SETTLED_LOOKS;) {
    const pools = await cluster.list(POOLS);
    await followNodes(cluster, pools);
    const now = pools.map(seenOf);
    const isNew = now.some(({ spec }) => read(spec, "configuration", "name") === undefined);
    looks = !isNew && isDeepStrictEqual(now, before) ? looks + 1 : 0;
    before = now;
    await pause(LOOK_MS);
  }
  return before;
}

async function askRendering(copy: string): Promise<Rendering> {
  await using cluster = await controlPlaneWith(UPGRADES_PLANE);
  await prepare(cluster);
  const start = ({ release, image }: typeof RELEASES.before | typeof RELEASES.after) =>
    startControllers(copy, cluster, [`--release=${release}`, `--image=${image}`]);
  await using undo = new AsyncDisposableStack();
  const first = undo.use(start(RELEASES.before));
  const turns: Record<string, SeenObject[]> = {};
  for (const [what, act] of Object.entries(TURNS)) {
    if (act === undefined) {
      await first.stop();
      undo.use(start(RELEASES.after));
    } else await act(cluster);
    turns[what] = await untilSettled(cluster);
  }
  const rendered = (await cluster.list(CONFIGS)).map(seenOf).filter(({ metadata }) =>
    metadata.name.startsWith("rendered-")
  );
  const program = { path: "tests/oracles/rendering", sha256: await hashOfProgram() };
  return RenderingSchema.parse(JSON.parse(JSON.stringify({ ...await headOf(copy, program), turns, rendered })));
}

/** The turns in which the original does otherwise than the record says. */
export async function compareRendering(
  copy: string,
  { record }: { readonly record: boolean },
): Promise<readonly string[]> {
  const now = await askRendering(copy);
  if (record) await Deno.writeTextFile(RECORD, renderRecord(now));
  const { turns, rendered } = await readRendering();
  const differing = Object.keys(TURNS).filter((what) => !isDeepStrictEqual(now.turns[what], turns[what]));
  return isDeepStrictEqual(now.rendered, rendered) ? differing : [...differing, "what was rendered"];
}
