import assert from "node:assert/strict";
import { join } from "node:path";
import { silentLogger } from "../../../../lib/log.ts";
import { openCertificateFiles } from "../../../../lib/server/certificate/files.ts";
import { issueAuthority, type IssuedPair, issueServing } from "../../../../lib/tls/issue.ts";
import { whileRunning } from "../../../controllers/make.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { keepLog } from "../../../support/logs.ts";
import { temporaryFolder } from "../../../support/temporary_folder.ts";
import { until } from "../../../support/until.ts";

const validity = { nowMs: Date.now(), lifetimeMs: 86_400_000 };
const POLL_MS = 2_000;

async function issue(): Promise<IssuedPair> {
  return await issueServing(await issueAuthority(validity), { ...validity, names: ["localhost"] });
}

const makeMount = async () => {
  const folder = await temporaryFolder();
  const at = (name: string): string => join(folder.path, name);
  const files = { certPath: at("tls.crt"), keyPath: at("tls.key"), caPath: at("ca.crt") };
  return { ...folder, files };
};
type Mount = Awaited<ReturnType<typeof makeMount>>;

async function write({ files }: Mount, pair: Partial<IssuedPair> & { readonly ca?: string }): Promise<void> {
  if (pair.cert !== undefined) await Deno.writeTextFile(files.certPath, pair.cert);
  if (pair.key !== undefined) await Deno.writeTextFile(files.keyPath, pair.key);
  if (pair.ca !== undefined) await Deno.writeTextFile(files.caPath, pair.ca);
}

/** Lets the watcher look until a question is answered with yes; file reads take real time. */
function untilWatcher(clock: FakeClock, holds: () => boolean): Promise<void> {
  return until("the watcher has looked", holds, () => clock.advance(POLL_MS));
}

Deno.test("openCertificateFiles() reloads when the pair changes and notifies listeners once", async () => {
  await using mount = await makeMount();
  const [first, second] = [await issue(), await issue()];
  await write(mount, { ...first, ca: "CA" });
  const clock = new FakeClock();
  const certificate = await openCertificateFiles(mount.files, { clock, log: silentLogger });
  assert.deepEqual(certificate.current(), { ...first, caBundle: "CA" });
  const heard: string[] = [];
  certificate.onChange(({ cert }) => heard.push(cert));
  await whileRunning({ clock }, certificate, async () => {
    await write(mount, second);
    await untilWatcher(clock, () => certificate.current().cert === second.cert);
    assert.deepEqual(heard, [second.cert]);
  });
});

Deno.test("openCertificateFiles() keeps the last good pair while certificate and key do not fit", async () => {
  await using mount = await makeMount();
  const [first, second] = [await issue(), await issue()];
  await write(mount, { ...first, ca: "CA" });
  const [clock, log] = [new FakeClock(), keepLog()];
  const certificate = await openCertificateFiles(mount.files, { clock, log });
  await whileRunning({ clock }, certificate, async () => {
    await write(mount, { cert: second.cert });
    await untilWatcher(clock, () => log.lines.some(({ level }) => level === "warn"));
    assert.equal(certificate.current().cert, first.cert);
    await write(mount, { key: second.key });
    await untilWatcher(clock, () => certificate.current().cert === second.cert);
    assert.equal(certificate.current().key, second.key);
  });
});

Deno.test("openCertificateFiles() follows the symbolic links of a mounted Secret", async () => {
  await using mount = await makeMount();
  const [first, second] = [await issue(), await issue()];
  const directory = mount.path;
  for (const [version, pair] of [["v1", first], ["v2", second]] as const) {
    await Deno.mkdir(join(directory, version));
    await Deno.writeTextFile(join(directory, version, "tls.crt"), pair.cert);
    await Deno.writeTextFile(join(directory, version, "tls.key"), pair.key);
  }
  await Deno.symlink("v1", join(directory, "..data"));
  for (const name of ["tls.crt", "tls.key"]) await Deno.symlink(`..data/${name}`, join(directory, name));
  const clock = new FakeClock();
  const files = { ...mount.files, caPath: undefined };
  const certificate = await openCertificateFiles(files, { clock, log: silentLogger });
  assert.equal(certificate.current().caBundle, undefined);
  await whileRunning({ clock }, certificate, async () => {
    await Deno.symlink("v2", join(directory, "..data_tmp"));
    await Deno.rename(join(directory, "..data_tmp"), join(directory, "..data"));
    await untilWatcher(clock, () => certificate.current().cert === second.cert);
  });
});

Deno.test("openCertificateFiles() reports which file is missing or wrong", async () => {
  await using mount = await makeMount();
  const clock = new FakeClock();
  const open = () => openCertificateFiles({ ...mount.files, caPath: undefined }, { clock, log: silentLogger });
  await assert.rejects(open(), /^Error: Cannot read ".*tls\.(crt|key)": /);
  const [first, second] = [await issue(), await issue()];
  await write(mount, { cert: first.cert, key: second.key });
  await assert.rejects(open(), /^Error: Cannot serve with ".*tls\.crt": the key does not belong to the certificate/);
});

Deno.test("openCertificateFiles() warns of a CA that did not issue the certificate, and of no other", async () => {
  await using mount = await makeMount();
  const [ours, other] = [await issueAuthority(validity), await issueAuthority(validity)];
  const pair = await issueServing(ours, { ...validity, names: ["localhost"] });
  const warned: (readonly string[])[] = [];
  // Beside authorities, alone and together, a certificate that is trusted itself, and what is none.
  for (const ca of [ours.cert, other.cert, `${other.cert}\n${ours.cert}`, pair.cert, "CA", ""]) {
    const log = keepLog();
    await write(mount, { ...pair, ca });
    await openCertificateFiles(mount.files, { clock: new FakeClock(), log });
    warned.push(log.lines.filter(({ level }) => level === "warn").map(({ message }) => message));
  }
  assert.deepEqual(warned, [[], ["the CA of the webhooks did not issue the serving certificate"], [], [], [], []]);
});
