// What a hostile or broken client may send to the webhook: bodies from a seed, and connections that only occupy places.
import { sampleReview } from "./sample.ts";
import { type Random, seededRandom } from "../support/random.ts";
import { connectRaw, type RawClient, renderPost } from "./raw_client.ts";

const REVIEW = JSON.stringify(sampleReview());
const BYTES = new TextEncoder().encode(REVIEW);
const MIB = 1024 * 1024;
const POISON = [
  `"__proto__":{"allowed":false,"polluted":true}`,
  `"constructor":{"prototype":{"polluted":true}}`,
  `"prototype":null`,
  `"toString":"x","valueOf":7,"hasOwnProperty":1,"toJSON":"y"`,
];
const ODD_VALUES = ["null", "[]", "{}", "1e999", "-0", '""', `"\\ud800"`, `"\\udfff\\ud800"`, `"\\u0000"`, "true", "7"];

export interface HostileKind {
  readonly name: string;
  readonly make: (random: Random) => string | Uint8Array;
}

function pick<T>(random: Random, list: readonly [T, ...T[]] | readonly T[]): T | undefined {
  return list[Math.floor(random() * list.length)];
}

function insertMember(random: Random, member: string): string {
  const places = [...REVIEW.matchAll(/\{(?=")/g)].map(({ index }) => index + 1);
  const at = pick(random, places) ?? 1;
  return `${REVIEW.slice(0, at)}${member},${REVIEW.slice(at)}`;
}

function replaceValue(random: Random, value: string): string {
  const members = [...REVIEW.matchAll(/"[a-zA-Z]+":("[^"]*"|true|false|null|\d+)/g)];
  const member = pick(random, members);
  if (member === undefined) return REVIEW;
  const key = member[0].slice(0, member[0].indexOf(":") + 1);
  return REVIEW.slice(0, member.index) + key + value + REVIEW.slice(member.index + member[0].length);
}

export const HOSTILE_KINDS: readonly HostileKind[] = [
  {
    name: "flipped bytes",
    make: (random) => {
      const bytes = BYTES.slice();
      for (let flips = 1 + random() * 8; flips > 0; flips--) {
        bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
      }
      return bytes;
    },
  },
  { name: "cut short", make: (random) => REVIEW.slice(0, Math.floor(random() * REVIEW.length)) },
  { name: "poisoned keys", make: (random) => insertMember(random, pick(random, POISON) ?? "") },
  { name: "odd values", make: (random) => replaceValue(random, pick(random, ODD_VALUES) ?? "null") },
  {
    name: "duplicate keys",
    make: (random) =>
      insertMember(
        random,
        `"uid":"a","uid":7,"metadata":${pick(random, ODD_VALUES)},"spec":${pick(random, ODD_VALUES)}`,
      ),
  },
  {
    name: "lone surrogates",
    make: (random) => replaceValue(random, `"\\ud${pick(random, ["800", "bff", "c00"])}x"`),
  },
  {
    name: "deep nesting",
    make: (random) => {
      const depth = 10 + Math.floor(random() * 5_000);
      const [open, close] = random() < 0.5 ? ["[", "]"] : ['{"a":', "}"];
      return insertMember(random, `"deep":${open.repeat(depth)}1${close.repeat(depth)}`);
    },
  },
  { name: "not a review", make: (random) => pick(random, ["", "{", "[]", "null", "\ufeff{}", ...ODD_VALUES]) ?? "" },
];

/** A body of 1 to 8 MiB: within the limit or beyond it, valid or one long list. */
export function largeBody(random: Random): string {
  const size = Math.floor((1 + random() * 7) * MIB);
  const filler = random() < 0.5 ? `"big":"${"x".repeat(size)}"` : `"big":[${"1,".repeat(size / 2)}1]`;
  return insertMember(random, filler);
}

export interface CrowdPlan {
  readonly port: number;
  readonly path: string;
  readonly caPem: string;
  /** Connected, and silent after the handshake. */
  readonly idle: number;
  readonly halfOpen: number;
  /** In the middle of a head, or of a large body, of which they send a byte now and then. */
  readonly slow: number;
}

/** The listener closes connections of one address that come too fast before their hand-shake. */
async function connectUnlessRefused(port: number, caPem: string): Promise<RawClient | undefined> {
  try {
    return await connectRaw(port, caPem);
  } catch (error) {
    if (error instanceof Deno.errors.UnexpectedEof || error instanceof Deno.errors.ConnectionReset) return undefined;
    throw error;
  }
}

/** Connects them. Whether and when the server cuts them is its own affair. */
export async function openCrowd({ port, path, caPem, idle, halfOpen, slow }: CrowdPlan): Promise<Disposable> {
  using undo = new DisposableStack();
  for (let count = 0; count < halfOpen; count++) undo.use(await Deno.connect({ hostname: "127.0.0.1", port }));
  for (let open = 0; open < idle; open += 50) {
    const batch = Array.from({ length: Math.min(50, idle - open) }, () => connectUnlessRefused(port, caPem));
    for (const client of await Promise.all(batch)) if (client !== undefined) undo.use(client);
  }
  const post = renderPost(path, "x".repeat(MIB));
  const dawdlers: { readonly client: RawClient; sent: number }[] = [];
  for (let count = 0; count < slow; count++) {
    const client = await connectUnlessRefused(port, caPem);
    if (client === undefined) continue;
    undo.use(client);
    const sent = count % 2 === 0 ? 20 : 60_000;
    await client.write(post.subarray(0, sent)).catch(() => {});
    dawdlers.push({ client, sent });
  }
  const timer = setInterval(() => {
    for (const dawdler of dawdlers) {
      const byte = post.subarray(dawdler.sent, ++dawdler.sent);
      dawdler.client.write(byte).catch(() => {});
    }
  }, 200);
  undo.defer(() => clearInterval(timer));
  return undo.move();
}

/** Sends one body of each kind after the other, over one connection at a time. */
export async function sendHostile(
  { port, caPem, path }: Pick<CrowdPlan, "port" | "caPem" | "path">,
  durationMs: number,
): Promise<void> {
  const random = seededRandom(1);
  const endMs = performance.now() + durationMs;
  let client = await connectRaw(port, caPem);
  for (let count = 0; performance.now() < endMs; count++) {
    await client.write(renderPost(path, HOSTILE_KINDS[count % HOSTILE_KINDS.length]?.make(random) ?? ""));
    const { status } = await client.read();
    if (status !== 0) continue;
    client[Symbol.dispose]();
    client = await connectRaw(port, caPem);
  }
  client[Symbol.dispose]();
}
