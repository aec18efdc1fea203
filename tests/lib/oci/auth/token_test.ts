import assert from "node:assert/strict";
import { TokenSource } from "../../../../lib/oci/auth/token.ts";
import { HostLimiters } from "../../../../lib/oci/limits/host_limiters.ts";
import type { Transport } from "../../../../lib/oci/http/transport.ts";
import { silentLogger } from "../../../../lib/log.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { makeContext, makeEndpoint } from "../../../support/inspectors.ts";
import { noAnswer } from "../../../support/until.ts";

Deno.test("TokenSource.get() leaves no request behind at a token server that does not answer", async () => {
  const clock = new FakeClock();
  const hosts = new HostLimiters({ clock, log: silentLogger });
  const transport: Pick<Transport, "send"> = { send: (_, { signal }) => noAnswer(signal) };
  const tokens = new TokenSource({ transport, hosts, clock });
  const leaving = new AbortController();
  const context = makeContext({ signal: leaving.signal });
  const challenge = { kind: "bearer", realm: "https://tok.example/", service: "", scope: "" } as const;
  const asked = Array.from({ length: 100 }, (_, at) => {
    const endpoint = makeEndpoint("reg.example", { repository: `r/${at}`, identifier: "v1" });
    return tokens.get({ endpoint, challenge, scopes: [`repository:r/${at}:pull`], credential: undefined, context });
  });
  const settled = Promise.allSettled(asked);
  await clock.advance(0);
  const waiting = (): number => hosts.hostStates().reduce((sum, state) => sum + state.inFlight + state.waiting, 0);
  assert.equal(waiting(), 100);
  leaving.abort(new Error("left"));
  await settled;
  await clock.advance(0);
  assert.equal(waiting(), 0);
});
