// A blob on its way: counted and hashed, and broken off before its end when it is not what its descriptor says.
import { createHash, type Hash } from "node:crypto";
import { InspectionError, inspectionError } from "../errors.ts";
import { HASHES } from "../reference.ts";

export interface BlobDescriptor {
  readonly digest: string;
  readonly size: number;
}

export interface VerifiedStream {
  /** Fails with InspectionError. Read once. Each chunk has a buffer of its own, which its reader may free. */
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  fault(): InspectionError | undefined;
}

interface VerifyOptions {
  readonly blob: BlobDescriptor;
  readonly registry: string;
  readonly onBytes: (bytes: number) => void;
}

/** Wraps what a registry sends. Throws InspectionError for a digest that cannot be verified. */
export function verifyStream(source: ReadableStream<Uint8Array>, options: VerifyOptions): VerifiedStream {
  const check = new BlobCheck(options);
  const reader = source.getReader();
  let fault: InspectionError | undefined;
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
        if (error instanceof InspectionError) fault = error;
        controller.error(error);
        await reader.cancel().catch(() => {});
      }
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
  return { stream, fault: () => fault };
}

/** Throws InspectionError as soon as the bytes cannot be those of the descriptor. */
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
      throw inspectionError("Malformed", message, { registry });
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

  #wrong(state: string): InspectionError {
    const { blob: { digest }, registry } = this.#options;
    return inspectionError("DigestMismatch", `Cannot copy "${digest}" from "${registry}": ${state}.`, { registry });
  }
}

/** As bytes of an ArrayBuffer: what the wire gives always is one, which its type does not say. */
function owned(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : new Uint8Array(bytes);
}
