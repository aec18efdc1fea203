// TLS servers as registries have them, right and wrong, asked by Go's client, which the nodes' runtimes use, and by Archway:
// what Go accepts, Archway accepts, but for the exceptions of expectations.ts; what is refused gets no request.
import assert from "node:assert/strict";
import { askAll } from "./asking.ts";
import { REFUSALS, REFUSED_BY_GO } from "./expectations.ts";
import { lacks } from "../support/needs.ts";
import { startTlsServers } from "./support.ts";

Deno.test(
  { name: "TLS matrix: what Go accepts is accepted, what is refused reports why", ignore: lacks("go") },
  async () => {
    await using servers = await startTlsServers();
    const answers = await askAll(servers);
    const requests = await servers.requests();
    const says = new Map(
      REFUSALS.flatMap(({ says, names = [], acceptedByGo = [] }) =>
        [...names, ...acceptedByGo].map((name) => [name, says] as const)
      ),
    );
    const acceptedByGo = REFUSALS.flatMap((refusal) => refusal.acceptedByGo ?? []);
    const wrong: string[] = [];
    for (const { name, go } of servers.configurations) {
      const [answer = "nothing", expected] = [answers.get(name), says.get(name)];
      const isRight = expected === undefined ? answer === "ok" : expected.test(answer);
      if (!isRight) wrong.push(`${name}: expected ${expected ?? "ok"}, got ${answer}`);
      const doesGoAccept = expected === undefined ? !REFUSED_BY_GO.includes(name) : acceptedByGo.includes(name);
      if (doesGoAccept !== (go === "ok")) wrong.push(`${name}: Go says ${go}`);
      if (expected !== undefined && requests[name] !== 0) {
        wrong.push(`${name}: refused, but got ${requests[name]} requests`);
      }
    }
    assert.deepEqual(wrong, []);
    const names = new Set(servers.configurations.map(({ name }) => name));
    const unknown = [...says.keys(), ...REFUSED_BY_GO].filter((name) => !names.has(name));
    assert.deepEqual(unknown, []);
    assert.ok(names.size >= 300, `${names.size} configurations`);
  },
);
