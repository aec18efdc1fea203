// HTTP/1.1 over one raw TLS connection: as cheap for the sender as can be, and able to send what no HTTP client would.

export interface RawAnswer {
  readonly status: number;
  readonly body: string;
}

export interface RawClient extends Disposable {
  write(bytes: Uint8Array): Promise<void>;
  read(): Promise<RawAnswer>;
}

const encoder = new TextEncoder();

export function renderPost(path: string, body: string | Uint8Array): Uint8Array {
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  const head = encoder.encode(
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${bytes.byteLength}\r\n\r\n`,
  );
  const post = new Uint8Array(head.byteLength + bytes.byteLength);
  post.set(head);
  post.set(bytes, head.byteLength);
  return post;
}

/** Connects to a port of this machine, with TCP_NODELAY as a Go client does: or the first request waits 40 ms for an ACK. */
export async function connectRaw(port: number, caPem: string): Promise<RawClient> {
  const plain = await Deno.connect({ hostname: "127.0.0.1", port });
  plain.setNoDelay(true);
  const connection = await Deno.startTls(plain, { hostname: "127.0.0.1", caCerts: [caPem] });
  await connection.handshake();
  const buffer = new Uint8Array(64 * 1024);
  return {
    write: async (bytes) => {
      for (let sent = 0; sent < bytes.byteLength;) sent += await connection.write(bytes.subarray(sent));
    },
    read: () => readAnswer(connection, buffer),
    [Symbol.dispose]: () => connection.close(),
  };
}

// One character a byte, so that lengths are those of the wire.
const decoder = new TextDecoder("latin1");

/** Bodies are delimited by Content-Length or chunks. */
async function readAnswer(connection: Deno.Conn, buffer: Uint8Array): Promise<RawAnswer> {
  let text = "";
  for (;;) {
    const read = await connection.read(buffer);
    if (read === null) return { status: 0, body: "" };
    text += decoder.decode(buffer.subarray(0, read));
    const headEnd = text.indexOf("\r\n\r\n");
    if (headEnd < 0) continue;
    const length = /content-length: (\d+)/.exec(text.slice(0, headEnd).toLowerCase())?.[1];
    const body = text.slice(headEnd + 4);
    const isWhole = length === undefined ? body.endsWith("0\r\n\r\n") : body.length >= Number(length);
    if (isWhole) return { status: Number(text.slice(9, 12)), body };
  }
}
