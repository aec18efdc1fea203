import assert from "node:assert/strict";
import {
  type ClusterAccess,
  type ClusterCredentials,
  CredentialsCache,
  readInClusterAccess,
} from "../../../lib/k8s/cluster_access.ts";
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
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { issueSelfSigned } from "../tls/self_signed.ts";

interface Scene {
  readonly directory: string;
  readonly clock: FakeClock;
  readonly stub: ApiServerStub;
  readonly authority: CertificateAuthority;
  readonly client: IssuedCertificate;
  write(name: string, text: string): Promise<string>;
  ask(access: ClusterAccess): Promise<StubRequest>;
  /** The header `authorization` of a request. */
  authorization(access: ClusterAccess): Promise<string | undefined>;
  /** As in a pod, with a first token. */
  inCluster(): Promise<ClusterAccess>;
}

interface KubeconfigParts {
  readonly user?: unknown;
  readonly cluster?: Readonly<Record<string, unknown>>;
}

async function withServer(
  options: { readonly names?: readonly string[]; readonly asksForClientCertificate?: true },
  play: (scene: Scene) => Promise<void>,
): Promise<void> {
  const authority = await createAuthority("cluster");
  const names = options.names && { names: options.names };
  const server = await authority.issue({ commonName: "server", usage: "server", ...names });
  const client = await authority.issue({ commonName: "system:archway", usage: "client" });
  const clientCa = options.asksForClientCertificate === undefined ? {} : { clientCa: authority.certificatePem };
  await using stub = await openApiServerStub({ tls: { cert: server.certificatePem, key: server.keyPem, ...clientCa } });
  await using folder = await temporaryFolder();
  const directory = folder.path;
  const clock = new FakeClock();
  const write = async (name: string, text: string): Promise<string> => {
    await Deno.writeTextFile(`${directory}/${name}`, text);
    return `${directory}/${name}`;
  };
  const ask = async (access: ClusterAccess): Promise<StubRequest> => {
    await using api = openTestApi(access);
    await api.list(Resource.pods, {}, AbortSignal.timeout(5_000));
    return stub.requests.at(-1) ?? assert.fail();
  };
  const authorization = async (access: ClusterAccess): Promise<string | undefined> =>
    (await ask(access)).headers["authorization"];
  const inCluster = async (): Promise<ClusterAccess> => {
    await write("token", "first\n");
    await write("ca.crt", authority.certificatePem);
    return await readInClusterAccess({ host: "127.0.0.1", port: String(stub.port), directory, clock });
  };
  await play({ directory, clock, stub, authority, client, write, ask, authorization, inCluster });
}

/** Writes a kubeconfig, whose user has a token and which trusts the server if nothing else is said; gives its path. */
function configOf(scene: Scene, { user = { token: "t" }, cluster }: KubeconfigParts): Promise<string> {
  const ca = { "certificate-authority-data": btoa(scene.authority.certificatePem) };
  const config = {
    clusters: [{ name: "c", cluster: { server: scene.stub.url, ...ca, ...cluster } }],
    users: [{ name: "u", user }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  };
  return scene.write(`config-${crypto.randomUUID()}`, JSON.stringify(config));
}

async function accessBy(scene: Scene, parts: KubeconfigParts = {}): Promise<ClusterAccess> {
  return await readKubeconfigAccess(await configOf(scene, parts), { clock: scene.clock });
}

Deno.test("readInClusterAccess() reads token and CA, and the token again after a minute, and at once after a 401", () =>
  withServer({}, async ({ clock, stub, write, authorization, inCluster }) => {
    const access = await inCluster();
    assert.equal(await authorization(access), "Bearer first");
    await write("token", "second");
    assert.equal(await authorization(access), "Bearer first");
    await clock.advance(60_000);
    assert.equal(await authorization(access), "Bearer second");
    const [one, two] = [await access.credentials(), await access.credentials()];
    assert.equal(one.tls, two.tls, "an unchanged CA keeps the connection pool");
    await write("token", "third");
    await clock.advance(2_000);
    stub.obstruct(Match.any, { kind: "json", status: 401, body: statusBody(401, "Unauthorized") });
    assert.equal(await authorization(access), "Bearer third");
  }));

Deno.test("readInClusterAccess() keeps the credentials it has while the files cannot be read", () =>
  withServer({}, async ({ directory, clock, authorization, inCluster }) => {
    const access = await inCluster();
    await Deno.remove(`${directory}/token`);
    await clock.advance(61_000);
    assert.equal(await authorization(access), "Bearer first");
  }));

Deno.test("readInClusterAccess() reports which file or variable is missing and what to do", () =>
  withServer({}, async ({ directory, clock, write }) => {
    const read = (host: string | undefined = "::1", port: string | undefined = "6443"): Promise<ClusterAccess> =>
      readInClusterAccess({ host, port, directory, clock });
    await assert.rejects(
      readInClusterAccess({ host: undefined, port: undefined, directory, clock }),
      /^Error: Not in a pod and no kubeconfig given\. Pass --kubeconfig FILE or set KUBECONFIG\.$/,
    );
    await assert.rejects(read("::1", ""), /KUBERNETES_SERVICE_PORT/);
    await assert.rejects(read(), /"\S+\/token".*--kubeconfig/);
    await write("token", " ");
    await write("ca.crt", "x");
    await assert.rejects(read(), /"\S+\/token": it is empty/);
    await write("token", "t");
    assert.equal((await read()).baseUrl, "https://[::1]:6443");
  }));

Deno.test("readKubeconfigAccess() uses a token, and a token file that it reads again", () =>
  withServer({}, async (scene) => {
    assert.equal(await scene.authorization(await accessBy(scene, { user: { token: "static" } })), "Bearer static");
    await scene.write("token", "from-file\n");
    const access = await accessBy(scene, { user: { tokenFile: "token" } });
    assert.equal(await scene.authorization(access), "Bearer from-file");
    await scene.write("token", "rotated");
    await scene.clock.advance(60_000);
    assert.equal(await scene.authorization(access), "Bearer rotated");
  }));

Deno.test("readKubeconfigAccess() presents a client certificate, from data or from relative files", () =>
  withServer({ asksForClientCertificate: true }, async (scene) => {
    const { certificatePem, keyPem } = scene.client;
    await scene.write("c.pem", certificatePem);
    await scene.write("k.pem", keyPem);
    const data = { "client-certificate-data": btoa(certificatePem), "client-key-data": btoa(keyPem) };
    for (const user of [data, { "client-certificate": "c.pem", "client-key": "k.pem" }]) {
      assert.equal((await scene.ask(await accessBy(scene, { user }))).clientName, "system:archway");
    }
  }));

Deno.test("readKubeconfigAccess() runs an exec plugin, again when its token has expired or is refused", () =>
  withServer({}, async (scene) => {
    const { clock } = scene;
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
    const access = await accessBy(scene, { user: { exec } });
    assert.equal(await scene.authorization(access), "Bearer exec-1");
    await clock.advance(60_000);
    assert.equal(await scene.authorization(access), "Bearer exec-2", "the first has expired");
    await clock.advance(60_000);
    assert.equal(await scene.authorization(access), "Bearer exec-2", "the second has not");
    await clock.advance(2_000);
    scene.stub.obstruct(Match.any, { kind: "json", status: 401, body: statusBody(401, "Unauthorized") });
    assert.equal(await scene.authorization(access), "Bearer exec-3", "refused, so asked anew");
  }));

Deno.test("readKubeconfigAccess() trusts the server by the kubeconfig's CA and its name alone", async () => {
  await withServer({ names: ["kubernetes.default"] }, async (scene) => {
    await assert.rejects(scene.ask(await accessBy(scene)), /certificate/);
  });
  await withServer({}, async (scene) => {
    const cluster = { "certificate-authority-data": btoa((await createAuthority("foreign")).certificatePem) };
    await assert.rejects(scene.ask(await accessBy(scene, { cluster })), /certificate/);
  });
});

Deno.test("readKubeconfigAccess() reports what is wrong: file, context, two ways at once, failing plugin", () =>
  withServer({}, async (scene) => {
    const { clock } = scene;
    const read = (path: string, context?: string): Promise<ClusterAccess> =>
      readKubeconfigAccess(path, { clock, ...context && { context } });
    await assert.rejects(read(`${scene.directory}/none`), /Cannot read kubeconfig "\S+\/none"/);
    await assert.rejects(read(await scene.write("bad", "{{{")), /Cannot read kubeconfig "\S+\/bad"/);
    const texts = ['token: "hidden', "a: *hidden", "a: !<hidden> b", "hidden: 1\nhidden: 2", "hidden", "users: hidden"];
    for (const text of texts) {
      const path = await scene.write("quoting", text);
      const error = await read(path).then(() => assert.fail(text), (reason) => reason);
      assert.match(errorText(error), /^Cannot (?:read|use) [^\n]*kubeconfig "[^"\n]*"[^\n]*$/, text);
      assert.doesNotMatch(errorText(error), /hidden/, text);
    }
    await assert.rejects(
      read(await configOf(scene, {}), "other"),
      /Cannot use context "other" of kubeconfig "\S+": .*Choose one of: x\./,
    );
    const cluster = { "tls-server-name": "kubernetes.default", "proxy-url": "http://proxy.test:3128" };
    await assert.rejects(accessBy(scene, { cluster }), /tls-server-name.*beside proxy-url.*not supported/);
    const fileless = accessBy(scene, { user: { tokenFile: "none" } });
    await assert.rejects(fileless, /Cannot read token file "\S+\/none" of kubeconfig "\S+\/config-\S+"/);
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "/bin/false", args: [] };
    await assert.rejects(accessBy(scene, { user: { exec } }), /user "u" in kubeconfig "\S+": its exec plugin failed/);
  }));

Deno.test("readKubeconfigAccess() takes any certificate where the file sets that, and warns of it", () =>
  withServer({ names: ["kubernetes.default"], asksForClientCertificate: true }, async (scene) => {
    const { certificatePem, keyPem } = scene.client;
    const user = { "client-certificate-data": btoa(certificatePem), "client-key-data": btoa(keyPem), token: "t" };
    const cluster = { "insecure-skip-tls-verify": true, "certificate-authority-data": undefined };
    const path = await configOf(scene, { user, cluster });
    const warnings: string[] = [];
    const warn = (message: string): void => void warnings.push(message);
    const seen = await scene.ask(await readKubeconfigAccess(path, { clock: scene.clock, warn }));
    assert.deepEqual([seen.headers["authorization"], seen.clientName], ["Bearer t", "system:archway"]);
    assert.match(warnings.join(), /"\S+config-\S+" sets insecure-skip-tls-verify: whoever answers at https:/);
  }));

Deno.test("readKubeconfigAccess() verifies the server by the file's tls-server-name, and calls it by its own", () =>
  withServer({ names: ["kubernetes.default"] }, async (scene) => {
    const askAs = async (name: string): Promise<StubRequest> =>
      await scene.ask(await accessBy(scene, { cluster: { "tls-server-name": name } }));
    assert.equal((await askAs("kubernetes.default")).headers["host"], new URL(scene.stub.url).host);
    await assert.rejects(askAs("kubernetes.other"), /certificate not valid for name.*is for this name/);
  }));

for (const names of [undefined, "kubernetes.default"]) {
  Deno.test(`readKubeconfigAccess() trusts a server that is its own CA${names === undefined ? "" : `, named ${names}`}`, async () => {
    const name = names === undefined
      ? { type: "ip", value: "127.0.0.1" } as const
      : { type: "dns", value: names } as const;
    const own = await issueSelfSigned({ names: [name] });
    await using stub = await openApiServerStub({ tls: { cert: own.pem, key: own.key } });
    await withServer({}, async (scene) => {
      const list = async (trusted: string): Promise<void> => {
        const cluster = { server: stub.url, "certificate-authority-data": btoa(trusted), "tls-server-name": names };
        await using api = openTestApi(await accessBy(scene, { cluster }));
        await api.list(Resource.pods, {}, AbortSignal.timeout(5_000));
      };
      await list(own.pem);
      assert.equal(stub.requests.length, 1);
      await assert.rejects(list((await issueSelfSigned()).pem), /marked as a CA: put its issuer and itself/);
      assert.equal(stub.requests.length, 1, "nothing is sent to a server that is not trusted");
    });
  });
}

Deno.test("CredentialsCache gives what it has to others while a reading never ends, and waits for it after a refusal", async () => {
  const clock = new FakeClock();
  const first = { headers: { authorization: "Bearer first" }, tls: { caCerts: [] } };
  const second = { ...first, headers: { authorization: "Bearer second" } };
  const reading = Promise.withResolvers<ClusterCredentials>();
  const readings = [Promise.resolve(first), reading.promise];
  const cache = new CredentialsCache(clock, () => readings.shift() ?? assert.fail("one reading at a time"));
  assert.equal(await cache.credentials(), first);
  await clock.advance(60_000);
  const reader = cache.credentials();
  assert.equal(await cache.credentials(), first);
  cache.discard();
  const refused = cache.credentials();
  reading.resolve(second);
  assert.deepEqual(await Promise.all([reader, refused, cache.credentials()]), [second, second, second]);
});
