import assert from "node:assert/strict";
import fc from "fast-check";
import { COMMANDS, environmentName, FLAGS } from "../../../lib/config/flags.ts";
import { renderHelp } from "../../../lib/config/help.ts";
import { type Config, parseConfig, type ParsedConfig } from "../../../lib/config/parse.ts";
import { placementProblems } from "../../../lib/placement/decide/config/settings.ts";

const NO_FILES = (path: string): never => {
  throw new Error(`there is no ${path}`);
};

function parse(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  readFile: (path: string) => string = NO_FILES,
): ParsedConfig {
  return parseConfig(args, { env, readFile, placementProblems });
}

function configOf(args: readonly string[], env: Readonly<Record<string, string>> = {}): Config {
  const parsed = parse(args, env);
  assert.equal(parsed.kind, "run", JSON.stringify(parsed));
  return parsed.kind === "run" ? parsed.config : assert.fail();
}

function problemsOf(args: readonly string[], env: Readonly<Record<string, string>> = {}): readonly string[] {
  const parsed = parse(args, env);
  return parsed.kind === "usage" ? parsed.problems : assert.fail(`no usage problem: ${JSON.stringify(parsed)}`);
}

Deno.test("parseConfig() gives typed defaults when nothing is said", () => {
  const { listen, adminListen, maxGateAge, warmAdmission, audit, globalPullSecret, namespace } = configOf(["serve"]);
  assert.deepEqual([listen, adminListen], [{ host: "0.0.0.0", port: 9443 }, { host: "0.0.0.0", port: 8080 }]);
  assert.deepEqual([maxGateAge, warmAdmission, audit, namespace], [60_000, true, false, "archway-system"]);
  assert.deepEqual(globalPullSecret, { namespace: "openshift-config", name: "pull-secret" });
});

Deno.test("parseConfig() lets flags win over ARCHWAY_ variables, those over wider ones, those over defaults", () => {
  for (const [name, key] of [["NAMESPACE", "namespace"], ["KUBECONFIG", "kubeconfig"]] as const) {
    const env = { [name]: "wide", [`ARCHWAY_${name}`]: "own" };
    assert.equal(configOf(["serve"], { [name]: "wide" })[key], "wide");
    assert.equal(configOf(["serve"], env)[key], "own");
    assert.equal(configOf(["serve", `--${key}=flag`], env)[key], "flag");
  }
  assert.equal(configOf(["serve"], { DENO_KV_URL: "http://kv:4512" }).kvUrl, "http://kv:4512");
});

Deno.test("parseConfig() reads OPERATOR_NAMESPACE, and refuses to serve upgrades where WATCH_NAMESPACE is another", () => {
  const name = "openshift-managed-upgrade-operator";
  const upgrades = ["serve", "--only=upgrades"];
  assert.equal(configOf(upgrades, { OPERATOR_NAMESPACE: name }).namespace, name);
  assert.equal(configOf(upgrades, { OPERATOR_NAMESPACE: name, WATCH_NAMESPACE: "" }).namespace, name);
  assert.equal(configOf(upgrades, { OPERATOR_NAMESPACE: name, WATCH_NAMESPACE: name }).namespace, name);
  assert.equal(configOf(upgrades, { OPERATOR_NAMESPACE: name, NAMESPACE: "pod" }).namespace, "pod");
  assert.deepEqual(problemsOf(upgrades, { OPERATOR_NAMESPACE: name, WATCH_NAMESPACE: "other" }), [
    `Cannot use WATCH_NAMESPACE "other": upgrades work in namespace "${name}". ` +
    "Give both the same value: --namespace, NAMESPACE or OPERATOR_NAMESPACE, and WATCH_NAMESPACE.",
  ]);
  assert.equal(configOf(["serve"], { WATCH_NAMESPACE: "other" }).namespace, "archway-system");
});

Deno.test("parseConfig() collects repeated flags and commas into lists", () => {
  const args = ["serve", "--registry", "a:5000", "--registry=b,c", "--registry-ca", "/ca.pem"];
  assert.deepEqual(configOf(args).registry, ["a:5000", "b", "c"]);
  assert.deepEqual(configOf(["serve"], { ARCHWAY_REGISTRY: "x:1, y:2," }).registry, ["x:1", "y:2"]);
});

Deno.test("parseConfig() reads switches with and without a value", () => {
  assert.equal(configOf(["serve", "--warm-admission=false"]).warmAdmission, false);
  assert.equal(configOf(["serve", "--audit"]).audit, true);
  assert.equal(configOf(["serve"], { ARCHWAY_AUDIT: "true" }).audit, true);
});

Deno.test("parseConfig() reports all problems together, each with where, what and the value", () => {
  const problems = problemsOf(
    ["serve", "--listen=nowhere", "--max-gate-age=soon", "--no-such-flag", "--tag-ttl=0s", "--tls-cert=/c.pem"],
    { ARCHWAY_PULL_SECRETS: "all" },
  );
  const wanted = [
    /^Cannot use "--no-such-flag"/,
    /--listen "nowhere"/,
    /--max-gate-age "soon"/,
    /ARCHWAY_PULL_SECRETS "all"/,
    /--tag-ttl "0s"/,
    /--tls-cert and --tls-key go together/,
  ];
  assert.equal(problems.length, wanted.length, problems.join("\n"));
  for (const one of wanted) assert.ok(problems.some((problem) => one.test(problem)), `${one}:\n${problems.join("\n")}`);
});

Deno.test("parseConfig() goes on behind a flag without its value, which hides no other one", () => {
  const problems = problemsOf(["serve", "--tls-key", "--listen=nowhere", "--registry", "--webhook-url=http://h:1"]);
  assert.deepEqual(problems, [
    "Cannot use --tls-key: it has no value. Give it as --tls-key=VALUE.",
    "Cannot use --registry: it has no value. Give it as --registry=VALUE.",
    'Cannot use --listen "nowhere": it is not HOST:PORT with a port up to 65535.',
    "Cannot register --webhook-url: the API server calls webhooks over https:// only.",
  ]);
  const lacking = problemsOf(["ungate", "--kubeconfig", "--kv-url"]);
  assert.equal(lacking.length, 3, "one that is lacking may not exist either");
});

Deno.test("parseConfig() reports lists of placement, those of the file too, together with all else", () => {
  const file =
    "runtimeClasses: [kata]\nvariantLabels: [v7]\narchTaint: '!'\ntolerateArchTaints: ['!']\nworkers: 0\nnonsense: 1\n";
  const args = ["--config=f", "--arch-taints=manage", "--system-namespaces=Kube", "--tag-ttl=0s"];
  for (const command of ["serve", "dev"]) {
    const parsed = parse([command, ...args], {}, () => file);
    const problems = parsed.kind === "usage" ? parsed.problems : assert.fail("no problem");
    assert.equal(problems.length, 8, problems.join("\n"));
  }
});

Deno.test("parseConfig() judges no rule about what it could not read", () => {
  const cases = [
    [["serve", "--only=nothing", "--arch-taints=manage"], 1],
    [["serve", "--webhook-url=nowhere"], 1],
    [["cache", "export", "f", "--kv-url=nowhere"], 1],
    [["index", "--too=b"], 1],
  ] as const;
  for (const [args, count] of cases) assert.equal(problemsOf(args).length, count, problemsOf(args).join("\n"));
});

Deno.test("parseConfig() refuses a command that lacks an argument, and says what to give", () => {
  assert.match(problemsOf(["inspect"]).join(), /^Nothing to inspect: .*images/);
  assert.match(problemsOf(["explain"]).join(), /pod\/NAME/);
  assert.match(problemsOf(["cache", "export", "f"]).join(), /--cache-path/);
  assert.deepEqual(problemsOf(["cache"]).length, 1, "the place of the cache matters once it is used");
});

Deno.test("parseConfig() takes the node of the daemon from NODE_NAME, and asks for it where nothing says it", () => {
  const { nodeName, namespace } = configOf(["enoexec-daemon"], { NODE_NAME: "n1", NAMESPACE: "ours" });
  assert.deepEqual([nodeName, namespace], ["n1", "ours"]);
  assert.match(problemsOf(["enoexec-daemon"]).join(), /^Cannot tell the pods of this node: give --node-name/);
});

Deno.test("parseConfig() keeps words in order and accepts -o and -n", () => {
  const { positionals, output } = configOf(["inspect", "-o", "json", "nginx", "busybox"]);
  assert.deepEqual([positionals, output], [["nginx", "busybox"], "json"]);
  assert.equal(configOf(["explain", "-n", "team", "pod/web"]).podNamespace, "team");
});

Deno.test("parseConfig() takes registry hosts with an underscore or a dot at the end", () => {
  for (const host of ["my_registry:5000", "_registry", "registry.example.", "registry.example.:5000", "[::1]:5000"]) {
    assert.deepEqual(configOf(["inspect", "--registry", host, "nginx"]).registry, [host]);
  }
  for (const host of ["a..", "-a", ".", "a/b"]) {
    assert.match(problemsOf(["inspect", "--registry", host, "nginx"]).join(), /is not HOST/, host);
  }
});

Deno.test("parseConfig() refuses registry hosts that are none, and hides a login", () => {
  assert.deepEqual(problemsOf(["inspect", "--registry", "a:5000,:::", "nginx"]), [
    'Cannot use --registry ":::": it is not HOST or HOST:PORT, without scheme and path.',
  ]);
  assert.match(problemsOf(["dev", "--once", "--registry=:::"]).join(), /--registry ":::"/);
  const text = problemsOf(["serve"], { ARCHWAY_INSECURE_REGISTRY: "https://me:hidden@host" }).join();
  assert.match(text, /^Cannot use ARCHWAY_INSECURE_REGISTRY "https:\/\/\*\*\*@host": it is not HOST/);
});

Deno.test("parseConfig() reports which flag of explain was meant, and refuses -n beside another namespace", () => {
  assert.match(problemsOf(["explain", "--namespace", "x", "web"]).join("\n"), /"--namespace".*mean -n NAMESPACE\?/);
  assert.match(problemsOf(["explain", "-n", "default", "team/web"]).join(), /two namespaces/);
  assert.equal(configOf(["explain", "team/web"], { ARCHWAY_POD_NAMESPACE: "other" }).command, "explain");
});

Deno.test("parseConfig() reports a flag that does not exist alone, not also its value as a word too many", () => {
  const commands = [["upgrade", "status", "--outptu", "json"], ["explain", "--nmespace", "x", "web"]];
  for (const args of [...commands, ["ungate", "--out", "json"], ["taints", "plan", "--outptu", "json"]]) {
    assert.equal(problemsOf(args).length, 1, args.join(" "));
    assert.match(problemsOf(args).join(), /^Cannot use "--.*: no such flag\./);
  }
  assert.equal(problemsOf(["upgrade", "status", "json"]).length, 1);
});

Deno.test("parseConfig() refuses other names of architectures, and upper case, and gives the name that nodes have", () => {
  const others: Readonly<Record<string, readonly string[]>> = {
    amd64: ["x86_64", "x86-64", "x64", "AMD64"],
    arm64: ["aarch64", "AArch64", "ARM64"],
    arm: ["armv7", "armv7l", "armhf"],
    386: ["i386", "i686", "x86"],
    ppc64le: ["ppc64el"],
  };
  for (const [right, given] of Object.entries(others)) {
    for (const name of given) {
      assert.deepEqual(problemsOf(["report", "--arch", name]), [
        `Cannot use --arch "${name}": it is not an architecture as nodes are labelled: use ${right}.`,
      ]);
    }
    assert.equal(configOf(["report", "--arch", right]).arch, right);
  }
  assert.equal(configOf(["report", "--arch=riscv64"]).arch, "riscv64");
  for (const none of ["linux/arm64", "arm46"]) {
    assert.match(problemsOf(["report", `--arch=${none}`]).join(), /as nodes are labelled: amd64, arm64\.$/);
  }
});

Deno.test("parseConfig() keeps a warning for each variable that no flag has", () => {
  assert.deepEqual(configOf(["ungate"], { ARCHWAY_DRYRUN: "true" }).warnings.length, 1);
  assert.deepEqual(configOf(["ungate"], { ARCHWAY_DRY_RUN: "true" }).warnings, []);
});

Deno.test("parseConfig() names the commands when none or an unknown one is given", () => {
  assert.equal(parse([], {}).kind, "help");
  assert.match(problemsOf(["serv"]).join(), /serve, dev, inspect/);
  assert.match(problemsOf(["--verbose"]).join(), /^Name a command before its flags: .*serve, dev, inspect/);
  assert.deepEqual(parse(["dev", "--help"], {}), { kind: "help", command: "dev" });
  assert.equal(parse(["--version"], {}).kind, "version");
});

Deno.test("parseConfig() never throws, whatever the arguments and the environment", () => {
  const names = FLAGS.map(({ name }) => `--${name}`);
  const word = fc.oneof(fc.string(), fc.constantFrom(...names, ...COMMANDS, ...names.map((name) => `${name}=`)));
  fc.assert(fc.property(fc.array(word, { maxLength: 8 }), fc.string(), (args, value) => {
    const env = Object.fromEntries(FLAGS.slice(0, 5).map(({ name }) => [environmentName(name), value]));
    assert.ok(["run", "help", "version", "usage"].includes(parse(args, env).kind));
  }));
});

Deno.test("renderHelp() lists each flag of a command once, in lines of at most 80 columns, with examples and exit codes", () => {
  for (const command of COMMANDS) {
    const text = renderHelp(command);
    for (const flag of FLAGS.filter(({ commands }) => commands.includes(command))) {
      const lines = text.match(new RegExp(`^ .{4} --${flag.name}(?: |$)`, "gm"));
      assert.equal(lines?.length, 1, `${command} --${flag.name}`);
    }
    assert.deepEqual(text.split("\n").filter((line) => line.length > 80), []);
    assert.match(text, /\nExamples:\n {2}archway /);
    assert.match(text, /\nExit codes: 0 done, [^]*2\s+bad\s+usage,\s+3\s+failed\.\n$/);
  }
});

Deno.test("renderHelp() gives examples that parse as what they show", () => {
  for (const command of COMMANDS) {
    const examples = renderHelp(command).split("\n").filter((line) => /^ {2}archway /.test(line));
    for (const line of examples) {
      const args = line.trim().split(" ").slice(1).map((word) => word === "URL" ? "http://kv:4512" : word);
      assert.equal(configOf(args.map((word) => word.replace("HOST:PORT", "h:1"))).command, command, line);
    }
  }
});

Deno.test("parseConfig() refuses words that a command has no use for, and helps with `help COMMAND`", () => {
  for (const command of ["serve", "dev", "ungate"]) {
    assert.match(problemsOf([command, "extra"]).join(), new RegExp(`Cannot use "extra" with ${command}: .*flags only`));
  }
  assert.deepEqual(parse(["help", "explain"], {}), { kind: "help", command: "explain" });
  assert.deepEqual(parse(["help"], {}), { kind: "help", command: undefined });
});

Deno.test("parseConfig() refuses a flag whose value is missing, and does not take the next flag for it", () => {
  assert.match(problemsOf(["ungate", "--kubeconfig", "--dry-run"]).join(), /--kubeconfig: it has no value/);
  assert.match(problemsOf(["explain", "pod/x", "-o"]).join(), /--output: it has no value/);
  assert.match(problemsOf(["serve", "--exec-format-errors"]).join(), /=off\|report\|avoid\|repair\.$/);
  assert.equal(configOf(["serve", "--cache-path=--odd"]).cachePath, "--odd");
});

Deno.test("parseConfig() keeps what the environment says of home and proxies, and repeats no password of it", () => {
  const env = { HOME: "/home/me", HTTPS_PROXY: "http://user:c4nary@proxy:3128", NO_PROXY: ".svc" };
  assert.deepEqual(configOf(["serve"], env).registryEnvironment, {
    home: "/home/me",
    cacheHome: "/home/me/.cache",
    proxies: { https: "http://user:c4nary@proxy:3128", except: [".svc"] },
  });
  assert.doesNotMatch(problemsOf(["serve", "--listen", "nonsense"], env).join(), /c4nary/);
});

Deno.test("parseConfig() names the flag or command that was meant where one is near, and a flag as it was typed", () => {
  const cases: readonly (readonly [args: readonly string[], says: RegExp])[] = [
    [["dev", "--onec"], /^Cannot use "--onec" with dev: no such flag\. Did you mean --once\?$/],
    [["report", "--kubeconfg=x"], /^Cannot use "--kubeconfg" with report: no such flag\. Did you mean --kubeconfig\?$/],
    [["report", "--onec"], /^Cannot use "--onec" with report: no such flag\. See `archway report --help`\.$/],
    [["inspect", "-x", "web"], /^Cannot use "-x" with inspect: no such flag\. See `archway inspect --help`\.$/],
    [["serve", "-o", "json"], /^Cannot use "-o" with serve: no such flag\./],
    [["inspekt", "web"], /^Cannot run "inspekt": the commands are serve, .*\. Did you mean inspect\?$/],
    [["nonsense"], /^Cannot run "nonsense": the commands are serve, .*completion\.$/],
  ];
  for (const [args, says] of cases) assert.match(problemsOf(args).join(), says);
});
