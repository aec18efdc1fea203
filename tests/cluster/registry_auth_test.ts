// Logins at a real docker-registry: Basic against its htpasswd file, tokens that it verifies by their signature. What the
// doubles of tests/lib/oci/auth/login_test.ts promise is held here by the other side of the wire.
import assert from "node:assert/strict";
import { isPrivate } from "../support/reports.ts";
import type { Credential } from "../../lib/oci/credential.ts";
import { runArchway } from "../support/archway_program.ts";
import { failureIn, flagsFor, openImages, platformsIn, writeTemporaryFiles } from "./support/inspecting.ts";
import { startRegistry } from "./support/registry.ts";

const PLATFORMS = [{ architecture: "amd64" }, { architecture: "arm64", variant: "v8" }];
const SAID = "linux/amd64,linux/arm64/v8";

function secret(scope: string, password: string, source = "secret team/pull"): Credential {
  return { scope, source, secret: { kind: "basic", username: "puller", password } };
}

for (const auth of ["htpasswd", "token"] as const) {
  Deno.test(`registry auth ${auth}: the right pull secret opens the image, the wrong or none is reported and permanent`, async () => {
    await using registry = await startRegistry({ auth });
    await registry.push("team/app", "v1", { platforms: PLATFORMS });
    const image = `${registry.host}/team/app:v1`;
    await using images = await openImages(flagsFor(registry));

    const right = await images.inspect(image, { credentials: [secret(registry.host, "secret")] });
    assert.equal(platformsIn(right), SAID);
    assert.deepEqual([right.credentialSource, isPrivate(right)], ["secret team/pull", true]);

    const wrong = failureIn(await images.inspect(image, { credentials: [secret(registry.host, "wr0ng-pa55")] }));
    assert.deepEqual([wrong.kind, wrong.reason], ["permanent", "Unauthorized"]);
    assert.match(wrong.message, /401 \(refused: secret team\/pull, anonymous\)/);
    assert.ok(!wrong.message.includes("wr0ng"), wrong.message);

    const none = failureIn(await images.inspect(image));
    assert.deepEqual([none.kind, none.reason], ["permanent", "Unauthorized"]);
    assert.match(none.message, /401 \(no pull secret matches it\)/);
  });
}

Deno.test("registry auth token: a public repository needs no secret, and a useless one does no harm", async () => {
  await using registry = await startRegistry({ auth: "token", token: { publicRepositories: ["open/"] } });
  await registry.push("open/app", "v1", { platforms: PLATFORMS });
  const image = `${registry.host}/open/app:v1`;
  await using images = await openImages(flagsFor(registry));
  assert.equal(platformsIn(await images.inspect(image)), SAID);
  const report = await images.inspect(`${registry.localhost}/open/app:v1`, {
    credentials: [secret(registry.localhost, "wrong")],
  });
  // Another host of the same registry: declared by its address alone, so it must not be asked.
  assert.equal(failureIn(report).reason, "AddressDenied");
  const useless = await images.inspect(image, { credentials: [secret(registry.host, "wrong")] });
  assert.equal(platformsIn(useless), SAID);
  assert.deepEqual([useless.credentialSource, isPrivate(useless)], [undefined, false]);
});

Deno.test("registry auth token: a token is requested for pull on this repository alone, once for many images", async () => {
  await using registry = await startRegistry({ auth: "token", token: { tokenMember: "access_token" } });
  const images = ["v1", "v2", "v3"].map((tag) => `${registry.host}/team/app:${tag}`);
  for (const tag of ["v1", "v2", "v3"]) await registry.push("team/app", tag, { platforms: PLATFORMS });
  await using service = await openImages(flagsFor(registry));
  const credentials = [secret(registry.host, "secret")];
  for (const image of images) assert.equal(platformsIn(await service.inspect(image, { credentials })), SAID);
  assert.deepEqual(registry.tokenServer?.requests, [{
    method: "GET",
    scopes: ["repository:team/app:pull"],
    service: "archway-test-registry",
    basic: btoa("puller:secret"),
    refreshToken: undefined,
    user: "puller",
    status: 200,
  }]);
});

Deno.test("registry auth token: an identity token from config.json is traded by POST, and a revoked one is refused", async () => {
  await using registry = await startRegistry({
    auth: "token",
    token: { tokenMember: "access_token", identityTokens: { "identity-t0ken": "puller" } },
  });
  await registry.push("team/app", "v1", { platforms: PLATFORMS });
  const image = `${registry.host}/team/app:v1`;
  const inspectWith = async (identitytoken: string): ReturnType<typeof runArchway> => {
    const auths = { [registry.host]: { auth: btoa("<token>:"), identitytoken } };
    await using files = await writeTemporaryFiles({ "config.json": { auths } });
    return await runArchway(["inspect", ...flagsFor(registry), files.flag, "--trace", image]);
  };
  const right = await inspectWith("identity-t0ken");
  assert.equal(right.code, 0, right.stderr);
  assert.match(right.stdout, /config\.json/);
  assert.match(right.stdout, /POST +200 OK +\d+ ms +form \*\*\* +https:\/\/127\.0\.0\.1:\d+\/token/);
  const revoked = await inspectWith("revoked-t0ken");
  assert.equal(revoked.code, 1);
  assert.match(revoked.stdout, /Unauthorized \(permanent\)/);
  for (const { stdout, stderr } of [right, revoked]) assert.doesNotMatch(stdout + stderr, /t0ken|puller/);
});

Deno.test("registry auth htpasswd: no password goes over plain HTTP unless the registry is declared insecure", async () => {
  await using registry = await startRegistry({ auth: "htpasswd", tls: false });
  await registry.push("team/app", "v1", { platforms: PLATFORMS });
  const image = `${registry.host}/team/app:v1`;
  const credentials = [secret(registry.host, "secret")];
  await using strict = await openImages(["--registry", registry.host]);
  assert.match(
    failureIn(await strict.inspect(image, { credentials })).message,
    /does not speak TLS .*--insecure-registry/,
  );
  await using declared = await openImages(["--insecure-registry", registry.host]);
  assert.equal(platformsIn(await declared.inspect(image, { credentials })), SAID);
});
