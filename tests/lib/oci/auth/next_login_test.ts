import assert from "node:assert/strict";
import type { Challenge } from "../../../../lib/oci/auth/challenge.ts";
import { nextLogin } from "../../../../lib/oci/auth/next_login.ts";

const BASIC: Challenge = { kind: "basic" };
const TOKEN: Challenge = { kind: "bearer", realm: "https://auth.example/token", service: "a", scope: "" };

const ROWS: readonly [expected: Challenge | undefined, isLoggedIn: boolean, offered: Challenge | undefined, string][] =
  [
    [undefined, false, BASIC, "beginAgain"],
    [TOKEN, true, BASIC, "beginAgain"],
    [TOKEN, true, TOKEN, "renewToken"],
    [BASIC, true, BASIC, "nextCredential"],
    [TOKEN, true, undefined, "nextCredential"],
    [TOKEN, false, undefined, "loginAtRedirect"],
    [TOKEN, false, TOKEN, "nextCredential"],
  ];

Deno.test("nextLogin() takes the first row that fits, and begins again only once", () => {
  for (const [expected, isLoggedIn, offered, kind] of ROWS) {
    const answer = { expected, isLoggedIn, offered };
    assert.equal(nextLogin({ ...answer, mayBeginAgain: true }).kind, kind, JSON.stringify(answer));
    assert.notEqual(nextLogin({ ...answer, mayBeginAgain: false }).kind, "beginAgain");
  }
});
