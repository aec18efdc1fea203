// A client that has the secret path of another webhook than that of pods, which users read in errors of the API server: on the
// real TLS listener it takes no place and no room for bodies of the pods.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { issueLoopbackCertificates } from "../../playground/listen.ts";
import { WebhookPath } from "../../lib/names.ts";
import { CONNECTION_LIMITS, type ConnectionLimits } from "../../lib/server/connection_table.ts";
import { openHttpsListener } from "../../lib/server/https_listener.ts";
import { makePathCheck } from "../../lib/server/path_check.ts";

const { serving, authority } = await issueLoopbackCertificates(Date.now());
const SEGMENT = "s".repeat(64);
const POD_PATH = `/${SEGMENT}${WebhookPath.gatePod}`;
const OTHER_PATHS = [WebhookPath.validateClusterConfig, WebhookPath.validateNamespaceConfig, WebhookPath.convert]
  .map((route) => `/${SEGMENT}${route}`);
const API_SERVER = "127.0.0.1";
const TENANT = "127.0.0.2";

interface Bench extends AsyncDisposable {
  connect(localAddress: string): Promise<TLSSocket>;
  /** The first answer, head and body; empty when the connection was closed instead. */
  ask(localAddress: string, text: string): Promise<string>;
}

async function openBench(limits: Partial<ConnectionLimits>): Promise<Bench> {
  const listener = await openHttpsListener({
    host: "127.0.0.1",
    port: 0,
    certificate: serving,
    handler: async (request) => new Response(String((await request.text()).length)),
    guard: {
      limits: { ...CONNECTION_LIMITS, ...limits },
      check: makePathCheck({
        routes: Object.values(WebhookPath),
        proving: WebhookPath.gatePod,
        pathsOf: (route) => [`/${SEGMENT}${route}`],
      }),
      manifestPathProves: () => false,
      dropped: () => {},
      began: () => {},
    },
  });
  const sockets: TLSSocket[] = [];
  const connect = async (localAddress: string): Promise<TLSSocket> => {
    const where = { port: listener.port, host: "127.0.0.1", localAddress, ca: authority };
    const socket = connectTls(where);
    sockets.push(socket);
    socket.on("error", () => {});
    await Promise.race([once(socket, "secureConnect"), once(socket, "close")]);
    return socket;
  };
  return {
    connect,
    ask: async (localAddress, text) => {
      const socket = await connect(localAddress);
      socket.write(text);
      return await Promise.race([once(socket, "data"), once(socket, "close").then(() => [""])]).then(String);
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await listener.close(0);
    },
  };
}

function post(path: string, { length, body }: { readonly length: number; readonly body: string }): string {
  return `POST ${path} HTTP/1.1\r\nhost: archway\r\ncontent-length: ${length}\r\n\r\n${body}`;
}

const WHOLE = { length: 2, body: "{}" };
const HALF = { length: 2, body: "{" };

Deno.test("hostile: a review by any path but that of pods is answered, and its connection ends", async () => {
  await using bench = await openBench({});
  for (const path of OTHER_PATHS) {
    const socket = await bench.connect(TENANT);
    const closed = once(socket, "close");
    socket.write(post(path, WHOLE));
    const [answer] = await once(socket, "data");
    assert.match(String(answer), /^HTTP\/1\.1 200 [^]*connection: close/i, path);
    await closed;
  }
  assert.doesNotMatch(await bench.ask(API_SERVER, post(POD_PATH, WHOLE)), /connection: close/i);
});

Deno.test("hostile: requests by the path of another webhook take no connection from the pods, however many are held", async () => {
  await using bench = await openBench({ maxConnections: 8, maxUnproven: 6, maxUnprovenPerAddress: 4 });
  let open = 0;
  for (let held = 0; held < 12; held++) {
    const socket = await bench.connect(TENANT);
    socket.write(post(OTHER_PATHS[held % OTHER_PATHS.length] ?? "", HALF));
    open++;
    socket.once("close", () => open--);
  }
  for (let review = 0; review < 3; review++) {
    assert.match(await bench.ask(API_SERVER, post(POD_PATH, WHOLE)), /^HTTP\/1\.1 200 /, `review ${review}`);
  }
  assert.ok(open <= 4, `${open} of the tenant's are open`);
});

Deno.test("hostile: bodies that arrive by the path of another webhook take no room from those of pods", async () => {
  await using bench = await openBench({ maxArrivingBytes: 200_000, maxUnprovenArrivingBytes: 150_000 });
  const large = { length: 140_000, body: "x".repeat(70_000) };
  const arriving = await bench.connect(TENANT);
  arriving.write(post(OTHER_PATHS[0] ?? "", large));
  const trickle = setInterval(() => void arriving.write("x"), 50);
  try {
    const more = bench.ask("127.0.0.3", post(OTHER_PATHS[1] ?? "", large));
    assert.match(await more, /^HTTP\/1\.1 503 [^]*connection: close/i, "the other routes share theirs");
    const pod = post(POD_PATH, { length: 190_000, body: "x".repeat(190_000) });
    assert.match(await bench.ask(API_SERVER, pod), /^HTTP\/1\.1 200 [^]*190000$/);
  } finally {
    clearInterval(trickle);
  }
});
