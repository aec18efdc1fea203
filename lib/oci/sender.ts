// Sends what is asked of one host: in its turn, by each way that the configuration allows until one works. Used by client.ts.
import type { Clock } from "../clock.ts";
import { type Budget, pauseOf } from "./limits/budget.ts";
import { type DocumentRequest, documentUrl, overloaded, rootUrl } from "./image/document.ts";
import { InspectionError } from "./errors.ts";
import type { Answer, Exchange } from "./http/exchange.ts";
import type { ConnectionVariant, LearnedHostSettings } from "./learned_host_settings.ts";
import type { RequestKind } from "./request_log.ts";
import { MANIFEST_MEDIA_TYPES } from "./image/manifest.ts";
import type { Endpoint, EndpointTransport } from "./pull_plan.ts";
import type { Transport } from "./http/transport.ts";

/** Sends requests. */
export interface Sender {
  /** Asks for the document. Throws InspectionError when nobody answers, or with 429 or 5xx. */
  send(request: DocumentRequest, login: Login): Promise<Answer>;
  /** Asks the root of the API as a stranger: its challenge is that of the whole host. Throws as `send` does. */
  sendProbe(request: DocumentRequest, signal: AbortSignal): Promise<Answer>;
}

/** As whom. */
export interface Login {
  /** The `Authorization` header; undefined: as a stranger. */
  readonly authorization: string | undefined;
  readonly signal: AbortSignal;
}

/** What a sender is made with. */
export interface SenderDeps {
  readonly transport: Transport;
  readonly budget: Budget;
  readonly clock: Clock;
  readonly learned: LearnedHostSettings;
}

/** What of an exchange is the same by every way. */
type Message = Login & Pick<Exchange, "method" | "kind" | "accept"> & {
  readonly urlBy: (scheme: ConnectionVariant["scheme"]) => URL;
};

const MAX_DOCUMENT_BYTES = 4 * 1024 * 1024;

const KIND: Readonly<Record<DocumentRequest["what"], Readonly<Record<DocumentRequest["method"], RequestKind>>>> = {
  manifest: { GET: "manifestGet", HEAD: "manifestHead" },
  blob: { GET: "blobGet", HEAD: "other" },
};

/** What servers answer to a certificate that they do not take: nginx says 400 (or 495, 496), others 403. */
const CERTIFICATE_REFUSALS: readonly number[] = [400, 403, 495, 496];

/** Opens a sender. It remembers nothing but what it records in the learned settings. */
export function openSender(parts: SenderDeps): Sender {
  return new VariantSender(parts);
}

class VariantSender implements Sender {
  readonly #parts: SenderDeps;

  constructor(parts: SenderDeps) {
    this.#parts = parts;
  }

  async send(request: DocumentRequest, login: Login): Promise<Answer> {
    const { method, what } = request;
    const accept = what === "manifest" ? { accept: MANIFEST_MEDIA_TYPES.join(", ") } : {};
    const urlBy = (scheme: ConnectionVariant["scheme"]): URL => documentUrl(request, scheme);
    return await this.#sendInTurn(request, { ...login, ...accept, method, kind: KIND[what][method], urlBy });
  }

  async sendProbe(request: DocumentRequest, signal: AbortSignal): Promise<Answer> {
    const urlBy = (scheme: ConnectionVariant["scheme"]): URL => rootUrl(request.endpoint, scheme);
    return await this.#sendInTurn(request, { method: "GET", kind: "other", urlBy, authorization: undefined, signal });
  }

  /** The budget waits out short pauses that the registry asks for. */
  async #sendInTurn(request: DocumentRequest, message: Message): Promise<Answer> {
    const { endpoint: { host }, priority } = request;
    const turn = { priority, signal: message.signal };
    const answer = await this.#parts.budget.run(host, turn, () => this.#sendByEach(request, message));
    if (answer.status !== 429 && answer.status < 500) return answer;
    throw overloaded(request, answer.status, pauseOf(answer, this.#parts.clock.nowMs()));
  }

  /** By one way after the other; what the last one comes to counts. */
  async #sendByEach(request: DocumentRequest, message: Message): Promise<Answer> {
    const { learned } = this.#parts;
    const ways = learned.ways(request.endpoint);
    let failure: unknown;
    for (const [at, way] of ways.entries()) {
      try {
        const answer = await this.#sendBy(way, { request, message });
        const isOtherWanted = way.certificate !== undefined && CERTIFICATE_REFUSALS.includes(answer.status);
        if (isOtherWanted && ways[at + 1]?.certificate !== undefined) continue;
        learned.learnVariant(request.endpoint, way);
        return answer;
      } catch (error) {
        const isWire = error instanceof InspectionError && ["Unreachable", "TlsFailed"].includes(error.failure.reason);
        if (!isWire) throw error;
        failure = error;
      }
    }
    throw failure;
  }

  async #sendBy(
    way: ConnectionVariant,
    { request: { endpoint, requestLog }, message }: { readonly request: DocumentRequest; readonly message: Message },
  ): Promise<Answer> {
    const { urlBy, signal, authorization, ...rest } = message;
    return await this.#parts.transport.send({
      ...rest,
      url: urlBy(way.scheme),
      transport: transportBy(way, endpoint),
      maxBytes: MAX_DOCUMENT_BYTES,
      requestLog,
      ...(endpoint.headers === undefined ? {} : { headers: endpoint.headers }),
      ...(authorization === undefined ? {} : { authorization }),
    }, signal);
  }
}

/** The endpoint's transport with the one certificate of a way. */
export function transportBy({ certificate }: ConnectionVariant, { transport }: Endpoint): EndpointTransport {
  const { clientCertificates: _all, ...others } = transport;
  return certificate === undefined ? others : { ...others, clientCertificates: [certificate] };
}
