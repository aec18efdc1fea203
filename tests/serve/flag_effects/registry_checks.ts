// Flags of registries, credentials and the cache, shown by what the service that inspects images does with real registries on
// loopback.
import assert from "node:assert/strict";
import type { Config } from "../../../lib/config/parse.ts";
import { openGlobalPullSecret } from "../../../lib/placement/images/global_pull_secret.ts";
import { PullSecrets } from "../../../lib/placement/images/pull_secrets.ts";
import { type KubeObject, Resource } from "../../../lib/k8s/types.ts";
import { type LogFields, type Logger, silentLogger } from "../../../lib/log.ts";
import { callersOf } from "../../../lib/oci/callers.ts";
import { WorkLimits } from "../../../lib/oci/limits/work_limits.ts";
import { issueLoopbackCertificates } from "../../../playground/listen.ts";
import { whileRunning } from "../../controllers/make.ts";
import { makeFolder, type TestFolder } from "../../lib/oci/config/planner_support.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import { MemoryCluster } from "../../support/memory_kube_api.ts";
import { until } from "../../support/until.ts";
import { type FakeRegistry, openFakeRegistry } from "../../support/registry.ts";
import { type Checks, fileConfig, inspect, inspectBy, openImages, publish, reasonOf, serveConfig } from "./support.ts";

const LOGIN = { kind: "basic", users: { team: "word" } } as const;
const AUTH = btoa("team:word");

interface Bed {
  readonly registry: FakeRegistry;
  readonly folder: TestFolder;
  readonly image: string;
}

async function withRegistry(check: (bed: Bed) => Promise<void>, login?: typeof LOGIN): Promise<void> {
  using folder = makeFolder();
  await using registry = await openFakeRegistry(login === undefined ? {} : { login });
  publish(registry, "demo/web", "amd64", "arm64");
  await check({ registry, folder, image: `${registry.host}/demo/web:v1` });
}

/** Shows that an image of quay.io is read from the registry on loopback by a file, and that it is not without. */
function mirrors(configOf: (bed: Bed) => Config): () => Promise<void> {
  return () =>
    withRegistry(async (bed) => {
      const report = await inspectBy(configOf(bed), "quay.io/demo/web:v1");
      assert.equal(reasonOf(report), undefined);
      assert.equal(report.resolved, bed.image);
      assert.ok(bed.registry.requests.length > 0);
    });
}

/** Shows that a private image can be read with these flags, and not without. */
async function opensPrivate(flagsOf: (bed: Bed) => readonly string[]): Promise<void> {
  await withRegistry(async (bed) => {
    const plain = `--insecure-registry=${bed.registry.host}`;
    assert.equal(reasonOf(await inspectBy(serveConfig(plain), bed.image)), "Unauthorized");
    assert.equal(reasonOf(await inspectBy(serveConfig(plain, ...flagsOf(bed)), bed.image)), undefined);
  }, LOGIN);
}

/** Runs a check with a registry whose certificate only the authority in the folder verifies. */
async function withTlsRegistry(check: (bed: Bed) => Promise<void>): Promise<void> {
  const { serving, authority } = await issueLoopbackCertificates(Date.now());
  using folder = makeFolder({ "ca.pem": authority });
  await using registry = await openFakeRegistry({ certificate: serving });
  publish(registry, "demo/web", "amd64", "arm64");
  const bed = { registry, folder, image: `${registry.host}/demo/web:v1` };
  assert.equal(reasonOf(await inspectBy(serveConfig(`--registry=${registry.host}`), bed.image)), "TlsFailed");
  await check(bed);
}

function pullSecret(name: string): KubeObject {
  const auths = JSON.stringify({ auths: { "registry.example": { auth: AUTH } } });
  return {
    ...{ apiVersion: "v1", kind: "Secret", metadata: { name, namespace: "team" } },
    ...{ type: "kubernetes.io/dockerconfigjson", data: { ".dockerconfigjson": btoa(auths) } },
  };
}

function warningLog(onWarning: (fields: LogFields) => void, fields: LogFields = {}): Logger {
  return {
    ...silentLogger,
    warn: (_message, more) => onWarning({ ...fields, ...more }),
    with: (more) => warningLog(onWarning, { ...fields, ...more }),
  };
}

function registriesConf({ host }: FakeRegistry): string {
  return `[[registry]]\nprefix = "quay.io"\nlocation = "${host}"\ninsecure = true\n`;
}

export const REGISTRY_FLAGS: Checks = {
  "registry": () =>
    withTlsRegistry(async ({ folder, registry, image }) => {
      const ca = `--registry-ca=${folder.path}/ca.pem`;
      assert.equal(reasonOf(await inspectBy(serveConfig(ca), image)), "AddressDenied");
      assert.equal(reasonOf(await inspectBy(serveConfig(ca, `--registry=${registry.host}`), image)), undefined);
    }),
  "registry-ca": () =>
    withTlsRegistry(async ({ folder, registry, image }) => {
      const config = serveConfig(`--registry=${registry.host}`, `--registry-ca=${folder.path}/ca.pem`);
      assert.equal(reasonOf(await inspectBy(config, image)), undefined);
    }),
  "insecure-registry": () =>
    withRegistry(async ({ registry, image }) => {
      assert.equal(reasonOf(await inspectBy(serveConfig(`--registry=${registry.host}`), image)), "TlsFailed");
      assert.equal(reasonOf(await inspectBy(serveConfig(`--insecure-registry=${registry.host}`), image)), undefined);
    }),
  "global-pull-secret": async () => {
    const [cluster, clock] = [new MemoryCluster(), new FakeClock()];
    cluster.put(Resource.secrets, pullSecret("everywhere"));
    const credentialsBy = async (config: Config): Promise<number> => {
      const { globalPullSecret } = config;
      const options = { api: cluster.api, clock, log: silentLogger, onChange: () => {} };
      const secret = openGlobalPullSecret({ ...options, ...globalPullSecret });
      let count = 0;
      await whileRunning({ clock }, secret, () => Promise.resolve(void (count = [...secret.values()].flat().length)));
      return count;
    };
    assert.equal(await credentialsBy(serveConfig()), 0);
    assert.equal(await credentialsBy(serveConfig("--global-pull-secret=team/everywhere")), 1);
  },
  "pull-secrets": async () => {
    const [cluster, clock] = [new MemoryCluster(), new FakeClock()];
    cluster.put(Resource.secrets, pullSecret("own"));
    const credentialsBy = async ({ pullSecrets, namespace }: Config): Promise<number> => {
      const limits = new WorkLimits();
      const deps = { api: cluster.api, mode: pullSecrets, ownNamespace: namespace, limits, clock, log: silentLogger };
      const scope = { namespace: "team", serviceAccount: "", pullSecrets: ["own"] };
      const readers = { callers: callersOf({ priority: "gated" }), signal: new AbortController().signal };
      return (await new PullSecrets(deps).read(scope, readers)).credentials.length;
    };
    assert.equal(await credentialsBy(serveConfig()), 1);
    assert.equal(await credentialsBy(serveConfig("--pull-secrets=none")), 0);
    assert.equal(await credentialsBy(serveConfig("--pull-secrets=own-namespace")), 0);
  },
  "cache-path": () =>
    withRegistry(async ({ folder, registry, image }) => {
      const config = serveConfig(`--insecure-registry=${registry.host}`, `--cache-path=${folder.path}/cache.db`);
      assert.equal((await inspectBy(config, image)).source, "registry");
      assert.equal((await inspectBy(config, image)).source, "cache", "another process would read the file as well");
    }),
  "kv-url": async () => {
    const warned: unknown[] = [];
    const config = serveConfig("--kv-url=http://127.0.0.1:1/shared");
    await using service = await openImages(config, { log: warningLog(({ server }) => void warned.push(server)) });
    await inspect(service, "127.0.0.1:1/demo/web:v1");
    await until("a warning that nothing answers there", () => warned.includes("http://127.0.0.1:1/shared"));
  },
  "tag-ttl": () =>
    withRegistry(async ({ registry, image }) => {
      const clock = new FakeClock();
      const headsBy = async (...flags: readonly string[]): Promise<number> => {
        const config = serveConfig(`--insecure-registry=${registry.host}`, ...flags);
        await using service = await openImages(config, { clock });
        await inspect(service, image);
        await clock.advance(120_000);
        const before = registry.requests.length;
        await inspect(service, image);
        return registry.requests.slice(before).filter(({ method }) => method === "HEAD").length;
      };
      assert.equal(await headsBy(), 0);
      assert.equal(await headsBy("--tag-ttl=1m"), 1);
    }),
};

export const REGISTRY_SETTINGS: Checks = {
  certsDir: () =>
    withTlsRegistry(async ({ folder, registry, image }) => {
      folder.write(`certs.d/${registry.host}/ca.crt`, Deno.readTextFileSync(`${folder.path}/ca.pem`));
      const config = { ...fileConfig(`certsDir: ${folder.path}/certs.d`), registry: [registry.host] };
      assert.equal(reasonOf(await inspectBy(config, image)), undefined);
    }),
  registriesConf: mirrors(({ folder, registry }) =>
    fileConfig(`registriesConf: ${folder.write("registries.conf", registriesConf(registry))}`)
  ),
  dockerConfig: () =>
    opensPrivate(({ folder, registry }) => {
      const text = JSON.stringify({ auths: { [registry.host]: { auth: AUTH } } });
      const settings = `dockerConfig: ${folder.write("config.json", text)}\n`;
      return [`--config=${folder.write("archway.yaml", settings)}`];
    }),
  hostsDir: mirrors(({ folder, registry }) => {
    folder.write("hosts/quay.io/hosts.toml", `server = "http://${registry.host}"\n`);
    return fileConfig(`hostsDir: ${folder.path}/hosts`);
  }),
  rancherRegistries: mirrors(({ folder, registry }) => {
    const text = JSON.stringify({ mirrors: { "quay.io": { endpoint: [`http://${registry.host}`] } } });
    return fileConfig(`rancherRegistries: ${folder.write("registries.yaml", text)}`);
  }),
  policy: () =>
    withRegistry(async ({ folder, registry, image }) => {
      const host = registry.host;
      const transports = { docker: { [host]: [{ type: "reject" }] } };
      const rejecting = { default: [{ type: "insecureAcceptAnything" }], transports };
      const policy = folder.write("policy.json", JSON.stringify(rejecting));
      assert.equal(reasonOf(await inspectBy(serveConfig(`--insecure-registry=${host}`), image)), undefined);
      const before = registry.requests.length;
      assert.equal(reasonOf(await inspectBy(fileConfig(`policy: ${policy}`), image)), "Blocked");
      assert.equal(registry.requests.length, before);
    }),
  credentialProviderConfig: plugins,
  credentialProviderBinDir: plugins,
  registriesConfDir: mirrors(({ folder, registry }) => {
    folder.write("drop-ins/10-quay.conf", registriesConf(registry));
    return fileConfig(`registriesConfDir: ${folder.path}/drop-ins`);
  }),
  cacheEntries: () =>
    withRegistry(async ({ registry, image }) => {
      publish(registry, "demo/api", "amd64");
      const sizeBy = async (config: Config): Promise<number> => {
        await using service = await openImages({ ...config, insecureRegistry: [registry.host] });
        await inspect(service, image);
        await inspect(service, `${registry.host}/demo/api:v1`);
        return service.cacheSize();
      };
      assert.deepEqual([await sizeBy(serveConfig()), await sizeBy(fileConfig("cacheEntries: 1"))], [2, 1]);
    }),
};

/** The two settings only have an effect together: the configuration names the plugin, the folder holds it. */
async function plugins(): Promise<void> {
  await opensPrivate(({ folder, registry }) => {
    const apiVersion = "credentialprovider.kubelet.k8s.io/v1";
    const auth = { [registry.host]: { username: "team", password: "word" } };
    const answer = { kind: "CredentialProviderResponse", apiVersion, cacheKeyType: "Registry", auth };
    const script = `#!/bin/sh\ncat > /dev/null\necho '${JSON.stringify(answer)}'\n`;
    Deno.chmodSync(folder.write("bin/loopback", script), 0o755);
    const plugin = { name: "loopback", apiVersion, matchImages: [registry.host], defaultCacheDuration: "1h" };
    const kind = { apiVersion: "kubelet.config.k8s.io/v1", kind: "CredentialProviderConfig" };
    const config = JSON.stringify({ ...kind, providers: [plugin] });
    const settings = `credentialProviderConfig: ${folder.write("providers.yaml", config)}\n` +
      `credentialProviderBinDir: ${folder.path}/bin\n`;
    return [`--config=${folder.write("archway.yaml", settings)}`];
  });
}
