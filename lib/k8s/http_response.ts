// Reads one HTTP/1.1 answer off a connection, to the end of its body (RFC 9112, section 6.3).

/** The used members of a Response with a complete body. */
export interface HttpResponse {
  readonly status: number;
  readonly ok: boolean;
  readonly headers: Pick<Headers, "get">;
  readonly body: null;
  text(): Promise<string>;
  readonly isReusable: boolean;
}

const FIRST_BYTES = 8 * 1024;
const MAX_HEAD_BYTES = 64 * 1024;
const CR = 13;
const LF = 10;

/** Throws when the connection ends early or the answer is not HTTP. Calls `onFirst` at the first bytes. */
export async function readHttpResponse(connection: Deno.Conn, onFirst: () => void): Promise<HttpResponse> {
  const input = new Input(connection);
  await input.more();
  onFirst();
  let head = await readHead(input);
  // Informational responses (1xx) come before the answer.
  while (head.status < 200) head = await readHead(input);
  const { status, headers } = head;
  const parts = await readBody(input, head);
  const isReusable = head.isPersistent && input.isEmpty && !input.hasEnded;
  return {
    status,
    ok: status < 300,
    headers: { get: (name) => headers.get(name.toLowerCase()) ?? null },
    body: null,
    text: () => Promise.resolve(decode(parts)),
    isReusable,
  };
}

interface Head {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly isPersistent: boolean;
}

async function readHead(input: Input): Promise<Head> {
  const [first = "", ...lines] = (await input.takeUntil("\r\n\r\n", MAX_HEAD_BYTES)).split("\r\n");
  const status = /^HTTP\/1\.1 ([1-5]\d\d)(?: |$)/.exec(first)?.[1];
  if (status === undefined) throw new Error("the answer is not HTTP/1.1");
  const headers = new Map(lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  }));
  return { status: Number(status), headers, isPersistent: headers.get("connection")?.toLowerCase() !== "close" };
}

async function readBody(input: Input, { status, headers }: Head): Promise<readonly Uint8Array[]> {
  if (status === 204 || status === 304) return [];
  const length = headers.get("content-length");
  if (headers.get("transfer-encoding")?.toLowerCase() === "chunked") return await readChunks(input);
  if (length === undefined) return [await input.takeRest()];
  if (!/^\d+$/.test(length)) throw new Error("the answer has no valid length");
  return [await input.take(Number(length))];
}

async function readChunks(input: Input): Promise<readonly Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  for (;;) {
    const line = await input.takeUntil("\r\n", MAX_HEAD_BYTES);
    const size = /^[\da-f]{1,8}(?=\s*(?:;|$))/i.exec(line)?.[0];
    if (size === undefined) throw new Error("the answer has no valid chunks");
    if (Number.parseInt(size, 16) === 0) break;
    chunks.push(await input.take(Number.parseInt(size, 16)));
    if (await input.takeUntil("\r\n", MAX_HEAD_BYTES) !== "") throw new Error("the answer has no valid chunks");
  }
  // Skip trailers.
  while (await input.takeUntil("\r\n", MAX_HEAD_BYTES) !== "");
  return chunks;
}

function decode(parts: readonly Uint8Array[]): string {
  const decoder = new TextDecoder();
  return parts.map((part) => decoder.decode(part, { stream: true })).join("") + decoder.decode();
}

class Input {
  readonly #connection: Deno.Conn;
  #buffer = new Uint8Array(FIRST_BYTES);
  #start = 0;
  #end = 0;
  hasEnded = false;

  constructor(connection: Deno.Conn) {
    this.#connection = connection;
  }

  get isEmpty(): boolean {
    return this.#start === this.#end;
  }

  /** Waits for more bytes. Throws at the end of the connection. */
  async more(): Promise<void> {
    await this.#read();
    if (this.hasEnded) throw new Error("connection closed before the end of the answer");
  }

  /** The text before the next mark. Consumes the mark, too. */
  async takeUntil(mark: string, maxBytes: number): Promise<string> {
    for (;;) {
      const at = this.#indexOf(mark);
      if (at >= 0) {
        const text = LATIN1.decode(this.#buffer.subarray(this.#start, at));
        this.#start = at + mark.length;
        return text;
      }
      if (this.#end - this.#start > maxBytes) throw new Error("the head of the answer does not end");
      await this.more();
    }
  }

  async take(bytes: number): Promise<Uint8Array> {
    while (this.#end - this.#start < bytes) await this.more();
    this.#start += bytes;
    return this.#buffer.subarray(this.#start - bytes, this.#start);
  }

  async takeRest(): Promise<Uint8Array> {
    while (!this.hasEnded) await this.#read();
    return this.#buffer.subarray(this.#start, this.#end);
  }

  #indexOf(mark: string): number {
    for (
      let at = this.#buffer.indexOf(CR, this.#start);
      at >= 0 && at < this.#end;
      at = this.#buffer.indexOf(CR, at + 1)
    ) {
      const isLine = this.#buffer[at + 1] === LF && at + mark.length <= this.#end;
      if (isLine && (mark.length === 2 || this.#buffer[at + 2] === CR && this.#buffer[at + 3] === LF)) return at;
    }
    return -1;
  }

  async #read(): Promise<void> {
    if (this.#end === this.#buffer.byteLength) {
      // Keep the old buffer: taken parts of it are not decoded yet.
      const larger = new Uint8Array(2 * this.#buffer.byteLength);
      larger.set(this.#buffer.subarray(this.#start, this.#end));
      [this.#buffer, this.#start, this.#end] = [larger, 0, this.#end - this.#start];
    }
    const read = await this.#connection.read(this.#buffer.subarray(this.#end));
    if (read === null) this.hasEnded = true;
    else this.#end += read;
  }
}

const LATIN1 = new TextDecoder("latin1");
