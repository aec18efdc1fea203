// The body of an answer as text, with a bound on its bytes.
import { AnswerTooLarge } from "./errors.ts";
import { readAhead } from "./read_ahead.ts";

/** How it is read. */
export interface ReadAnswerOptions {
  /** What errors call the request. */
  readonly action: string;
  /** Default: any number. */
  readonly maxBytes?: number | undefined;
  readonly signal: AbortSignal;
}

/**
 * Reads it to its end. `bytes` are those after decompression; counted for bodies with a bound, characters else. Beyond the
 * bound reading ends, and AnswerTooLarge is thrown.
 */
export async function readAnswer(
  response: Response,
  { action, maxBytes, signal }: ReadAnswerOptions,
): Promise<{ readonly text: string; readonly bytes: number }> {
  if (maxBytes === undefined || response.body === null) {
    const text = await response.text();
    return { text, bytes: text.length };
  }
  const decoder = new TextDecoder();
  let [text, bytes] = ["", 0];
  for await (const chunk of readAhead(response.body, { maxBytes, signal })) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new AnswerTooLarge(`Cannot ${action}: the answer has more than ${maxBytes} bytes.`);
    text += decoder.decode(chunk, { stream: true });
  }
  return { text: text + decoder.decode(), bytes };
}
