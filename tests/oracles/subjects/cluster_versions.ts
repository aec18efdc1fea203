// The cluster version operator: whether it takes what Archway asks for, when `Upgradeable` holds a version up, and how the states
// of its work read in its status.
import { isObject, type JsonObject, listAt, memberOf, objectAt } from "../../../lib/json.ts";
import type { KubeObject } from "../../../lib/k8s/types.ts";
import { currentVersionOf, decideRequest, isCompleted } from "../../../lib/upgrades/decide/release/target.ts";
import { CHECK_UPGRADEABLE } from "../../../lib/upgrades/decide/steps/before.ts";
import { type ClusterVersion, parseClusterVersion } from "../../../lib/upgrades/decide/types/cluster.ts";
import type { DesiredRelease } from "../../../lib/upgrades/decide/types/plan.ts";
import { decideStep } from "../../lib/upgrades/decide/make_plan.ts";
import type { Draw, Subject } from "../subject.ts";

const ORIGINAL = "cluster-version-operator";
const VERSIONS = ["4.17.1", "4.17.2", "4.18.0"] as const;

function imageOf(version: string): string {
  return `registry.test/release@sha256:${version}`;
}

function releaseOf(version: string): JsonObject {
  return { version, image: imageOf(version) };
}

function clusterVersionOf(status: JsonObject, spec: JsonObject = {}): KubeObject {
  return {
    metadata: { name: "version" },
    spec: { clusterID: "6f9b6e84-0c1b-4f5e-9d0a-0a0a0a0a0a0a", channel: "stable-4.17", ...spec },
    status: { observedGeneration: 1, versionHash: "", availableUpdates: [], history: [], ...status },
  };
}

/** A ClusterVersion with the request that Archway makes of it, where it makes one. */
interface Asked {
  readonly clusterVersion: KubeObject;
  /** Of the release that is wanted; null where nothing is asked. */
  readonly image: string | null;
}

function drawAsked(draw: Draw): Asked {
  const offers = (share: number): readonly JsonObject[] => VERSIONS.filter(() => draw.chance(share)).map(releaseOf);
  const conditionalUpdates = offers(0.4).map((release) => ({ release, risks: [] }));
  const [version, now] = [draw.pick(VERSIONS), draw.pick(VERSIONS)];
  const byImage = draw.chance(0.2);
  const desired: DesiredRelease = {
    ...{ version, channel: "stable-4.17", image: byImage ? imageOf(version) : "" },
    architecture: !byImage && draw.chance(0.2) ? "Multi" : "",
  };
  // The update service offers a cluster that is asked to become one of several architectures its own version alone.
  const isMigration = desired.architecture === "Multi";
  const status = {
    desired: releaseOf(now),
    history: [{ ...releaseOf(now), state: "Completed", startedTime: null, completionTime: null, verified: true }],
    availableUpdates: isMigration ? [{ ...releaseOf(now) }] : offers(0.5),
    conditionalUpdates: isMigration ? [] : conditionalUpdates,
  };
  const target = isMigration ? { ...desired, version: now } : desired;
  const before = clusterVersionOf(status);
  const request = decideRequest(target, parseClusterVersion(before));
  if (!("patch" in request)) return { clusterVersion: before, image: null };
  const desiredUpdate = objectAt(objectAt(request.patch, "spec"), "desiredUpdate") ?? {};
  const written = Object.fromEntries(Object.entries(desiredUpdate).filter(([, value]) => value !== null));
  return { clusterVersion: clusterVersionOf(status, { desiredUpdate: written }), image: imageOf(target.version) };
}

export const ACCEPTANCES: Subject<KubeObject> = {
  name: "acceptances",
  original: ORIGINAL,
  ask: "acceptance",
  count: 500,
  kept: 100,
  draw: (draw) => drawAsked(draw).clusterVersion,
  ours(clusterVersion): unknown {
    const asked = objectAt(objectAt(clusterVersion, "spec"), "desiredUpdate");
    if (asked === undefined) return { problems: 0, isFound: false, image: "" };
    const { desired } = parseClusterVersion(clusterVersion);
    const image = asked.image ?? imageOf(String(asked.architecture === "Multi" ? desired.version : asked.version));
    return { problems: 0, isFound: true, image };
  },
};

interface Move {
  readonly clusterVersion: KubeObject;
  readonly version: string;
}

export const UPGRADEABLES: Subject<Move> = {
  name: "upgradeables",
  original: ORIGINAL,
  ask: "upgradeable",
  count: 300,
  kept: 60,
  draw(draw): Move {
    const all = ["4.17.1", "4.17.2", "4.18.0", "4.18.3", "5.0.0", "5.1.2", "5.18.0"] as const;
    const now = draw.pick(all);
    const conditions = draw.chance(0.9)
      ? [{ type: "Upgradeable", status: draw.pick(["True", "False", "False", "Unknown"]), reason: "AdminAckRequired" }]
      : [];
    const history = [{
      ...releaseOf(now),
      state: "Completed",
      startedTime: null,
      completionTime: null,
      verified: true,
    }];
    return {
      clusterVersion: clusterVersionOf({ desired: releaseOf(now), history, conditions }),
      version: draw.pick(all),
    };
  },
  ours({ clusterVersion, version }): unknown {
    const spec = { desired: { version } };
    const result = decideStep(CHECK_UPGRADEABLE, { spec, clusterVersion: parseClusterVersion(clusterVersion) });
    return { isBlocked: result.kind !== "done" };
  },
};

interface Turn {
  readonly release: JsonObject;
  readonly completed: boolean;
  readonly done: number;
  readonly failure: string;
  readonly effect: string;
  readonly refused: string;
}

function drawTurns(draw: Draw): readonly Turn[] {
  const releases = ["4.17.1", "4.17.2", "4.18.0"].slice(0, 1 + draw.below(3));
  return releases.flatMap((version) => {
    const isAbandoned = version !== "4.17.1" && draw.chance(0.2);
    const working = draw.many(draw.below(4), (): Turn => ({
      ...{ release: releaseOf(version), completed: false, done: draw.below(900) },
      ...draw.chance(0.3)
        ? { failure: "ClusterOperatorDegraded", effect: draw.pick(["Fail", "None", "Report"]) }
        : { failure: "", effect: "" },
      refused: draw.chance(0.1) ? "RetrievePayload" : "",
    }));
    const end = { release: releaseOf(version), completed: true, done: 900, failure: "", effect: "", refused: "" };
    return isAbandoned ? working : [...working, end];
  });
}

function isSaid({ conditions }: ClusterVersion, type: string, status: string): boolean {
  return conditions.some((one) => one.type === type && one.status === status);
}

export const STATUSES: Subject<readonly Turn[]> = {
  name: "statuses",
  original: ORIGINAL,
  ask: "statuses",
  count: 20,
  kept: 20,
  draw: drawTurns,
  ours(turns, theirs): unknown {
    const statuses = Array.isArray(theirs) ? theirs : [];
    return turns.map(({ release }, at) => {
      const cluster = parseClusterVersion(clusterVersionOf(isObject(statuses[at]) ? statuses[at] : {}));
      const desired = { version: String(release.version), channel: "", image: "", architecture: "" } as const;
      const isRefused = isSaid(cluster, "ReleaseAccepted", "False");
      return {
        isCompleted: isCompleted(desired, cluster),
        current: currentVersionOf(cluster) ?? "",
        isSettled: isSaid(cluster, "Progressing", "False"),
        isRefused,
        isStuck: isRefused || isSaid(cluster, "Failing", "True"),
      };
    });
  },
  /** What the turns themselves were; only whether a failure counts is the original's own judgement. */
  compared(theirs, turns): unknown {
    const statuses = Array.isArray(theirs) ? theirs : [];
    return turns.map((turn, at) => {
      const before = turns.slice(0, at + 1).filter(({ completed }) => completed).map(({ release }) =>
        String(release.version)
      );
      const isRefused = turn.refused !== "";
      const failing = listAt(statuses[at], "conditions")?.find((one) => memberOf(one, "type") === "Failing");
      return {
        isCompleted: before.includes(String(turn.release.version)),
        current: before.at(-1) ?? "",
        isSettled: turn.completed,
        isRefused,
        isStuck: isRefused || memberOf(failing, "status") === "True",
      };
    });
  },
};
