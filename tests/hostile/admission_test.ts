// The webhook on its real TLS listener, in a process of its own, against 10 000 hostile reviews and a crowd of clients
// that only take room. A failure names the seed and the number of the body.
import assert from "node:assert/strict";
import { HOSTILE_KINDS, largeBody, openCrowd, seededRandom } from "../bench/hostile.ts";
import { connectRaw, type RawAnswer, renderPost } from "../bench/raw_client.ts";
import { sampleReview } from "../bench/sample.ts";
import { type BenchServer, startServer, WEBHOOK_PATH } from "../bench/start_server.ts";

const BODIES = 10_000;
const LARGE_BODIES = 24;
const CONNECTIONS = 8;
/** A good review among so many hostile ones. */
const GOOD_EVERY = 20;
/** Half of what the Deployment allows. */
const MAX_RSS = 384 * 1024 * 1024;
const GOOD = JSON.stringify(sampleReview());

/** Allowed, or refused in a way that the API server takes for no answer: never a denial, never a fault of ours. */
function checkAnswer({ status, body }: RawAnswer, what: string): void {
  assert.ok([200, 400, 413, 503].includes(status), `${what}: ${status} ${body.slice(0, 200)}`);
  if (status === 200) assert.equal(JSON.parse(body).response.allowed, true, what);
}

function checkGated({ status, body }: RawAnswer, what: string): void {
  assert.equal(status, 200, what);
  const { response } = JSON.parse(body);
  assert.equal(response.allowed, true, what);
  assert.match(new TextDecoder().decode(Uint8Array.fromBase64(response.patch)), /schedulingGates/, what);
}

/** Sends this connection's share; a fresh connection whenever the server has closed the last. */
async function sendShare(server: BenchServer, { seed, share }: { seed: number; share: number }): Promise<void> {
  const random = seededRandom(seed + share);
  let client = await connectRaw(server.port, server.caPem);
  try {
    for (let number = share; number < BODIES; number += CONNECTIONS) {
      const kind = HOSTILE_KINDS[Math.floor(random() * HOSTILE_KINDS.length)];
      await client.write(renderPost(WEBHOOK_PATH, kind?.make(random) ?? ""));
      checkAnswer(await client.read(), `seed ${seed}, body ${number} (${kind?.name})`);
      if (number % GOOD_EVERY >= CONNECTIONS) continue;
      await client.write(renderPost(WEBHOOK_PATH, GOOD));
      checkGated(await client.read(), `seed ${seed}, the good review after body ${number}`);
    }
    for (let number = share; number < LARGE_BODIES; number += CONNECTIONS) {
      await client.write(renderPost(WEBHOOK_PATH, largeBody(random)));
      const answer = await client.read();
      checkAnswer(answer, `seed ${seed}, large body ${number}`);
      if (answer.status !== 413) continue;
      client[Symbol.dispose]();
      client = await connectRaw(server.port, server.caPem);
    }
  } finally {
    client[Symbol.dispose]();
  }
}

Deno.test("hostile: 10 000 hostile reviews beside useless connections are answered, and good ones gated", async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  await using server = await startServer("gate");
  // As the API server's address is: known by a review that came by the right path, before the crowd comes.
  using proven = await connectRaw(server.port, server.caPem);
  await proven.write(renderPost(WEBHOOK_PATH, GOOD));
  checkGated(await proven.read(), `seed ${seed}, the first review`);
  using _crowd = await openCrowd({ ...server, path: WEBHOOK_PATH, idle: 1_000, halfOpen: 50, slow: 50 });
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, share) => sendShare(server, { seed, share })));
  assert.ok(server.rss() < MAX_RSS, `seed ${seed}: ${server.rss()} bytes resident`);
  using client = await connectRaw(server.port, server.caPem);
  await client.write(renderPost(WEBHOOK_PATH, GOOD));
  checkGated(await client.read(), `seed ${seed}, the last review`);
});
