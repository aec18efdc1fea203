import assert from "node:assert/strict";
import { join } from "node:path";
import { silentLogger } from "../../../../../lib/log.ts";
import { openTrustedBundles } from "../../../../../lib/upgrades/outside/http/trusted_bundles.ts";
import { createAuthority } from "../../../../cluster/support/pki.ts";
import { temporaryFolder } from "../../../../support/temporary_folder.ts";

Deno.test("openTrustedBundles() uses what can be read, logs the rest, and sees a file that appears later", async () => {
  await using folder = await temporaryFolder();
  const [early, late, broken] = ["early", "late", "broken"].map((name) => join(folder.path, name));
  const [one, two] = await Promise.all(
    ["one", "two"].map(async (name) => (await createAuthority(name)).certificatePem),
  );
  await Deno.writeTextFile(early ?? "", one ?? "");
  await Deno.writeTextFile(broken ?? "", "no certificate");
  const lines: string[] = [];
  const log = { ...silentLogger, warn: (message: string) => void lines.push(message) };
  const bundles = openTrustedBundles([early ?? "", late ?? "", broken ?? ""], log);
  assert.deepEqual((await bundles()).map((pem) => pem.trim()), [one?.trim()]);
  assert.deepEqual(lines.length, 2, lines.join(""));
  await Deno.writeTextFile(late ?? "", two ?? "");
  assert.deepEqual((await bundles()).map((pem) => pem.trim()), [one?.trim(), two?.trim()]);
});
