import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { renderJob } from "../../../../../lib/builds/decide/job/job_object.ts";
import { nodesFor, type Preflight, preflight } from "../../../../../lib/builds/decide/job/preflight.ts";
import { questionKey, type RegistryAnswer } from "../../../../../lib/builds/decide/observed.ts";
import type { ArchitectureSet } from "../../../../../lib/builds/decide/types.ts";
import { parseMachineOSBuild } from "../../../../../lib/builds/decide/parse/machine_os_config.ts";
import { checkContainerfile, renderContainerfile } from "../../../../../lib/builds/decide/plan/containerfile.ts";
import { McoAnnotation } from "../../../../../lib/builds/decide/names.ts";
import type { BuildSettings } from "../../../../../lib/config/image_builds.ts";
import { OPTIONAL_INPUTS, type OptionalInput } from "../../../../../lib/builds/decide/optional_inputs.ts";
import type { KubeObject } from "../../../../../lib/k8s/types.ts";
import { listAt, objectAt, textAt, textMapAt } from "../../../../../lib/json.ts";
import {
  BASE_IMAGE,
  configOf,
  IDS,
  nodeOf,
  planOf,
  rawBuild,
  type RawConfig,
  type RawNode,
  type RawRendered,
  renderedOf,
  SETTINGS,
} from "../make.ts";
import { envOf, podOf } from "../simulator.ts";

const TEXTS: readonly (readonly [name: string, text: string, problem?: string])[] = [
  ["O-034 a text that is well", "FROM a AS b\nRUN echo hi\nCOPY x y\n"],
  ["O-034 comments", "# hello\nFROM a\n  # more\nRUN x\n"],
  ["O-034 a here-document", "FROM a\nRUN <<EOF\nnot an instruction\nEOF\nRUN y\n"],
  ["O-034 two here-documents", "FROM a\nCOPY <<A <<'B' /x/\nfoo\nA\nbar\nB\nUSER y\n"],
  ["O-034 comments alone", "# a\n\n# b\n"],
  ["O-034 nothing", ""],
  ["O-034 lines that go on, with a comment between", "FROM a\nRUN x && \\\n  # why\n  y\nUSER z\n"],
  ["O-034 small letters", "from a\nrun x\n"],
  ["O-035 no FROM", "RUN x\n", "it has no FROM"],
  ["O-035 FROM without an argument", "FROM\n", "FROM has no argument"],
  ["O-035 RUN without an argument", "FROM a\nRUN\n", "RUN has no argument"],
  ["O-035 COPY without an argument", "FROM a\nCOPY\n", "COPY has no argument"],
  ["O-035 WORKDIR without an argument", "FROM a\nWORKDIR \n", "WORKDIR has no argument"],
  ["O-036 an unknown instruction", "FROM a\nFETCH x\n", '"FETCH" is no instruction'],
  ["O-037 ENV without =", "FROM a\nENV x y\n", "ENV needs key=value"],
  ["O-037 LABEL without =", "FROM a\nLABEL x\n", "LABEL needs key=value"],
];

for (const [name, text, problem] of TEXTS) {
  Deno.test(name.replace(IDS, `$&checkContainerfile() ${problem === undefined ? "accepts" : "refuses"} `), () => {
    assert.equal(checkContainerfile(text), problem);
  });
}

function containerfile(given: RawRendered, userText?: string): string {
  return renderContainerfile({ rendered: renderedOf(given), pool: "worker", userText });
}

const WITH = { extensionsImage: "registry.test/ext:1" };

Deno.test("O-027 O-028 renderContainerfile() installs all packages of extensions from their image", () => {
  const text = containerfile({ ...WITH, extensions: ["two-node-ha", "usbguard"] });
  assert.match(text, /--mount=type=bind,from=registry\.test\/ext:1/);
  assert.match(text, /rpm-ostree install pacemaker pcs fence-agents-all usbguard/);
  assert.equal(checkContainerfile(text), undefined);
});

Deno.test("O-029 renderContainerfile() has no such step without the image, or without extensions", () => {
  for (const given of [{ extensions: ["usbguard"] }, WITH]) assert.doesNotMatch(containerfile(given), /rpm-ostree/);
});

Deno.test("renderContainerfile() swaps the kernel", () => {
  assert.match(containerfile({ ...WITH, kernelType: "realtime" }), /override remove kernel .*--install kernel-rt-core/);
});

Deno.test("O-038 renderContainerfile() ends with the user's text", () => {
  const text = containerfile({}, "FROM configs AS final\nRUN mine\n");
  assert.ok(text.endsWith("\n\nFROM configs AS final\nRUN mine\n"));
  assert.equal(checkContainerfile(text), undefined);
});

interface JobGiven {
  readonly set?: ArchitectureSet;
  readonly config?: RawConfig;
  readonly nodes?: readonly RawNode[];
  readonly optional?: readonly OptionalInput[];
  readonly settings?: Partial<BuildSettings>;
  readonly version?: string;
}

function jobs(given: JobGiven = {}): readonly ReturnType<typeof renderJob>[] {
  const { set = ["amd64", "arm64"], config = {} } = given;
  const plan = planOf({ set, config });
  const facts = {
    config: configOf(given.config),
    settings: { ...SETTINGS, ...given.settings },
    cluster: { payloadArchitecture: "Multi", proxy: { http: "http://proxy.test" }, trustBundle: "PEM" },
    optionalInputs: given.optional ?? [],
    nodes: (given.nodes ?? [{}]).map(nodeOf),
    secretVersions: { pull: "1", push: "1" },
  };
  const { meta, ...rest } = renderedOf();
  const annotations = { ...meta.annotations, [McoAnnotation.releaseVersion]: given.version ?? "4.23.0" };
  const rendered = { ...rest, meta: { ...meta, annotations } };
  const build = parseMachineOSBuild(rawBuild({ ...plan, uid: "build-uid" }));
  return plan.builds.map((arch) => renderJob({ plan, arch, build, rendered, facts, tolerations: [], tag: arch.tag }));
}

function oneJob(given?: JobGiven): KubeObject {
  const [{ job } = assert.fail("no Job")] = jobs(given);
  return job;
}

Deno.test("P-050 renderJob() binds each Job to its architecture, with a deadline, four attempts and its own tag", () => {
  const plan = planOf();
  jobs().forEach(({ job, arch }, at) => {
    const nodeSelector = { "kubernetes.io/arch": arch, "kubernetes.io/os": "linux" };
    assert.deepEqual(textMapAt(podOf(job), "nodeSelector"), nodeSelector);
    const { activeDeadlineSeconds, backoffLimit, completions } = Object(job.spec);
    assert.deepEqual([activeDeadlineSeconds, backoffLimit, completions], [5_400, 3, 1]);
    const env = envOf(job);
    assert.equal(env.get("TAG"), `registry.test/org/os:${plan.builds[at]?.tag}`);
    const target = ["TARGETARCH", "TARGETOS", "TARGETPLATFORM"].map((name) => env.get(name));
    assert.deepEqual(target, [arch, "linux", `linux/${arch}`]);
    const keys = [env.get("BUILD_KEY"), job.metadata.annotations?.["archway.dev/build-key"]];
    assert.deepEqual(keys, Array(2).fill(plan.builds[at]?.buildKey));
    assert.equal(job.metadata.ownerReferences?.[0]?.uid, "build-uid");
  });
});

const BUILDER = `${SETTINGS.builderImage} /bin/bash`;
/** Image and program that build, and that hand the digest over: by oc of the base image before OpenShift 4.23. */
const PROGRAMS: readonly (readonly [string, Partial<BuildSettings>, builds: string, handsOver: string])[] = [
  ["4.18.30", {}, BUILDER, `${BASE_IMAGE} /bin/bash`],
  ["4.22.0-rc.1", { digestImage: "other" }, BUILDER, "other /bin/bash"],
  ["4.22.9", { digestCommand: ["hand-over"] }, BUILDER, `${SETTINGS.builderImage} hand-over`],
  ["4.23.0", {}, BUILDER, `${SETTINGS.builderImage} machine-os-builder`],
  ["5.0.1", {}, BUILDER, `${SETTINGS.builderImage} machine-os-builder`],
  ["4.23.0", { builderImage: "mine" }, "mine /bin/bash", "mine machine-os-builder"],
  ["4.23.0", { builderImage: "mine", digestImage: "other" }, "mine /bin/bash", "other machine-os-builder"],
  ["4.23.0", { builderImage: "mine", builderCommand: ["build"], digestCommand: ["give"] }, "mine build", "mine give"],
];

for (const [version, settings, ...expected] of PROGRAMS) {
  Deno.test(`renderJob() at OpenShift ${version} with ${JSON.stringify(settings)} builds by "${expected.join('", hands over by "')}"`, () => {
    const containers = ["initContainers", "containers"].map((list) =>
      listAt(podOf(oneJob({ version, settings })), list)?.[0]
    );
    assert.deepEqual(containers.map((one) => `${textAt(one, "image")} ${listAt(one, "command")?.[0]}`), expected);
  });
}

Deno.test("renderJob() names the labels of the digest's ConfigMap separated by commas", () => {
  for (const { job } of jobs()) {
    const writer: unknown = listAt(podOf(job), "containers")?.[0];
    const text = /"--labels=([^"]*)"/.exec(JSON.stringify(writer))?.[1];
    assert.equal(envOf(job).get("DIGEST_CONFIGMAP_LABELS"), text);
    assert.ok((text ?? "").split(",").length > 1);
    for (const label of (text ?? "").split(",")) assert.match(label, /^[\w./-]+=[\w.-]*$/);
  }
});

Deno.test("renderJob() of one architecture is the operator's: no node selector, no deadline, its variables alone", () => {
  const job = oneJob({ set: ["amd64"] });
  assert.equal(objectAt(podOf(job), "nodeSelector"), undefined);
  assert.deepEqual(Object.keys(Object(job.spec)).toSorted(), ["backoffLimit", "completions", "template"]);
  assert.deepEqual([...envOf(job).keys()].filter((name) => /ARCH|KEY/.test(name)), []);
  assert.ok(
    Object.keys(job.metadata.labels ?? {}).every((key) => key.startsWith("machineconfiguration.openshift.io/")),
  );
  assert.equal(textAt(podOf(job), "serviceAccountName"), "machine-os-builder");
  assert.equal(envOf(job).get("HTTP_PROXY"), "http://proxy.test");
});

Deno.test("renderJob() of one architecture stays off nodes of another one where the cluster has some", () => {
  const job = oneJob({ set: ["arm64"], nodes: [{}, { reported: "arm64" }] });
  assert.equal(textMapAt(podOf(job), "nodeSelector")?.["kubernetes.io/arch"], "arm64");
});

Deno.test("P-045 O-050 Jobs share ConfigMaps and Secrets, and each has a Containerfile of its own", () => {
  const names = jobs().map(({ configMaps, secrets }) =>
    [...configMaps, ...secrets.map(({ object }) => object)].map(({ metadata }) => metadata.name)
  );
  const [first = [], second = []] = names;
  assert.deepEqual(first.filter((name) => second.includes(name)), first.slice(1));
  const { name: build } = planOf();
  const shared = ["mc", "additionaltrustbundle", "base", "final"].map((name) => `${name}-${build}`);
  assert.deepEqual(first.slice(1), shared);
});

Deno.test("O-024 every object of a build carries the labels by which the operator finds it", () => {
  const [{ job, configMaps } = assert.fail("no Job")] = jobs({ set: ["amd64"] });
  const prefix = "machineconfiguration.openshift.io/";
  for (const { metadata: { labels = {} } } of [job, ...configMaps]) {
    const found = Object.keys(labels).map((key) => key.replace(prefix, "")).toSorted();
    assert.deepEqual(found, [
      "ephemeral-build-object",
      "machine-os-build",
      "machine-os-config",
      "on-cluster-layering",
      "rendered-machine-config",
      "target-machine-config-pool",
    ]);
  }
});

Deno.test("O-026 O-146 the pull secret is the user's, else the copy of the cluster's", () => {
  const from = (config: RawConfig): readonly string[] =>
    jobs({ config }).flatMap(({ secrets }) => secrets.map((one) => one.from)).slice(0, 2);
  assert.deepEqual(from({ pullSecret: "mine" }), ["mine", "push"]);
  assert.deepEqual(from({}), ["global-pull-secret-copy", "push"]);
});

Deno.test("the configuration goes into the build compressed, as it is", () => {
  const [{ configMaps } = assert.fail("no Job")] = jobs();
  const map = configMaps.find(({ metadata }) => metadata.name.startsWith("mc-"));
  const packed = textMapAt(map, "data")?.["machineconfig.json.gz"] ?? "";
  const bytes = gunzipSync(Uint8Array.from(atob(packed), (char) => char.charCodeAt(0)));
  assert.deepEqual(JSON.parse(new TextDecoder().decode(bytes)), JSON.parse(JSON.stringify(renderedOf().whole)));
});

const INPUTS = [
  ["ETC_PKI_ENTITLEMENT_MOUNTPOINT", "/etc/pki/entitlement", "has-etc-pki-entitlement"],
  ["ETC_YUM_REPOS_D_MOUNTPOINT", "/etc/yum.repos.d", "has-etc-yum-repos-d"],
  ["ETC_PKI_RPM_GPG_MOUNTPOINT", "/etc/pki/rpm-gpg", "has-etc-pki-rpm-gpg"],
] as const;

for (const [variable, path, annotation] of INPUTS) {
  Deno.test(`O-025 O-030 renderJob() mounts ${path} where the cluster has it, says so, and does neither otherwise`, () => {
    for (const has of [true, false]) {
      const job = oneJob({ optional: OPTIONAL_INPUTS.filter((input) => has && input.path === path) });
      assert.equal(envOf(job).get(variable), has ? path : undefined);
      const mounts = listAt(listAt(podOf(job), "initContainers")?.[0], "volumeMounts") ?? [];
      assert.equal(mounts.some((mount) => textAt(mount, "mountPath") === path), has);
      const key = `machineconfiguration.openshift.io/${annotation}`;
      assert.equal(Object.hasOwn(job.metadata.annotations ?? {}, key), has);
    }
  });
}

const dedicated = { key: "dedicated", value: "arm", effect: "NoSchedule" };
const gpu = { key: "gpu", value: "", effect: "NoExecute" };
const notReady = { key: "node.kubernetes.io/not-ready", value: "", effect: "NoExecute" };
const arms = (...nodes: readonly NonNullable<RawNode["taints"]>[]): readonly RawNode[] =>
  nodes.map((taints, at) => ({ name: `arm-${at}`, reported: "arm64", taints }));
const NODES: readonly (readonly [name: string, nodes: readonly RawNode[], expected: string])[] = [
  ["a free node", arms([]), "some"],
  ["a free node beside a tainted one", arms([], [dedicated]), "some"],
  ["P-042 tainted nodes", arms([dedicated], [dedicated, gpu]), "some dedicated"],
  ["nodes with nothing in common", arms([dedicated], [gpu]), "some dedicated"],
  ["a taint that only prefers others", arms([{ ...dedicated, effect: "PreferNoSchedule" }]), "some"],
  ["P-041 a cordoned node", [{ reported: "arm64", unschedulable: true }], "none"],
  ["a node in trouble", arms([notReady]), "none"],
  ["nodes of another architecture", [{}], "none"],
];

for (const [name, nodes, expected] of NODES) {
  Deno.test(name.replace(IDS, `$&nodesFor() finds ${expected} with `), () => {
    const found = nodesFor("arm64", { nodes: nodes.map(nodeOf), toleratesDedicated: true });
    const keys = found.kind === "some" ? found.tolerations.map(({ key }) => key) : [];
    assert.equal([found.kind, ...keys].join(" "), expected);
  });
}

Deno.test("P-042 nodesFor() tolerates nothing where it must not, and names the taint", () => {
  const nodes = [nodeOf({ reported: "arm64", taints: [dedicated] })];
  const found = nodesFor("arm64", { nodes, toleratesDedicated: false });
  assert.ok(found.kind === "none" && /dedicated/.test(found.message));
});

const digest = `sha256:${"b".repeat(64)}`;
const GOOD: RegistryAnswer = { kind: "platforms", architectures: ["amd64", "arm64"], digest };

interface Check {
  readonly rendered?: RawRendered;
  readonly config?: RawConfig;
  readonly set?: ArchitectureSet;
  readonly base?: RegistryAnswer;
  readonly push?: RegistryAnswer;
}

function check(
  { rendered = {}, config = {}, set = ["amd64", "arm64"], base = GOOD, push = { kind: "granted" } }: Check,
): Preflight {
  const plan = planOf({ set, config, rendered });
  const answers = new Map([
    [questionKey({ kind: "platforms", reference: BASE_IMAGE }), base],
    [questionKey({ kind: "push", repository: plan.repository }), push],
  ]);
  return preflight({ plan, rendered: renderedOf(rendered), archs: set, answers });
}

const CHECKS: readonly (readonly [name: string, given: Check, expected: string])[] = [
  ["everything is well", {}, "ready"],
  [
    "P-037 the repository cannot be recorded",
    { config: { pushSpec: "registry.test/a/b/os:1" } },
    "amd64 PushSpecNotRecordable, arm64 PushSpecNotRecordable",
  ],
  [
    "P-046 the text of arm64 is wrong",
    { config: { files: [{ containerfileArch: "ARM64", content: "FETCH x\n" }] } },
    "arm64 InvalidContainerfile",
  ],
  ["a text is wrong", { config: { files: [{ content: "FETCH x\n" }] }, set: ["arm64"] }, "arm64 InvalidContainerfile"],
  ["O-031 an extension is unknown", { rendered: { extensions: ["none"] }, set: ["arm64"] }, "arm64 UnknownExtension"],
  ["P-047 arm64 gets large pages", { rendered: { kernelType: "64k-pages" }, set: ["arm64"] }, "ready"],
  ["P-048 amd64 is to get large pages", { rendered: { kernelType: "64k-pages" } }, "amd64 KernelTypeUnsupported"],
  [
    "P-049 the base image is of amd64 alone",
    { base: { kind: "platforms", architectures: ["amd64"], digest } },
    "arm64 BaseImageLacksArchitecture",
  ],
  ["the base image does not exist", { base: { kind: "absent" }, set: ["arm64"] }, "arm64 BaseImageLacksArchitecture"],
  ["P-101 pushing is refused", { push: { kind: "denied", message: "no" }, set: ["arm64"] }, "arm64 PushDenied"],
  ["the registry does not answer", { base: { kind: "unknown", message: "timeout" } }, "wait"],
];

for (const [name, given, expected] of CHECKS) {
  Deno.test(`${name.replace(IDS, "$&preflight() when ")}: ${expected}`, () => {
    const judged = check(given);
    const said = judged.kind === "failed"
      ? judged.failures.map(({ arch, reason }) => `${arch} ${reason}`).join(", ")
      : judged.kind;
    assert.equal(said, expected);
  });
}

Deno.test("preflight() asks for the base image and the right to push, and for the extensions' image where it is used", () => {
  const mc = renderedOf({ ...WITH, extensions: ["wasm"] });
  const plan = planOf();
  const judged = preflight({ plan, rendered: mc, archs: plan.set, answers: new Map() });
  assert.ok(judged.kind === "ask");
  assert.deepEqual(judged.questions.map(questionKey), [
    "push registry.test/org/os",
    `platforms ${BASE_IMAGE}`,
    "platforms registry.test/ext:1",
  ]);
});
