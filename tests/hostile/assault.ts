// An assault on a pod webhook: 10 000 hostile reviews of a seed, large ones, and good ones among them, beside connections that
// only occupy places. A failure names the seed and the number of the body.
import assert from "node:assert/strict";
import { type CrowdPlan, HOSTILE_KINDS, largeBody, openCrowd } from "../bench/hostile.ts";
import { seededRandom } from "../support/random.ts";
import { connectRaw, type RawAnswer, type RawClient, renderPost } from "../bench/raw_client.ts";
import { MAX_BODY_BYTES } from "../../routes/review_body.ts";
import { sampleReview } from "../bench/sample.ts";

const BODIES = 10_000;
const LARGE_BODIES = 24;
const CONNECTIONS = 8;
/** A good review among so many hostile ones. */
const GOOD_EVERY = 20;
const GOOD = JSON.stringify(sampleReview());

type AssaultTarget = Pick<CrowdPlan, "port" | "caPem" | "path">;

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
async function sendShare(
  { port, caPem, path }: AssaultTarget,
  { seed, share }: { readonly seed: number; readonly share: number },
): Promise<void> {
  const random = seededRandom(seed + share);
  let client = await connectRaw(port, caPem);
  try {
    for (let number = share; number < BODIES; number += CONNECTIONS) {
      const kind = HOSTILE_KINDS[Math.floor(random() * HOSTILE_KINDS.length)];
      await client.write(renderPost(path, kind?.make(random) ?? ""));
      checkAnswer(await client.read(), `seed ${seed}, body ${number} (${kind?.name})`);
      if (number % GOOD_EVERY >= CONNECTIONS) continue;
      await client.write(renderPost(path, GOOD));
      checkGated(await client.read(), `seed ${seed}, the good review after body ${number}`);
    }
    for (let number = share; number < LARGE_BODIES; number += CONNECTIONS) {
      const answer = await sendLarge(client, renderPost(path, largeBody(random)));
      if (answer !== undefined) checkAnswer(answer, `seed ${seed}, large body ${number}`);
      if (answer !== undefined && answer.status !== 413) continue;
      client[Symbol.dispose]();
      client = await connectRaw(port, caPem);
    }
  } finally {
    client[Symbol.dispose]();
  }
}

/** The answer; undefined where the server closed the connection before it had all of a body that is too large. */
async function sendLarge(client: RawClient, post: Uint8Array): Promise<RawAnswer | undefined> {
  try {
    await client.write(post);
    return await client.read();
  } catch (error) {
    const isClosed = error instanceof Deno.errors.ConnectionReset || error instanceof Deno.errors.BrokenPipe;
    if (isClosed && post.byteLength > MAX_BODY_BYTES) return undefined;
    throw error;
  }
}

/** A good review over a connection of its own must be gated. */
async function sendGood({ port, caPem, path }: AssaultTarget, what: string): Promise<void> {
  using client = await connectRaw(port, caPem);
  await client.write(renderPost(path, GOOD));
  checkGated(await client.read(), what);
}

/** Runs the assault. Throws when an answer is not as it must be. */
export async function runAssault(
  target: AssaultTarget,
  { seed, crowd }: { readonly seed: number; readonly crowd: Pick<CrowdPlan, "idle" | "halfOpen" | "slow"> },
): Promise<void> {
  // As the API server's address is: known by a review that came by the right path, before the many clients come.
  using proven = await connectRaw(target.port, target.caPem);
  await proven.write(renderPost(target.path, GOOD));
  checkGated(await proven.read(), `seed ${seed}, the first review`);
  using _crowd = await openCrowd({ ...target, ...crowd });
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, share) => sendShare(target, { seed, share })));
  await sendGood(target, `seed ${seed}, the last review`);
}
