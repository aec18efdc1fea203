// Load on the webhook port by clients that do not have its path, in a process of its own, from loopback addresses:
// `webhook_attack.ts PORT '{"addresses": ["127.0.1.1"], "idle": 12000, …}'`. Keeps each kind at its number until stdin
// ends: what is closed is opened again. Prints one line of JSON when it is at work, and one at the end.
import { Buffer } from "node:buffer";
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { WebhookPath } from "../../lib/names.ts";

export interface AttackPlan {
  readonly addresses: readonly string[];
  /** Connections on which nothing is sent; one in eight after its handshake. */
  readonly idle: number;
  readonly halves: number;
  /** Bodies of 7 MiB that are being sent at a time, on each route. */
  readonly bodies: number;
  readonly perSecond: number;
}

export interface AttackReport {
  readonly opened: number;
  readonly closed: number;
  readonly most: number;
}

const BODY = Buffer.alloc(7 * 1024 * 1024, "x");
const ROUTES = Object.values(WebhookPath);

type Kind = "tcp" | "tls" | "half" | "body";

class Attack {
  readonly #port: number;
  readonly #plan: AttackPlan;
  readonly #open: Record<Kind, Set<Socket>> = { tcp: new Set(), tls: new Set(), half: new Set(), body: new Set() };
  #opened = 0;
  #closed = 0;
  #most = 0;

  constructor(port: number, plan: AttackPlan) {
    this.#port = port;
    this.#plan = plan;
  }

  fill(ms: number): void {
    const { idle, halves, bodies, perSecond } = this.#plan;
    const wanted: Readonly<Record<Kind, number>> = {
      tcp: idle - Math.floor(idle / 8),
      tls: Math.floor(idle / 8),
      half: halves,
      body: bodies * ROUTES.length,
    };
    const kinds = (["body", "half", "tls", "tcp"] as const).filter((kind) => this.#open[kind].size < wanted[kind]);
    for (let left = Math.ceil(perSecond * ms / 1_000); left > 0 && kinds.length > 0; left--) {
      const kind = kinds[left % kinds.length];
      if (kind !== undefined && this.#open[kind].size < wanted[kind]) this.#connect(kind);
    }
    const now = Object.values(this.#open).reduce((sum, sockets) => sum + sockets.size, 0);
    this.#most = Math.max(this.#most, now);
  }

  report(): AttackReport {
    return { opened: this.#opened, closed: this.#closed, most: this.#most };
  }

  #connect(kind: Kind): void {
    const number = this.#opened++;
    const { addresses } = this.#plan;
    const tcp = connectTcp({
      port: this.#port,
      host: "127.0.0.1",
      localAddress: addresses[number % addresses.length] ?? "127.0.0.1",
    });
    const sockets = this.#open[kind];
    sockets.add(tcp);
    tcp.on("error", () => {});
    tcp.once("close", () => {
      sockets.delete(tcp);
      this.#closed++;
    });
    if (kind === "tcp") return;
    const tls = connectTls({ socket: tcp, rejectUnauthorized: false });
    tls.on("error", () => tcp.destroy());
    tls.once("close", () => tcp.destroy());
    tls.resume();
    if (kind === "tls") return;
    const route = ROUTES[number % ROUTES.length] ?? "/";
    tls.once("secureConnect", () => {
      tls.write(`POST ${route} HTTP/1.1\r\nhost: archway\r\ncontent-length: ${BODY.length}\r\n\r\n{`);
      if (kind === "body") tls.write(BODY.subarray(1));
    });
  }
}

const [port = "", plan = "{}"] = Deno.args;
if (import.meta.main) {
  const attack = new Attack(Number(port), JSON.parse(plan));
  const print = (): void =>
    void Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify(attack.report())}\n`));
  const timer = setInterval(() => attack.fill(50), 50);
  setTimeout(print, 2_000);
  for await (const _chunk of Deno.stdin.readable);
  clearInterval(timer);
  print();
  Deno.exit(0);
}
