// The webhook of plans on a real TLS listener: what other clients get, and what it costs the API server.
import assert from "node:assert/strict";
import { connect } from "node:tls";
import { issueLoopbackCertificates } from "../../playground/listen.ts";
import { createAuthority } from "../cluster/support/pki.ts";
import { silentLogger } from "../../lib/log.ts";
import type { KeyPair } from "../../lib/server/https_listener.ts";
import { PlanWebhook } from "../../lib/upgrades/names.ts";
import { openPlanListener } from "../../serve/upgrades.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { FakeClock } from "../support/fake_clock.ts";

const { serving, authority } = await issueLoopbackCertificates(Date.now());

function postOf(path: string, body: string, length = body.length): string {
  return `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${length}\r\n\r\n${body}`;
}

const DELETION = postOf(PlanWebhook.path, JSON.stringify({ request: { uid: "u", operation: "DELETE" } }));

const openBed = async (webhookClientCa?: string) => {
  const clock = new FakeClock();
  const asked: string[] = [];
  const ending = new AbortController();
  const api = {
    get: ({ kind }: { readonly kind: string }, { name = "" }: { readonly name?: string | undefined }) => {
      asked.push(`${kind} ${name}`);
      return Promise.resolve({ metadata: { name }, spec: { clusterID: "c" }, status: {} });
    },
  };
  const listener = await openPlanListener(
    { api, clock, log: silentLogger, signal: ending.signal },
    { certificate: serving, config: { listen: { host: "127.0.0.1", port: 0 }, webhookClientCa } },
  );
  const close = async (): Promise<void> => {
    ending.abort();
    await listener.close(0);
  };
  return { listener, clock, asked, [Symbol.asyncDispose]: close };
};

async function answerTo(port: number, text: string, client: Partial<KeyPair> = {}): Promise<string> {
  const socket = connect({ host: "127.0.0.1", port, ca: authority, ...client });
  let answer = "";
  socket.on("data", (chunk) => answer += String(chunk));
  socket.on("error", () => {});
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.once("secureConnect", () => socket.write(text));
  await closed;
  return answer;
}

Deno.test("a request by any other path gets a 404 by its head alone, and its connection ends", async () => {
  await using bed = await openBed();
  for (const path of ["/", "/convert", `/x${PlanWebhook.path}`, `${PlanWebhook.path}/`]) {
    const answer = await answerTo(bed.listener.port, postOf(path, "", 5_000_000));
    assert.match(answer, /^HTTP\/1\.1 404 /, path);
    assert.match(answer, /content-length: 0/i);
    assert.match(answer, /connection: close/i);
  }
  assert.deepEqual(bed.asked, []);
});

Deno.test("a review by the path that everybody knows proves nothing: its connection ends with the answer", async () => {
  await using bed = await openBed();
  const answer = await answerTo(bed.listener.port, DELETION);
  assert.match(answer, /^HTTP\/1\.1 200 /);
  assert.match(answer, /connection: close/i);
});

Deno.test("the ClusterVersion is read once a second for plans, however many reviews come", async () => {
  await using bed = await openBed();
  using client = Deno.createHttpClient({ caCerts: [authority] });
  const review = async (): Promise<string> => {
    const object = { spec: { type: "OSD", upgradeAt: "2026-12-01T22:00:00Z", desired: { version: "4.20" } } };
    const answer = await fetch(`https://localhost:${bed.listener.port}${PlanWebhook.path}?timeout=10s`, {
      method: "POST",
      body: JSON.stringify({ request: { uid: "u", operation: "CREATE", object } }),
      client,
    });
    assert.equal(answer.status, 200);
    return (await answer.json()).response.status.message;
  };
  const first = await Promise.all(Array.from({ length: 20 }, review));
  assert.match(first[0] ?? "", /spec\.desired\.version "4\.20" is not a semantic version/);
  assert.deepEqual(bed.asked, ["ClusterVersion version"]);
  await bed.clock.advance(1_000);
  await review();
  assert.equal(bed.asked.length, 2);
});

Deno.test("a caller without a certificate of webhookClientCa gets no answer", async () => {
  const [ours, other] = await Promise.all([createAuthority("ours"), createAuthority("other")]);
  await using folder = await temporaryFolder();
  const file = `${folder.path}/ca.pem`;
  await assert.rejects(openBed(file), /Cannot read the client CA/);
  await Deno.writeTextFile(file, ours.certificatePem);
  await using bed = await openBed(file);
  const ask = async (authority: typeof ours): Promise<string> => {
    const issued = await authority.issue({ commonName: "kube-apiserver", usage: "client" });
    return await answerTo(bed.listener.port, DELETION, { cert: issued.certificatePem, key: issued.keyPem });
  };
  assert.equal(await answerTo(bed.listener.port, DELETION), "");
  assert.equal(await ask(other), "");
  assert.match(await ask(ours), /^HTTP\/1\.1 200 /);
});
