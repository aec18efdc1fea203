// Names of builds and of what belongs to them, and the command that hands a digest over.
import assert from "node:assert/strict";
import { renderJob } from "../../../lib/builds/decide/job/job_object.ts";
import { childLabels } from "../../../lib/builds/decide/job/pod.ts";
import type { BuildFacts } from "../../../lib/builds/decide/facts.ts";
import { parseBuildPool, parseRenderedConfig } from "../../../lib/builds/decide/parse/machine_config.ts";
import { parseMachineOSBuild, parseMachineOSConfig } from "../../../lib/builds/decide/parse/machine_os_config.ts";
import { parseDigestMap } from "../../../lib/builds/decide/parse/job.ts";
import { planBuild } from "../../../lib/builds/decide/plan/plan.ts";
import { createBuild } from "../../../lib/builds/decide/reconcile/create_build.ts";
import type { ArchitectureSet, BuildPlan } from "../../../lib/builds/decide/types.ts";
import { listAt, objectAt, textAt, textMapAt } from "../../../lib/json.ts";
import type { KubeObject } from "../../../lib/k8s/types.ts";
import { valueOf } from "../../lib/builds/decide/make.ts";
import { Simulator } from "../../lib/builds/decide/simulator.ts";
import type { Draw, Subject } from "../subject.ts";

interface Given {
  readonly config: KubeObject;
  readonly pool: KubeObject;
  readonly rendered: KubeObject;
}

const HEX = "0123456789abcdef";
const NAME = "abcdefghijklmnopqrstuvwxyz0123456789";
const VERSION = "0123456789.-_:eExXoOabf+rc";
/** What YAML has a meaning for, in names and texts. */
const WORDS = [
  "null",
  "~",
  "yes",
  "no",
  "on",
  "off",
  "y",
  "n",
  "true",
  "False",
  "1e3",
  "0x1f",
  "0o7",
  "1_000",
  "12:30",
  ".inf",
];
const TEXT = "abcFROM RUN 0123456789.,:;#-+*&!|>'\"%@`{}[]()=?/\\$~_<\n\n\n \tä€😀";

const FILES = ["policy.json", "registries.conf"].map((name) => ({
  path: `/etc/containers/${name}`,
  contents: { source: "data:,x" },
}));

function drawVersion(draw: Draw): string {
  const [minor, patch] = [draw.below(30), draw.below(120)];
  const release = `${draw.pick(["4", "5"])}.${minor}`;
  return draw.pick<() => string>([
    () => `${release}.${patch}`,
    () => `${release}.${patch}-${draw.pick(["rc", "ec"])}.${draw.below(12)}`,
    () => `${release}.0-0.nightly-2026-0${1 + draw.below(9)}-${10 + draw.below(20)}-${draw.text(HEX, 6)}`,
    () => release,
    () => `${release}_${patch}`,
    () => draw.text("0123456789", 1 + draw.below(12)),
    () => draw.pick(["", "0x", "0b", "0o", "+", "-", "."]) + draw.text(HEX, 1 + draw.below(8)),
    () => draw.text(VERSION, 1 + draw.below(10)),
    () => `20${10 + draw.below(90)}-${1 + draw.below(19)}-${1 + draw.below(35)}`,
    () => draw.pick(["null", ...WORDS]),
  ])();
}

function drawImage(draw: Draw): string {
  return `registry.test/${draw.text(NAME, 4)}/os@sha256:${draw.text(HEX, 64)}`;
}

function drawContent(draw: Draw): string {
  const lines = draw.many(1 + draw.below(4), () => draw.text(TEXT, draw.below(30)));
  return draw.pick<() => string>([
    () => `FROM configs AS final\nRUN ${draw.text(NAME, 8)}\n`,
    () => lines.join("\n"),
    () => draw.text(`${NAME} `, 60 + draw.below(120)),
    () => drawVersion(draw),
    () => "",
  ])();
}

function drawGiven(draw: Draw): Given {
  const pool = draw.pick(["worker", "infra", "arm", draw.text(NAME, 1 + draw.below(10))]);
  const rendered = `rendered-${pool}-${draw.text(HEX, 32)}`;
  const files = draw.many(
    draw.below(3),
    (at) => ({ containerfileArch: ["NoArch", "ARM64"][at], content: drawContent(draw) }),
  );
  const sources = draw.many(draw.below(4), () => ({
    apiVersion: "machineconfiguration.openshift.io/v1",
    kind: "MachineConfig",
    name: `${10 + draw.below(90)}-${draw.text(NAME, 6)}`,
  }));
  return {
    config: {
      metadata: { name: draw.text(NAME, 1 + draw.below(24)), uid: "config" },
      spec: {
        machineConfigPool: { name: pool },
        imageBuilder: { imageBuilderType: "Job" },
        ...draw.chance(0.5) ? { baseImagePullSecret: { name: draw.text(NAME, 6) } } : {},
        renderedImagePushSecret: { name: draw.chance(0.1) ? drawVersion(draw) : draw.text(NAME, 6) },
        renderedImagePushSpec: `registry.test${draw.pick(["", ":5000"])}/${draw.text(NAME, 5)}/os:${
          draw.text(NAME, 4)
        }`,
        ...files.length === 0 ? {} : { containerFile: files },
      },
    },
    pool: {
      metadata: { name: pool, uid: "pool" },
      spec: {
        nodeSelector: { matchLabels: { [`node-role.kubernetes.io/${pool}`]: "" } },
        configuration: {
          name: rendered,
          ...sources.length === 0 ? {} : { source: sources },
        },
      },
    },
    rendered: {
      metadata: {
        name: rendered,
        uid: "rendered",
        annotations: {
          "machineconfiguration.openshift.io/release-image-version": drawVersion(draw),
          "machineconfiguration.openshift.io/generated-by-controller-version": draw.text(HEX, 40),
        },
      },
      spec: {
        osImageURL: drawImage(draw),
        config: { storage: { files: FILES } },
        ...draw.chance(0.7) ? { baseOSExtensionsContainerImage: drawImage(draw) } : {},
      },
    },
  };
}

const NOT_PLANNED = { refused: true };

/** Ours of one build: undefined where it cannot be planned. */
function planOf({ config, pool, rendered }: Given, set: ArchitectureSet = ["amd64"]): BuildPlan | undefined {
  const plan = planBuild({
    config: parseMachineOSConfig(config),
    pool: valueOf(parseBuildPool(pool)),
    rendered: parseRenderedConfig(rendered),
    set,
    alwaysIndex: false,
    builds: [],
  });
  return plan.kind === "plan" ? plan : undefined;
}

function factsOf({ config, pool, rendered }: Given): BuildFacts {
  const bed = Object.assign(new Simulator([]), { config, pool, rendered, nowMs: 0 });
  return { ...bed.facts(), cluster: { payloadArchitecture: "Multi", proxy: {}, trustBundle: "PEM" } };
}

function buildOf(given: Given, plan: BuildPlan): KubeObject {
  const { effects: [effect] } = createBuild({ plan, facts: factsOf(given) }, []);
  return effect?.kind === "create build" ? effect.build : assert.fail("no build");
}

function jobOf(given: Given, plan: BuildPlan): ReturnType<typeof renderJob> {
  const [arch = assert.fail("no architecture")] = plan.builds;
  const [build, facts] = [parseMachineOSBuild(buildOf(given, plan)), factsOf(given)];
  const rendered = parseRenderedConfig(given.rendered);
  return renderJob({ plan, arch, build, rendered, facts, tolerations: [], tag: arch.tag });
}

export const BUILDS: Subject<Given> = {
  name: "builds",
  original: "machine-config-operator",
  ask: "build",
  count: 10_000,
  kept: 200,
  draw: drawGiven,
  ours(given): unknown {
    const plan = planOf(given);
    if (plan === undefined) return NOT_PLANNED;
    const { metadata: { name, labels, annotations, finalizers }, spec } = buildOf(given, plan);
    const { job, configMaps, secrets } = jobOf(given, plan);
    return {
      ...{ name, labels, annotations, finalizers, spec },
      job: job.metadata.name,
      configMaps: configMaps.map(({ metadata }) => metadata.name),
      digestMap: plan.builds[0]?.digestConfigMapName,
      secrets: secrets.map(({ object }) => object.metadata.name),
    };
  },
  compared: (theirs) => textAt(theirs, "error") === "" ? theirs : NOT_PLANNED,
};

/** What the digest container of a Job is given, what it finds, and the labels that its ConfigMap is to have. */
interface DigestGiven {
  readonly name: string;
  readonly namespace: string;
  readonly labels: string;
  readonly file: string;
  readonly wanted: Readonly<Record<string, string>>;
}

function drawDigest(draw: Draw): DigestGiven {
  const given = drawGiven(draw);
  const plan = planOf(given, draw.pick([["amd64"], ["amd64", "arm64"]]));
  const [arch] = plan?.builds ?? [];
  if (plan === undefined || arch === undefined) return drawDigest(draw);
  const { job } = jobOf(given, plan);
  const pod = objectAt(objectAt(objectAt(job, "spec"), "template"), "spec");
  const args = (listAt(listAt(pod, "containers")?.[0], "args") ?? []).map(String);
  const flag = (name: string): string => args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3) ?? "";
  return {
    name: flag("configmap-name"),
    namespace: flag("namespace"),
    labels: flag("labels"),
    file: `sha256:${draw.text(HEX, 64)}${draw.pick(["", "\n", " \n\n"])}`,
    wanted: childLabels(plan, arch),
  };
}

export const DIGEST_MAPS: Subject<DigestGiven> = {
  name: "digest_maps",
  original: "machine-config-operator",
  ask: "digest map",
  count: 200,
  kept: 50,
  draw: drawDigest,
  ours: ({ wanted, file }) => ({ labels: wanted, digest: file.trim() }),
  compared(theirs, { name, namespace }): unknown {
    const [labels, data] = [textMapAt(theirs, "labels") ?? {}, textMapAt(theirs, "data") ?? {}];
    const map: KubeObject = { metadata: { name, namespace, labels, uid: "map" }, data };
    return { labels, digest: parseDigestMap(map).digest };
  },
};
