// A cluster and a registry in memory that carry effects out, so that whole courses of decisions can be counted. Jobs end when
// the test lets them; nothing here decides anything.
import assert from "node:assert/strict";
import {
  parseBuildNode,
  parseBuildPool,
  parseRenderedConfig,
} from "../../../../lib/builds/decide/parse/machine_config.ts";
import { decideBuild, type ReconcileDecision } from "../../../../lib/builds/decide/decide.ts";
import type { BuildEffect, BuildEvent, PublishOutcome } from "../../../../lib/builds/decide/effects.ts";
import { parseBuildJob, parseChild, parseDigestMap } from "../../../../lib/builds/decide/parse/job.ts";
import {
  questionKey,
  type RegistryAnswer,
  type RegistryQuestion,
  type StartingPod,
} from "../../../../lib/builds/decide/observed.ts";
import { parseMachineOSBuild, parseMachineOSConfig } from "../../../../lib/builds/decide/parse/machine_os_config.ts";
import { withPublishOutcome } from "../../../../lib/builds/decide/status/publish_outcome.ts";
import { parseStoredRecord, renderRecord } from "../../../../lib/builds/decide/status/record.ts";
import type { BuildFacts } from "../../../../lib/builds/decide/facts.ts";
import { listAt, memberOf, objectAt, parseObject, textAt, textMapAt } from "../../../../lib/json.ts";
import { parseKubeObject } from "../../../../lib/k8s/kube_object.ts";
import type { KubeObject } from "../../../../lib/k8s/types.ts";
import { mergePatch } from "../../../../playground/patches.ts";
import { digestOf } from "../../../support/documents.ts";
import {
  rawBuildNode,
  type RawConfig,
  rawConfig,
  type RawNode,
  rawPool,
  type RawRendered,
  rawRendered,
  SETTINGS,
  valueOf,
} from "./make.ts";

interface Image {
  readonly architecture: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly children: readonly string[];
}

type Members = Record<string, unknown>;

export const REBUILD = "machineconfiguration.openshift.io/rebuild";

export class Simulator {
  nowMs = Date.parse("2026-01-01T00:00:00Z");
  config: KubeObject;
  pool: KubeObject = rawPool();
  rendered: KubeObject = rawRendered();
  nodes: KubeObject[];
  machineSets: BuildFacts["machineSets"] = [];
  unschedulable = new Map<string, string>();
  starting = new Map<string, StartingPod>();
  optional: BuildFacts["optionalInputs"] = [];
  builds = new Map<string, KubeObject>();
  jobs = new Map<string, KubeObject>();
  objects = new Map<string, KubeObject>();
  images = new Map<string, Image>();
  tags = new Map<string, string>();
  detected: Record<string, string> | undefined;
  settings: typeof SETTINGS;
  mcoBuilder: BuildFacts["mcoBuilder"] = "stopped";
  secrets: BuildFacts["secrets"] = { pull: "usable", push: "usable" };
  secretVersions: BuildFacts["secretVersions"] = { pull: "1", push: "1" };
  baseDigest = digestOf("base");
  checksImages = true;
  digestsElsewhere: readonly string[] = [];
  /** Answers in place of the registry's, by the beginning of the question. */
  overrides = new Map<string, RegistryAnswer>();
  /** What publishing comes to, in place of success; each counts once. */
  outcomes: PublishOutcome[] = [];
  /** Jobs made, images pushed by Jobs, publications: since `reset`. */
  made: string[] = [];
  published: string[] = [];
  deletedImages: string[] = [];
  events: BuildEvent[] = [];
  writes = 0;
  #serial = 0;
  #turn = 0;

  constructor(archs: readonly string[] = ["amd64", "arm64"], config: RawConfig = {}, settings = SETTINGS) {
    this.settings = settings;
    this.config = rawConfig(config);
    this.nodes = archs.map((reported) => rawBuildNode({ reported }));
  }

  addNode(node: RawNode): void {
    this.nodes = [...this.nodes, rawBuildNode(node)];
  }

  edit(config: RawConfig): void {
    const { metadata, status } = this.config;
    this.config = {
      ...rawConfig(config),
      metadata: { ...metadata, generation: (metadata.generation ?? 0) + 1 },
      status,
    };
  }

  configure(given: RawRendered, name = "rendered-worker-2"): void {
    this.rendered = rawRendered({ ...given, name });
    const { metadata, status } = this.pool;
    this.pool = { ...rawPool({ rendered: name }), metadata, status };
  }

  annotate(annotations: Readonly<Record<string, string | null>>): void {
    this.config = parseKubeObject(mergePatch(this.config, { metadata: { annotations } }));
  }

  /** A user asks for a rebuild of these architectures; of what failed where none is named. */
  rebuild(archs = ""): void {
    this.annotate({ [REBUILD]: archs });
  }

  reset(): void {
    this.made = [];
    this.published = [];
    this.deletedImages = [];
    this.events = [];
    this.writes = 0;
  }

  facts(answers: ReadonlyMap<string, RegistryAnswer> = new Map()): BuildFacts {
    const pool = valueOf(parseBuildPool(this.pool));
    const rendered = this.rendered.metadata.name === pool.rendered ? parseRenderedConfig(this.rendered) : undefined;
    const objects = [...this.objects.values()];
    const maps = objects.filter(({ kind }) => kind === "ConfigMap");
    return {
      nowMs: this.nowMs,
      config: parseMachineOSConfig(this.config),
      pool,
      pools: [pool],
      rendered,
      nodes: this.nodes.map(parseBuildNode),
      machineSets: this.machineSets,
      cluster: { payloadArchitecture: "Multi", proxy: {}, trustBundle: "" },
      builds: [...this.builds.values()].map((build) => parseMachineOSBuild(build)),
      jobs: [...this.jobs.values()].map((job) => {
        const [unschedulable, starting] = [this.unschedulable.get(archOf(job)), this.starting.get(archOf(job))];
        return { ...parseBuildJob(job), unschedulable, starting };
      }),
      digests: maps.filter(({ metadata }) => metadata.name.startsWith("digest-")).map(parseDigestMap),
      records: maps.flatMap((map) => parseStoredRecord(map) ?? []),
      children: objects.filter(({ metadata }) => !/^(?:digest|archs)-/.test(metadata.name)).map((object) =>
        parseChild(object, object.kind === "Secret" ? "secrets" : "configMaps")
      ),
      secrets: this.secrets,
      secretVersions: this.secretVersions,
      optionalInputs: this.optional,
      digestsElsewhere: this.digestsElsewhere,
      checksImages: this.checksImages,
      mcoBuilder: this.mcoBuilder,
      architecturesMap: this.detected ?? {},
      answers,
      settings: this.settings,
    };
  }

  decide(): ReconcileDecision {
    const answers = new Map<string, RegistryAnswer>();
    for (let round = 0; round < 20; round++) {
      const decision = decideBuild(this.facts(answers));
      if (decision.questions.length === 0) return decision;
      assert.deepEqual(decision.effects, [], "no effect comes with questions");
      for (const question of decision.questions) answers.set(questionKey(question), this.#answer(question));
    }
    return assert.fail("questions have no end");
  }

  /** As {@link pass}, but the API server refuses every second write, of all passes, as after a write of another client. */
  passWithConflicts(): boolean {
    const refused = this.decide().effects.findIndex(() => this.#turn++ % 2 === 1);
    return this.pass(refused < 0 ? Infinity : refused);
  }

  /** Decides and carries out, `stopAfter` effects at most; answers whether nothing was left to do. */
  pass(stopAfter = Infinity): boolean {
    const { effects, events } = this.decide();
    for (const effect of effects.slice(0, stopAfter)) this.#apply(effect);
    if (effects.length <= stopAfter) this.events.push(...events);
    this.#collectGarbage();
    return effects.length === 0;
  }

  /** Passes until nothing is left to do; `run`: Jobs end in between. */
  settle({ run = true }: { readonly run?: boolean } = {}): void {
    for (let passes = 0; passes < 100; passes++) {
      const isQuiet = this.pass();
      const ran = run && this.runJobs();
      if (isQuiet && !ran) return;
    }
    const { reason, effects } = this.decide();
    assert.fail(`does not come to rest: ${reason}: ${effects.map(({ kind }) => kind).join(", ")}`);
  }

  runJobs(): boolean {
    const open = [...this.jobs.values()].filter(({ status, metadata }) =>
      status === undefined && metadata.deletionTimestamp === undefined
    );
    for (const job of open) this.completeJob(job);
    return open.length > 0;
  }

  completeJob(job: KubeObject, { isLabelled = true, arch = archOf(job) } = {}): void {
    const env = envOf(job);
    const [buildKey, tag = "", name = ""] = ["BUILD_KEY", "TAG", "DIGEST_CONFIGMAP_NAME"].map((key) => env.get(key));
    const labels = buildKey === undefined || !isLabelled ? {} : { "archway.dev.build-key": buildKey };
    const digest = digestOf(`${tag} ${job.metadata.uid}`);
    this.images.set(`${repositoryIn(tag)}@${digest}`, { architecture: arch, labels, children: [] });
    this.tags.set(tag, digest);
    const own = buildKey === undefined ? {} : { arch, buildKey, jobUID: job.metadata.uid };
    const label = "machineconfiguration.openshift.io/machine-os-build";
    const metadata = { name, labels: { [label]: job.metadata.labels?.[label] ?? "" } };
    this.#store({ apiVersion: "v1", kind: "ConfigMap", metadata, data: { digest: `${digest}\n`, ...own } });
    const at = new Date(this.nowMs).toISOString();
    this.setJob(job, { succeeded: 1, conditions: [{ type: "Complete", status: "True", lastTransitionTime: at }] });
  }

  failJob(job: KubeObject, reason = "BackoffLimitExceeded"): void {
    this.setJob(job, { failed: 4, conditions: [{ type: "Failed", status: "True", reason }] });
  }

  setJob(job: KubeObject, status: Members): void {
    this.jobs.set(job.metadata.name, { ...job, status });
  }

  jobOf(arch: string): KubeObject {
    return [...this.jobs.values()].find((job) => archOf(job) === arch) ?? assert.fail(`no Job for ${arch}`);
  }

  build(): KubeObject {
    const [build, ...others] = [...this.builds.values()].filter((one) => !isSucceeded(one) || this.builds.size === 1);
    return build !== undefined && others.length === 0 ? build : assert.fail(`${this.builds.size} builds`);
  }

  condition(object: KubeObject, type: string): Members | undefined {
    const { conditions = [] } = Object(object.status);
    return conditions.find((one: Members) => one["type"] === type);
  }

  /** What is recorded of an architecture. */
  recorded(arch: string): unknown {
    const [record] = [...this.objects.values()].filter(({ metadata }) => metadata.name.startsWith("archs-"));
    return parseObject(textAt(objectAt(record, "data"), arch));
  }

  pullSpec(): string {
    return parseMachineOSConfig(this.config).status.pullSpec ?? "";
  }

  #uid(name: string): string {
    return `${name}-${++this.#serial}`;
  }

  #answer(question: RegistryQuestion): RegistryAnswer {
    const key = questionKey(question);
    for (const [start, answer] of this.overrides) if (key.startsWith(start)) return answer;
    if (question.kind === "push") return { kind: "granted" };
    if (question.kind === "platforms") {
      return { kind: "platforms", architectures: ["amd64", "arm64", "ppc64le", "s390x"], digest: this.baseDigest };
    }
    const { reference } = question;
    const digest = reference.split("@")[1] ?? this.tags.get(reference);
    const image = this.images.get(reference.includes("@") ? reference : `${repositoryIn(reference)}@${digest}`);
    if (digest === undefined || image === undefined) return { kind: "absent" };
    if (question.kind === "tag") return { kind: "exists", digest };
    if (image.children.length > 0) return { kind: "unusable", message: "it is an index" };
    const { architecture, labels } = image;
    return { kind: "image", digest, mediaType: "m", size: 1, platform: { os: "linux", architecture }, labels };
  }

  #apply(effect: BuildEffect): void {
    this.writes++;
    switch (effect.kind) {
      case "create build":
        return this.#create(this.builds, effect.build);
      case "create job":
        return this.#createJob(effect);
      case "refresh secret":
        return change(this.objects, effect.target.name, effect.copy.object);
      case "delete":
        return this.#delete(effect);
      case "write record":
        return this.#store(effect.object);
      case "patch status":
        return this.#patch(effect.target, { status: effect.patch });
      case "patch":
        return this.#patch(effect.target, effect.patch);
      case "write architectures":
        this.detected = textMapAt({ data: mergePatch(this.detected ?? {}, effect.data) }, "data");
        return;
      case "publish":
        return this.#publishAndRecord(effect);
      case "delete images":
        for (const { reference, digest } of effect.deletions) {
          this.deletedImages.push(reference);
          if (this.tags.get(reference) !== digest) continue;
          this.tags.delete(reference);
          this.images.delete(`${repositoryIn(reference)}@${digest}`);
        }
    }
  }

  #store(object: KubeObject): void {
    const { name } = object.metadata;
    this.objects.set(name, { ...object, metadata: { ...object.metadata, uid: this.#uid(name) } });
  }

  #create(into: Map<string, KubeObject>, object: KubeObject): void {
    const { name } = object.metadata;
    if (into.has(name)) return;
    const creationTimestamp = new Date(this.nowMs + this.#serial * 1_000).toISOString();
    const set = { uid: this.#uid(name), resourceVersion: "1", generation: 1, creationTimestamp };
    into.set(name, { ...object, metadata: { ...object.metadata, ...set } });
  }

  #createJob({ job, configMaps, secrets }: Extract<BuildEffect, { kind: "create job" }>): void {
    const children = [...configMaps, ...secrets.map(({ object }) => object)];
    for (const child of children) this.#create(this.objects, child);
    if (!this.jobs.has(job.metadata.name)) this.made.push(archOf(job));
    this.#create(this.jobs, job);
    const uid = this.jobs.get(job.metadata.name)?.metadata.uid ?? "";
    for (const { metadata: { name } } of children) {
      const child = this.objects.get(name) ?? assert.fail(name);
      const owners = (child.metadata.ownerReferences ?? []).filter((owner) => owner.uid !== uid);
      const owner = { apiVersion: "batch/v1", kind: "Job", name: job.metadata.name, uid };
      this.objects.set(name, { ...child, metadata: { ...child.metadata, ownerReferences: [...owners, owner] } });
    }
  }

  #delete({ target }: Extract<BuildEffect, { kind: "delete" }>): void {
    const from = target.resource === "builds" ? this.builds : target.resource === "jobs" ? this.jobs : this.objects;
    const isThat = target.uid === undefined || from.get(target.name)?.metadata.uid === target.uid;
    if (isThat) from.delete(target.name);
  }

  /** What an owner that is gone owned goes. */
  #collectGarbage(): void {
    for (const map of [this.jobs, this.objects]) {
      for (const [name, { metadata }] of map) {
        const owners = metadata.ownerReferences ?? [];
        const uids = [...this.builds.values(), ...this.jobs.values()].map((one) => one.metadata.uid);
        if (owners.length > 0 && !owners.some(({ uid }) => uids.includes(uid))) map.delete(name);
      }
    }
  }

  #patch({ resource, name }: { readonly resource: string; readonly name: string }, patch: unknown): void {
    if (resource === "configs") this.config = parseKubeObject(mergePatch(this.config, patch));
    else if (resource === "pools") this.pool = parseKubeObject(mergePatch(this.pool, patch));
    else {
      if (resource === "builds") this.#assertNotFrozen(this.builds.get(name), patch);
      change(resource === "jobs" ? this.jobs : this.builds, name, patch);
    }
  }

  /** The rule of the upstream definition: conditions of a build that has ended never change. */
  #assertNotFrozen(build: KubeObject | undefined, patch: unknown): void {
    if (build === undefined || memberOf(patch, "status") === undefined) return;
    const ended = ["Failed", "Interrupted", "Succeeded"].filter((type) =>
      this.condition(build, type)?.["status"] === "True"
    );
    assert.deepEqual(ended, [], `changes the status of "${build.metadata.name}", which has ended`);
  }

  #publishAndRecord(effect: Extract<BuildEffect, { kind: "publish" }>): void {
    const build = parseMachineOSBuild(this.builds.get(effect.build) ?? assert.fail("no build"));
    const stored = [...this.objects.values()].flatMap((map) => parseStoredRecord(map) ?? [])
      .find(({ buildUid }) => buildUid === build.meta.uid) ?? assert.fail("publishes without a record");
    const outcome = this.outcomes.shift() ?? this.#publish(effect);
    // An image that is gone is gone under its tag as well.
    const gone = outcome.kind === "lost" ? `-${outcome.arch}` : undefined;
    for (const tag of [...this.tags.keys()]) if (gone !== undefined && tag.endsWith(gone)) this.tags.delete(tag);
    const attempt = { tag: effect.tag, nowMs: this.nowMs, pushVersion: this.secretVersions.push };
    const record = withPublishOutcome(stored.record, outcome, attempt);
    this.#store(renderRecord(record, { build, namespace: this.settings.namespace }));
  }

  #publish({ to, children, mode }: Extract<BuildEffect, { kind: "publish" }>): PublishOutcome {
    const repository = repositoryIn(to);
    for (const { reference, arch, tag } of children) {
      const [image, [, digest = ""]] = [this.images.get(reference), reference.split("@")];
      if (image === undefined) return { kind: "lost", arch, message: `${reference} is not there` };
      this.images.set(`${repository}@${digest}`, image);
      if (tag !== undefined) this.tags.set(`${repository}:${tag}`, digest);
    }
    const digests = children.map(({ reference }) => reference.split("@")[1] ?? "");
    const digest = mode === "single" ? digests[0] ?? "" : digestOf(digests.toSorted().join());
    const isNew = this.tags.get(to) !== digest || !this.images.has(`${repository}@${digest}`);
    if (mode === "index") {
      this.images.set(`${repository}@${digest}`, { architecture: "", labels: {}, children: digests });
    }
    this.tags.set(to, digest);
    if (isNew) this.published.push(to);
    return { kind: "published", reference: `${repository}@${digest}`, children: digests, isNew };
  }
}

function repositoryIn(reference: string): string {
  return reference.slice(0, reference.lastIndexOf(":"));
}

function isSucceeded(build: KubeObject): boolean {
  return JSON.stringify(build.status ?? {}).includes('"type":"Succeeded","status":"True"');
}

export function building(archs?: readonly string[]): Simulator {
  const bed = new Simulator(archs);
  bed.settle({ run: false });
  return bed;
}

export function built(archs?: readonly string[], config?: RawConfig, settings?: typeof SETTINGS): Simulator {
  const bed = new Simulator(archs, config, settings);
  bed.settle();
  assert.notEqual(bed.pullSpec(), "");
  bed.reset();
  return bed;
}

export function podOf(job: KubeObject): unknown {
  return objectAt(objectAt(objectAt(job, "spec"), "template"), "spec");
}

export function envOf(job: KubeObject): ReadonlyMap<string, string> {
  const env = listAt(listAt(podOf(job), "initContainers")?.[0], "env") ?? [];
  return new Map(env.map((one) => [textAt(one, "name"), textAt(one, "value")]));
}

export function archOf(job: KubeObject): string {
  return envOf(job).get("ARCH") ?? "amd64";
}

function change(objects: Map<string, KubeObject>, name: string, patch: unknown): void {
  const object = objects.get(name) ?? assert.fail(`changes "${name}", which is not there`);
  objects.set(name, parseKubeObject(mergePatch(object, patch)));
}
