// Counts and hashes a blob as it streams. Fails before its end when it does not match its descriptor.
import { createHash, type Hash } from "node:crypto";
import { RegistryError, registryError } from "../errors.ts";
import { HASHES } from "../reference.ts";

export interface BlobDescriptor {
  readonly digest: string;
  readonly size: number;
}

export interface VerifiedStream {
  /** Fails with RegistryError. Read it once. Each chunk has its own buffer, which the reader may free. */
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  fault(): RegistryError | undefined;
}

interface VerifyOptions {
  readonly blob: BlobDescriptor;
  readonly registry: string;
  readonly onBytes: (bytes: number) => void;
}

/** Wraps a registry's stream. Throws RegistryError for an unknown digest algorithm. */
export function verifyStream(source: ReadableStream<Uint8Array>, options: VerifyOptions): VerifiedStream {
  const check = new BlobCheck(options);
  const reader = source.getReader();
  let fault: RegistryError | undefined;
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: async (controller) => {
      try {
        const part = await reader.read();
        if (part.done) {
          check.end();
          controller.close();
        } else {
          check.take(part.value);
          controller.enqueue(owned(part.value));
        }
      } catch (error) {
        if (error instanceof RegistryError) fault = error;
        controller.error(error);
        await reader.cancel().catch(() => {});
      }
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
  return { stream, fault: () => fault };
}

/** Throws RegistryError as soon as the bytes cannot be those of the descriptor. */
class BlobCheck {
  readonly #options: VerifyOptions;
  readonly #algorithm: string;
  readonly #hash: Hash;
  #bytes = 0;

  constructor(options: VerifyOptions) {
    const { blob: { digest }, registry } = options;
    const [algorithm = ""] = digest.split(":");
    if (!HASHES.includes(algorithm)) {
      const message = `Cannot verify "${digest}": its digest is not sha256, sha384 or sha512.`;
      throw registryError("Malformed", message, { registry });
    }
    this.#options = options;
    this.#algorithm = algorithm;
    this.#hash = createHash(algorithm);
  }

  take(part: Uint8Array): void {
    const { blob, onBytes } = this.#options;
    this.#bytes += part.byteLength;
    if (this.#bytes > blob.size) throw this.#wrong(`it has more than its ${blob.size} bytes`);
    this.#hash.update(part);
    onBytes(part.byteLength);
  }

  end(): void {
    const { size, digest } = this.#options.blob;
    if (this.#bytes < size) throw this.#wrong(`it ended after ${this.#bytes} of ${size} bytes`);
    const found = `${this.#algorithm}:${this.#hash.digest("hex")}`;
    if (found !== digest) throw this.#wrong(`its content has the digest ${found}`);
  }

  #wrong(state: string): RegistryError {
    const { blob: { digest }, registry } = this.#options;
    return registryError("DigestMismatch", `Cannot copy "${digest}" from "${registry}": ${state}.`, { registry });
  }
}

/** The same bytes, typed as those of an ArrayBuffer. Bytes from the network always are. */
function owned(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : new Uint8Array(bytes);
}
