// TLS with a real docker-registry: private authorities by flag, certs.d and hosts.toml, and client certificates that it demands.
// What else must not be trusted is in tests/tls.
import assert from "node:assert/strict";
import { failureIn, flagsFor, openImages, platformsIn, writeTemporaryFiles } from "./support/inspecting.ts";
import { type RealRegistry, startRegistry } from "./support/registry.ts";

const IMAGE = { platforms: [{ architecture: "arm64" }] };

async function startWithImage(options: Parameters<typeof startRegistry>[0] = {}): Promise<RealRegistry> {
  const registry = await startRegistry(options);
  await registry.push("team/app", "v1", IMAGE);
  return registry;
}

const WAYS: readonly {
  readonly name: string;
  readonly files: (registry: RealRegistry) => Readonly<Record<string, string>>;
}[] = [
  {
    name: "certs.d",
    files: ({ host, caPem, clientCertificate }) => ({
      [`certs/${host}/ca.crt`]: caPem,
      [`certs/${host}/client.cert`]: clientCertificate.certificatePem,
      [`certs/${host}/client.key`]: clientCertificate.keyPem,
    }),
  },
  {
    name: "hosts.toml",
    files: ({ host, url, caPem, clientCertificate }) => ({
      [`hosts/${host.replace(/:(\d+)$/, "_$1_")}/hosts.toml`]:
        `server = "${url}"\nca = "authority.pem"\nclient = [["client.pem", "client.key"]]\n`,
      [`hosts/${host.replace(/:(\d+)$/, "_$1_")}/authority.pem`]: caPem,
      [`hosts/${host.replace(/:(\d+)$/, "_$1_")}/client.pem`]: clientCertificate.certificatePem,
      [`hosts/${host.replace(/:(\d+)$/, "_$1_")}/client.key`]: clientCertificate.keyPem,
    }),
  },
  {
    name: "registries.yaml",
    files: ({ host, caPem, clientCertificate }) => ({
      "registries.yaml": JSON.stringify({
        configs: { [host]: { tls: { ca_file: "ca.pem", cert_file: "client.pem", key_file: "client.key" } } },
      }),
      "ca.pem": caPem,
      "client.pem": clientCertificate.certificatePem,
      "client.key": clientCertificate.keyPem,
    }),
  },
];

for (const { name, files } of WAYS) {
  Deno.test(`registry TLS: ${name} brings the private authority and the client certificate that a registry demands`, async () => {
    await using registry = await startWithImage({ clientCertificates: "required" });
    await using folder = await writeTemporaryFiles(files(registry));
    await using images = await openImages([folder.flag, "--registry", registry.host]);
    assert.equal(platformsIn(await images.inspect(`${registry.host}/team/app:v1`)), "linux/arm64");
  });
}

Deno.test("registry TLS: --registry-ca is trusted; without it the message names the way to trust", async () => {
  await using registry = await startWithImage();
  const image = `${registry.host}/team/app:v1`;
  await using trusting = await openImages(flagsFor(registry));
  assert.equal(platformsIn(await trusting.inspect(image)), "linux/arm64");
  await using strict = await openImages(["--registry", registry.host]);
  const failure = failureIn(await strict.inspect(image));
  assert.deepEqual([failure.kind, failure.reason, failure.registry], ["transient", "TlsFailed", registry.host]);
  assert.match(failure.message, /UnknownIssuer\)\. If .* trust its authority with --registry-ca or in certs\.d\.$/);
});

Deno.test("registry TLS: a client certificate of another authority is refused in the hand-shake, and the next one tried", async () => {
  await using registry = await startWithImage({ clientCertificates: "required" });
  await using stranger = await startRegistry();
  const pair = (name: string, { clientCertificate }: RealRegistry): Readonly<Record<string, string>> => ({
    [`certs/${registry.host}/${name}.cert`]: clientCertificate.certificatePem,
    [`certs/${registry.host}/${name}.key`]: clientCertificate.keyPem,
  });
  const wrong = { [`certs/${registry.host}/ca.crt`]: registry.caPem, ...pair("a", stranger) };
  await using refused = await writeTemporaryFiles(wrong);
  await using both = await writeTemporaryFiles({ ...wrong, ...pair("b", registry) });
  await using strangers = await openImages([refused.flag]);
  await using images = await openImages([both.flag]);
  const image = `${registry.host}/team/app:v1`;
  assert.equal(failureIn(await strangers.inspect(image)).reason, "TlsFailed");
  assert.equal(platformsIn(await images.inspect(image)), "linux/arm64");
});

Deno.test("registry TLS: a registry that is declared insecure is asked without trust, and shown password and certificate", async () => {
  await using registry = await startWithImage({ auth: "htpasswd", clientCertificates: "required" });
  await registry.push("team/single", "v1", { single: { architecture: "s390x" } });
  await using folder = await writeTemporaryFiles({
    [`certs/${registry.host}/client.cert`]: registry.clientCertificate.certificatePem,
    [`certs/${registry.host}/client.key`]: registry.clientCertificate.keyPem,
  });
  const secret = { kind: "basic", username: "puller", password: "secret" } as const;
  const credentials = [{ scope: registry.host, source: "secret team/pull", secret }];
  await using images = await openImages(["--insecure-registry", registry.host, folder.flag]);
  const inspect = async (name: string): Promise<string> =>
    platformsIn(await images.inspect(`${registry.host}/${name}`, { credentials }));
  assert.deepEqual([await inspect("team/app:v1"), await inspect("team/single:v1")], ["linux/arm64", "linux/s390x"]);
});
