// The table of flags as a whole: how many there are, that each is tested for its effect.
import assert from "node:assert/strict";
import { environmentName, FLAGS } from "../../../lib/config/flags.ts";
import { FILE_SETTINGS } from "../../../lib/config/file.ts";

const TESTS = new URL("../../", import.meta.url);
const MAX_SERVE_FLAGS = 40;

/** Shown by a test of the part that takes the value, under the name it has there. */
const SHOWN_BY: Readonly<Record<string, readonly [file: string, word: string]>> = {
  "webhook-client-ca": ["lib/server/https_listener_test.ts", "clientCa:"],
  webhookService: ["lib/operand/webhooks_test.ts", "SERVICE_SETTINGS"],
  "credential-provider-config": ["lib/oci/credentials/kubelet_plugins_test.ts", "CredentialProviderConfig"],
  "credential-provider-bin-dir": ["lib/oci/credentials/kubelet_plugins_test.ts", "CredentialProviderConfig"],
  "global-pull-secret": ["lib/images/global_pull_secret_test.ts", "openGlobalPullSecret"],
  cacheEntries: ["lib/images/memory_test.ts", "maxEntries: 10 "],
  fallbackLogLevel: ["controllers/operator/wake_test.ts", "logLevelOf"],
};

/** The text of all tests but those of the command line itself, which show no effect. */
function readTests(folder: URL): string {
  return [...Deno.readDirSync(folder)].map((entry) => {
    const path = new URL(entry.name + (entry.isDirectory ? "/" : ""), folder);
    if (entry.isDirectory) return path.pathname.endsWith("/tests/lib/config/") ? "" : readTests(path);
    return /\.tsx?$/.test(entry.name) ? Deno.readTextFileSync(path) : "";
  }).join("\n");
}

function camel(name: string): string {
  return name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

Deno.test(`serve has at most ${MAX_SERVE_FLAGS} flags`, () => {
  const names = FLAGS.filter(({ commands }) => commands.includes("serve")).map(({ name }) => name);
  assert.ok(names.length <= MAX_SERVE_FLAGS, `${names.length}: ${names.join(" ")}`);
});

Deno.test("each flag, and each setting of the file, occurs in a test besides those of the command line", () => {
  const text = readTests(TESTS);
  const isUsed = (name: string): boolean =>
    text.includes(`--${name}`) || text.includes(environmentName(name)) || new RegExp(`\\b${camel(name)}\\b`).test(text);
  const isShown = (name: string): boolean => {
    const [file, word] = SHOWN_BY[name] ?? [];
    return file !== undefined && word !== undefined && Deno.readTextFileSync(new URL(file, TESTS)).includes(word);
  };
  const untested = [...FLAGS.map(({ name }) => name), ...FILE_SETTINGS.map(({ key }) => key)]
    .filter((name) => !isUsed(name) && !isShown(name));
  assert.deepEqual(untested, []);
});
