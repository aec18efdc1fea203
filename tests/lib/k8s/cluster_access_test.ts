import assert from "node:assert/strict";
import { type ClusterAccess, readInClusterAccess } from "../../../lib/k8s/cluster_access.ts";
import { readKubeconfigAccess } from "../../../lib/k8s/kubeconfig_access.ts";
import { errorText } from "../../../lib/log.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import { type CertificateAuthority, createAuthority, type IssuedCertificate } from "../../cluster/support/pki.ts";
import {
  type ApiServerStub,
  Match,
  openApiServerStub,
  statusBody,
  type StubRequest,
} from "../../support/api_server.ts";
import { openTestApi } from "../../support/cluster_api.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import { issueSelfSigned } from "./pinned/self_signed.ts";

interface Scene {
  readonly directory: string;
  readonly stub: ApiServerStub;
  readonly authority: CertificateAuthority;
  readonly client: IssuedCertificate;
  write(name: string, text: string): Promise<string>;
  ask(access: ClusterAccess): Promise<StubRequest>;
}

async function withServer(
  options: { readonly names?: readonly string[]; readonly asksForClientCertificate?: true },
  play: (scene: Scene) => Promise<void>,
): Promise<void> {
  const authority = await createAuthority("cluster");
  const server = await authority.issue({
    commonName: "server",
    usage: "server",
    ...(options.names === undefined ? {} : { names: options.names }),
  });
  const client = await authority.issue({ commonName: "system:archway", usage: "client" });
  const clientCa = options.asksForClientCertificate === undefined ? {} : { clientCa: authority.certificatePem };
  await using stub = await openApiServerStub({ tls: { cert: server.certificatePem, key: server.keyPem, ...clientCa } });
  const directory = await Deno.makeTempDir();
  const write = async (name: string, text: string): Promise<string> => {
    await Deno.writeTextFile(`${directory}/${name}`, text);
    return `${directory}/${name}`;
  };
  const ask = async (access: ClusterAccess): Promise<StubRequest> => {
    await using api = openTestApi(access);
    await api.list(Resource.pods, {}, AbortSignal.timeout(5_000));
    const seen = stub.requests.at(-1);
    assert.ok(seen !== undefined);
    return seen;
  };
  try {
    await play({ directory, stub, authority, client, write, ask });
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

function kubeconfig(
  scene: Scene,
  parts: { readonly user: unknown; readonly cluster?: Readonly<Record<string, unknown>> },
): string {
  const ca = { "certificate-authority-data": btoa(scene.authority.certificatePem) };
  return JSON.stringify({
    clusters: [{ name: "c", cluster: { server: scene.stub.url, ...ca, ...parts.cluster } }],
    users: [{ name: "u", user: parts.user }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  });
}

Deno.test("readInClusterAccess() reads token and CA, and the token again when a minute has passed", () =>
  withServer({}, async ({ directory, stub, authority, write, ask }) => {
    const clock = new FakeClock();
    await write("token", "first\n");
    await write("ca.crt", authority.certificatePem);
    const access = await readInClusterAccess({ host: "127.0.0.1", port: String(stub.port), directory, clock });
    assert.equal((await ask(access)).headers["authorization"], "Bearer first");
    await write("token", "second");
    assert.equal((await ask(access)).headers["authorization"], "Bearer first");
    await clock.advance(60_000);
    assert.equal((await ask(access)).headers["authorization"], "Bearer second");
    const [one, two] = [await access.credentials(), await access.credentials()];
    assert.equal(one.tls, two.tls, "an unchanged CA keeps the connection pool");
  }));

Deno.test("readInClusterAccess() reads the token again at once after a 401", () =>
  withServer({}, async ({ directory, stub, authority, write, ask }) => {
    const clock = new FakeClock();
    await write("token", "first");
    await write("ca.crt", authority.certificatePem);
    const access = await readInClusterAccess({ host: "127.0.0.1", port: String(stub.port), directory, clock });
    await write("token", "second");
    await clock.advance(2_000);
    stub.obstruct(Match.any, { kind: "json", status: 401, body: statusBody(401, "Unauthorized") });
    assert.equal((await ask(access)).headers["authorization"], "Bearer second");
  }));

Deno.test("readInClusterAccess() keeps the credentials it has while the files cannot be read", () =>
  withServer({}, async ({ directory, stub, authority, write, ask }) => {
    const clock = new FakeClock();
    await write("token", "first");
    await write("ca.crt", authority.certificatePem);
    const access = await readInClusterAccess({ host: "127.0.0.1", port: String(stub.port), directory, clock });
    await Deno.remove(`${directory}/token`);
    await clock.advance(61_000);
    assert.equal((await ask(access)).headers["authorization"], "Bearer first");
  }));

Deno.test("readInClusterAccess() reports which file or variable is missing and what to do", () =>
  withServer({}, async ({ directory, write }) => {
    const clock = new FakeClock();
    await assert.rejects(
      readInClusterAccess({ host: undefined, port: undefined, directory, clock }),
      /^Error: Not in a pod and no kubeconfig given\. Pass --kubeconfig FILE or set KUBECONFIG\.$/,
    );
    await assert.rejects(readInClusterAccess({ host: "::1", port: "", directory, clock }), /KUBERNETES_SERVICE_PORT/);
    await assert.rejects(
      readInClusterAccess({ host: "::1", port: "6443", directory, clock }),
      /"\S+\/token".*--kubeconfig/,
    );
    await write("token", " ");
    await write("ca.crt", "x");
    await assert.rejects(
      readInClusterAccess({ host: "::1", port: "6443", directory, clock }),
      /"\S+\/token": it is empty/,
    );
    await write("token", "t");
    const access = await readInClusterAccess({ host: "::1", port: "6443", directory, clock });
    assert.equal(access.baseUrl, "https://[::1]:6443");
  }));

Deno.test("readKubeconfigAccess() uses a token, and a token file that it reads again", () =>
  withServer({}, async (scene) => {
    const clock = new FakeClock();
    const path = await scene.write("config", kubeconfig(scene, { user: { token: "static" } }));
    assert.equal(
      (await scene.ask(await readKubeconfigAccess(path, { clock }))).headers["authorization"],
      "Bearer static",
    );
    await scene.write("token", "from-file\n");
    const withFile = await scene.write("config2", kubeconfig(scene, { user: { tokenFile: "token" } }));
    const access = await readKubeconfigAccess(withFile, { clock });
    assert.equal((await scene.ask(access)).headers["authorization"], "Bearer from-file");
    await scene.write("token", "rotated");
    await clock.advance(60_000);
    assert.equal((await scene.ask(access)).headers["authorization"], "Bearer rotated");
  }));

Deno.test("readKubeconfigAccess() presents a client certificate, from data or from relative files", () =>
  withServer({ asksForClientCertificate: true }, async (scene) => {
    const { certificatePem, keyPem } = scene.client;
    const clock = new FakeClock();
    const data = { "client-certificate-data": btoa(certificatePem), "client-key-data": btoa(keyPem) };
    const path = await scene.write("config", kubeconfig(scene, { user: data }));
    assert.equal((await scene.ask(await readKubeconfigAccess(path, { clock }))).clientName, "system:archway");
    await scene.write("c.pem", certificatePem);
    await scene.write("k.pem", keyPem);
    const files = { "client-certificate": "c.pem", "client-key": "k.pem" };
    const second = await scene.write("config2", kubeconfig(scene, { user: files }));
    assert.equal((await scene.ask(await readKubeconfigAccess(second, { clock }))).clientName, "system:archway");
  }));

Deno.test("readKubeconfigAccess() runs an exec plugin, again when its token has expired or is refused", async () => {
  await withServer({}, async (scene) => {
    const clock = new FakeClock();
    const counter = `${scene.directory}/count`;
    const script = await scene.write(
      "plugin.sh",
      `#!/bin/sh
n=$(cat ${counter} 2>/dev/null || echo 0); n=$((n + 1)); echo $n > ${counter}
expires=2020-01-01T00:00:00Z; [ $n -ge 2 ] && expires=2099-01-01T00:00:00Z
printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"%s-%s","expirationTimestamp":"%s"}}' "$PREFIX" $n $expires
`,
    );
    await Deno.chmod(script, 0o755);
    const env = [{ name: "PREFIX", value: "exec" }];
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: script, args: [], env };
    const path = await scene.write("config", kubeconfig(scene, { user: { exec } }));
    const access = await readKubeconfigAccess(path, { clock });
    assert.equal((await scene.ask(access)).headers["authorization"], "Bearer exec-1");
    await clock.advance(60_000);
    assert.equal((await scene.ask(access)).headers["authorization"], "Bearer exec-2", "the first has expired");
    await clock.advance(60_000);
    assert.equal((await scene.ask(access)).headers["authorization"], "Bearer exec-2", "the second has not");
    await clock.advance(2_000);
    scene.stub.obstruct(Match.any, { kind: "json", status: 401, body: statusBody(401, "Unauthorized") });
    assert.equal((await scene.ask(access)).headers["authorization"], "Bearer exec-3", "refused, so asked anew");
  });
});

Deno.test("readKubeconfigAccess() trusts the server by the kubeconfig's CA and its name alone", async () => {
  await withServer({ names: ["kubernetes.default"] }, async (scene) => {
    const clock = new FakeClock();
    const named = await scene.write("config", kubeconfig(scene, { user: { token: "t" } }));
    await assert.rejects(scene.ask(await readKubeconfigAccess(named, { clock })), /certificate/);
  });
  await withServer({}, async (scene) => {
    const clock = new FakeClock();
    const foreign = { "certificate-authority-data": btoa((await createAuthority("foreign")).certificatePem) };
    const wrong = await scene.write("config", kubeconfig(scene, { user: { token: "t" }, cluster: foreign }));
    await assert.rejects(scene.ask(await readKubeconfigAccess(wrong, { clock })), /certificate/);
  });
});

Deno.test("readKubeconfigAccess() reports what is wrong: file, context, two ways at once, failing plugin", () =>
  withServer({}, async (scene) => {
    const clock = new FakeClock();
    const read = (path: string, context?: string): Promise<ClusterAccess> =>
      readKubeconfigAccess(path, context === undefined ? { clock } : { clock, context });
    await assert.rejects(read(`${scene.directory}/none`), /Cannot read kubeconfig "\S+\/none"/);
    await assert.rejects(read(await scene.write("bad", "{{{")), /Cannot read kubeconfig "\S+\/bad"/);
    for (
      const text of [
        'token: "hidden',
        "a: *hidden",
        "a: !<hidden> b",
        "hidden: 1\nhidden: 2",
        "hidden",
        "users: hidden",
      ]
    ) {
      const path = await scene.write("quoting", text);
      const error = await read(path).then(() => assert.fail(text), (reason) => reason);
      assert.match(errorText(error), /^Cannot (?:read|use) [^\n]*kubeconfig "[^"\n]*"[^\n]*$/, text);
      assert.doesNotMatch(errorText(error), /hidden/, text);
    }
    const good = await scene.write("good", kubeconfig(scene, { user: { token: "t" } }));
    await assert.rejects(read(good, "other"), /Cannot use context "other" of kubeconfig "\S+": .*Choose one of: x\./);
    const renames = { "tls-server-name": "kubernetes.default", "proxy-url": "http://proxy.test:3128" };
    await assert.rejects(
      read(await scene.write("renaming", kubeconfig(scene, { user: { token: "t" }, cluster: renames }))),
      /tls-server-name.*beside proxy-url.*not supported/,
    );
    const fileless = await scene.write("fileless", kubeconfig(scene, { user: { tokenFile: "none" } }));
    await assert.rejects(read(fileless), /Cannot read token file "\S+\/none" of kubeconfig "\S+\/fileless"/);
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "/bin/false", args: [] };
    const failing = await scene.write("failing", kubeconfig(scene, { user: { exec } }));
    await assert.rejects(read(failing), /user "u" in kubeconfig "\S+": its exec plugin failed/);
  }));

Deno.test("readKubeconfigAccess() takes any certificate where the file sets that, and warns of it", () =>
  withServer({ names: ["kubernetes.default"], asksForClientCertificate: true }, async (scene) => {
    const { certificatePem, keyPem } = scene.client;
    const user = { "client-certificate-data": btoa(certificatePem), "client-key-data": btoa(keyPem), token: "t" };
    const cluster = { "insecure-skip-tls-verify": true, "certificate-authority-data": undefined };
    const path = await scene.write("config", kubeconfig(scene, { user, cluster }));
    const warnings: string[] = [];
    const warn = (message: string): void => void warnings.push(message);
    const seen = await scene.ask(await readKubeconfigAccess(path, { clock: new FakeClock(), warn }));
    assert.deepEqual([seen.headers["authorization"], seen.clientName], ["Bearer t", "system:archway"]);
    assert.match(warnings.join(), /"\S+config" sets insecure-skip-tls-verify: whoever answers at https:/);
  }));

Deno.test("readKubeconfigAccess() verifies the server by the file's tls-server-name, and calls it by its own", () =>
  withServer({ names: ["kubernetes.default"] }, async (scene) => {
    const clock = new FakeClock();
    const read = async (name: string): Promise<ClusterAccess> =>
      await readKubeconfigAccess(
        await scene.write(name, kubeconfig(scene, { user: { token: "t" }, cluster: { "tls-server-name": name } })),
        { clock },
      );
    const seen = await scene.ask(await read("kubernetes.default"));
    assert.equal(seen.headers["host"], new URL(scene.stub.url).host);
    await assert.rejects(scene.ask(await read("kubernetes.other")), /certificate not valid for name.*is for this name/);
  }));

for (const names of [undefined, "kubernetes.default"]) {
  Deno.test(`readKubeconfigAccess() trusts a server that is its own CA${names === undefined ? "" : `, named ${names}`}`, async () => {
    const clock = new FakeClock();
    const own = await issueSelfSigned({
      names: names === undefined ? [{ type: "ip", value: "127.0.0.1" }] : [{ type: "dns", value: names }],
    });
    await using stub = await openApiServerStub({ tls: { cert: own.pem, key: own.key } });
    const write = async (trusted: string): Promise<string> => {
      const cluster = { server: stub.url, "certificate-authority-data": btoa(trusted), "tls-server-name": names };
      const path = await Deno.makeTempFile();
      const contexts = [{ name: "x", context: { cluster: "c", user: "u" } }];
      const users = [{ name: "u", user: { token: "t" } }];
      const config = { clusters: [{ name: "c", cluster }], users, contexts, "current-context": "x" };
      await Deno.writeTextFile(path, JSON.stringify(config));
      return path;
    };
    const list = async (trusted: string): Promise<void> => {
      const path = await write(trusted);
      await using api = openTestApi(await readKubeconfigAccess(path, { clock }));
      await Deno.remove(path);
      await api.list(Resource.pods, {}, AbortSignal.timeout(5_000));
    };
    await list(own.pem);
    assert.equal(stub.requests.length, 1);
    await assert.rejects(list((await issueSelfSigned()).pem), /marked as a CA: put its issuer and itself/);
    assert.equal(stub.requests.length, 1, "nothing is sent to a server that is not trusted");
  });
}
