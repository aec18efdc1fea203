// Commands as a shell runs them: what goes to which stream, and the exit code.
import assert from "node:assert/strict";
import { createAuthority } from "./cluster/support/pki.ts";
import type { Ran } from "./lib/cli/support.ts";
import { archwayProgram, runArchway } from "./support/archway_program.ts";
import { makeImage } from "./support/documents.ts";
import { openFakeRegistry } from "./support/registry.ts";
import { Match, openApiServerStub, statusBody } from "./support/api_server.ts";
import { temporaryFolder } from "./support/temporary_folder.ts";

/** Deno's own folder, which it would look for in the home. */
const DENO_DIR = Deno.env.get("DENO_DIR") ??
  `${Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME")}/.cache`}/deno`;

async function archway(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  // No home: a cluster of whoever runs the tests must stay out of them.
  const none = { HOME: "", KUBECONFIG: "", KUBERNETES_SERVICE_HOST: "", ARCHWAY_KUBECONFIG: "" };
  const { code, stdout, stderr } = await runArchway(args, { DENO_DIR, ...none, ...env });
  return { code, out: stdout, err: stderr };
}

const HELPFUL: readonly (readonly [args: readonly string[], says: RegExp])[] = [
  [[], /^Archway places pods .*\n\nUsage: archway COMMAND/],
  [["--version"], /^archway \d+\.\d+\.\d+\n$/],
  [["explain", "--help"], /^Show where a pod stands/],
  [["help", "ungate"], /^Lift Archway's gate/],
];

const REFUSED: readonly (readonly [args: readonly string[], code: number, says: RegExp])[] = [
  [["nonsense"], 2, /^archway: Cannot run "nonsense": the commands are serve, /],
  [["explain"], 2, /^archway: Cannot explain: name one pod/],
  [["ungate", "-o", "xml", "--nonsense"], 2, /no such flag.*\n.*it is not one of table, json, yaml\.\n$/],
  [["serve", "--system-namespaces=Kube", "--tag-ttl=0s"], 2, /--tag-ttl "0s".*\n.*system namespace "Kube"/],
  [["ungate"], 3, /^archway: Not in a pod and no kubeconfig given\. Pass --kubeconfig FILE or set KUBECONFIG\.\n$/],
  [["serve"], 3, /^archway: Not in a pod and no kubeconfig given\./],
  [["serve", "--kubeconfig=/no/such/file"], 3, /^archway: Cannot read kubeconfig "\/no\/such\/file": /],
  [["inspect", "--registry", ":::", "nginx"], 2, /^archway: Cannot use --registry ":::": /],
  [["dev", "--once", "--registry", ":::"], 2, /^archway: Cannot use --registry ":::": /],
  [["explain", "pod/web", "--kubeconfig=/no/such/file"], 3, /^archway: Cannot read kubeconfig "\/no\/such\/file": /],
];

Deno.test("archway helps on standard output and exits 0", async () => {
  for (const [args, says] of HELPFUL) {
    const { code, out, err } = await archway(args);
    assert.deepEqual([code, err], [0, ""], args.join(" "));
    assert.match(out, says);
  }
});

Deno.test("archway prints what is wrong on standard error: 2 for how it was called, 3 for what failed", async () => {
  for (const [args, wanted, says] of REFUSED) {
    const { code, out, err } = await archway(args);
    assert.deepEqual([code, out], [wanted, ""], args.join(" "));
    assert.match(err, says);
  }
});

Deno.test("archway explain takes the kubeconfig of the home, and of a list of files the first that is there", async () => {
  await using home = await temporaryFolder();
  await Deno.mkdir(`${home.path}/.kube`);
  await Deno.writeTextFile(`${home.path}/.kube/config`, "contexts: []\n");
  const byHome = await archway(["explain", "pod/web"], { HOME: home.path, ARCHWAY_OUTPT: "json" });
  assert.equal(byHome.code, 3);
  const ignored =
    /^archway: Ignored the variable ARCHWAY_OUTPT: .*\narchway: Cannot use .*kubeconfig "\S+\/\.kube\/config"/;
  assert.match(byHome.err, ignored);
  const without = await archway(["ungate"], { HOME: `${home.path}/empty` });
  const places = `there is no ${home.path}/empty/.kube/config. Pass --kubeconfig FILE`;
  assert.ok(without.err.includes(places) && without.code === 3, without.err);
  const byList = await archway(["ungate"], { KUBECONFIG: `/no/such/file:${home.path}/.kube/config` });
  assert.match(byList.err, /^archway: Cannot use .*kubeconfig "\S+\/\.kube\/config"/);
});

Deno.test("archway explain looks for a pod in the namespace of the kubeconfig's context, unless -n names another", async () => {
  const authority = await createAuthority("cluster");
  const server = await authority.issue({ commonName: "server", usage: "server" });
  await using stub = await openApiServerStub({ tls: { cert: server.certificatePem, key: server.keyPem } });
  await using folder = await temporaryFolder();
  const kubeconfig = `${folder.path}/config`;
  const ca = btoa(authority.certificatePem);
  const config = {
    clusters: [{ name: "c", cluster: { server: stub.url, "certificate-authority-data": ca } }],
    users: [{ name: "u", user: { token: "t" } }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u", namespace: "team" } }],
    "current-context": "x",
  };
  await Deno.writeTextFile(kubeconfig, JSON.stringify(config));
  for (const [args, namespace] of [[[], "team"], [["-n", "other"], "other"]] as const) {
    stub.obstruct(Match.any, { kind: "json", status: 404, body: statusBody(404, "NotFound") });
    const { code, err } = await archway(["explain", "web", "--kubeconfig", kubeconfig, ...args]);
    assert.equal(code, 1, err);
    assert.match(err, new RegExp(`there is none in namespace "${namespace}"`));
    assert.equal(stub.requests.at(-1)?.path, `/api/v1/namespaces/${namespace}/pods/web`);
  }
});

Deno.test("archway index and inspect log in as container tools do: REGISTRY_AUTH_FILE, DOCKER_CONFIG, the home", async () => {
  await using registry = await openFakeRegistry({ login: { kind: "basic", users: { me: "right" } } });
  const { config, manifest } = makeImage();
  registry.putBlob("team/app", config);
  registry.put("team/app", manifest, "v1");
  const image = `${registry.host}/team/app:v1`;
  await using folder = await temporaryFolder();
  const home = folder.path;
  const login = async (path: string, password: string): Promise<void> => {
    await Deno.mkdir(`${home}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    const auths = { [registry.host]: { auth: btoa(`me:${password}`) } };
    await Deno.writeTextFile(`${home}/${path}`, JSON.stringify({ auths }));
  };
  const inspect = async (command: readonly string[], env: Readonly<Record<string, string>>): Promise<number> => {
    const args = [...command, "--insecure-registry", registry.host, image];
    return (await archway(args, { DOCKER_CONFIG: "", REGISTRY_AUTH_FILE: "", ...env })).code;
  };
  const index = ["index", "inspect"];
  assert.equal(await inspect(index, { HOME: home }), 1);
  await login(".docker/config.json", "right");
  assert.equal(await inspect(index, { HOME: home }), 0);
  assert.equal(await inspect(["inspect"], { HOME: home }), 0);
  await login("other/config.json", "wrong");
  assert.equal(await inspect(index, { HOME: home, DOCKER_CONFIG: `${home}/other` }), 1);
  await login("auth.json", "right");
  const all = { HOME: home, DOCKER_CONFIG: `${home}/other`, REGISTRY_AUTH_FILE: `${home}/auth.json` };
  assert.equal(await inspect(index, all), 0);
});

interface Outcome {
  readonly pod: string;
  readonly ok: boolean;
  readonly report?: string;
}

function endsOf(outcomes: readonly Outcome[]): readonly string[] {
  return outcomes.map(({ pod, ok }) => `${pod} ${ok}`).sort();
}

Deno.test("archway dev --once --scenario taints: pods that ran before, are placed or left alone tolerate the taints of their nodes", async () => {
  const { code, out, err } = await archway(["dev", "--once", "--scenario", "taints", "-o", "json"]);
  assert.deepEqual([code, err], [0, ""]);
  const pods = ["left-alone", "none-in-common", "placed", "ran-before", "three-images"];
  assert.deepEqual(endsOf(JSON.parse(out)), pods.map((pod) => `${pod} true`));
});

Deno.test("Q-01 Q-03 Q-04 Q-05 Q-06 Q-07 Q-08 archway dev --once --scenario odd-pods: each unusual pod ends as its sample says", async () => {
  const { code, out, err } = await archway(["dev", "--once", "--scenario", "odd-pods", "-o", "json"]);
  assert.deepEqual([code, err], [0, ""], out);
  const outcomes: readonly Outcome[] = JSON.parse(out);
  const pods = [
    ...["for-virtual-node", "image-exchanged", "image-volumes", "left-alone", "pinned-wrongly", "signed"],
    ...["virtual-machine", "wasm-and-sidecar"],
  ];
  assert.deepEqual(endsOf(outcomes), pods.map((pod) => `${pod} true`));
  const reports = outcomes.flatMap(({ pod, report }) => report === undefined ? [] : [`${pod}: ${report}`]);
  assert.equal(reports.length, 2);
  const [exchanged = "", pinned = ""] = reports.toSorted();
  const mismatch =
    /^image-exchanged: Container "edge" cannot run on node "arm64-1" .*demo\/legacy:v1 supports \{amd64\}/;
  assert.match(exchanged, mismatch);
  assert.match(pinned, /^pinned-wrongly: A pod requires nodes of \{arm64\} .*demo\/other:v1 has \{amd64\}/);
});

/** `archway dev` as a process whose temporary files are in this folder, once it has shown its addresses. */
async function startDev(
  folder: string,
): Promise<{ readonly child: Deno.ChildProcess; readonly rest: Promise<string> }> {
  const [command, ...leading] = archwayProgram("all");
  const child = new Deno.Command(command, {
    args: [...leading, "dev", "--admin-listen=127.0.0.1:0"],
    env: { NO_COLOR: "1", TMPDIR: folder },
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value = "" } = await reader.read();
  assert.match(value, /^API server /);
  const readRest = async (): Promise<string> => {
    const { done, value = "" } = await reader.read();
    return done ? value : value + await readRest();
  };
  return { child, rest: readRest() };
}

Deno.test("archway dev cleans up when it is stopped, though a terminal's signal comes a second time through `deno task`", async () => {
  await using folder = await temporaryFolder();
  const { child, rest } = await startDev(folder.path);
  assert.equal((await Array.fromAsync(Deno.readDir(folder.path))).length, 1);
  // Two kinds: the kernel delivers both, where of one kind the second may merge with the first.
  child.kill("SIGINT");
  child.kill("SIGTERM");
  const [{ code }] = await Promise.all([child.status, rest]);
  assert.deepEqual(await Array.fromAsync(Deno.readDir(folder.path)), []);
  assert.ok(code === 0 || code === 3, `${code}`);
});

Deno.test("archway ends quietly when whoever reads its output closes it", async () => {
  const [command, ...leading] = archwayProgram("all");
  const options = { stdin: "null", stdout: "piped", stderr: "piped" } as const;
  const child = new Deno.Command(command, { args: [...leading, "serve", "--help"], ...options }).spawn();
  await child.stdout.cancel();
  const [{ code }, said] = await Promise.all([child.status, new Response(child.stderr).text()]);
  assert.deepEqual([code, said], [141, ""]);
});
