// What to do after an answer that may be different with another login: the first row that fits. Pure.
//
//   offers another challenge than was expected   begin again, once
//   logged in, offers a token                    renew the token
//   not logged in, offers nothing                log in at the redirect: its target may want a token
//   any other                                    the next credential
import { type Challenge, isSameLogin } from "./challenge.ts";

export type NextLogin =
  | { readonly kind: "beginAgain" | "loginAtRedirect" | "nextCredential" }
  | { readonly kind: "renewToken"; readonly challenge: Extract<Challenge, { readonly kind: "bearer" }> };

/** `expected`: the challenge that the request was logged in for. `offered`: the challenge of the answer. */
export function nextLogin({ expected, offered, isLoggedIn, mayBeginAgain }: {
  readonly expected: Challenge | undefined;
  readonly offered: Challenge | undefined;
  readonly isLoggedIn: boolean;
  readonly mayBeginAgain: boolean;
}): NextLogin {
  const isOther = offered !== undefined && (expected === undefined || !isSameLogin(expected, offered));
  if (isOther && mayBeginAgain) return { kind: "beginAgain" };
  if (isLoggedIn && offered?.kind === "bearer") return { kind: "renewToken", challenge: offered };
  return { kind: !isLoggedIn && offered === undefined ? "loginAtRedirect" : "nextCredential" };
}
